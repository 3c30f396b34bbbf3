// SPDX-License-Identifier: Apache-2.0
// runtime/timer.h - how long work takes on a device, with its spread. The one timer of the search and of every command.
//
//   flush L2 | start event | work | stop event     (cold, the default: what a network sees between other layers)
//   graph of several runs between two events        (warm: many short runs without launch gaps)
//
// docs/measuring.md says why, and what the numbers do not hold.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "runtime/device.h"

namespace wt {

struct TimerOptions {
  int warmup_runs = 3;
  double warmup_seconds = 0.01;  // at least; an idle GPU needs some milliseconds to raise its clock
  int min_runs = 12;
  int max_runs = 400;
  double budget_seconds = 0.3;   // of the host's clock; min_runs are made even where they take longer
  double settled_spread = 0.01;  // (high - low) / median below which no more runs are made
  bool cold_l2 = true;           // false: graph replay where the device has graphs
};

struct Timing {
  double median_us = 0;
  double low_us = 0;   // lower and upper quartile, widened to the medians of the run's parts, which show drift,
  double high_us = 0;  // and to the resolution of the device's clock
  double minimum_us = 0;
  double host_us = 0;  // median time in which the host enqueued the work (all of it, where calls are synchronous)
  int runs = 0;
  bool cold_l2 = false;
  bool graph = false;
};

// Whether two timings are the same within what they report.
bool agree(const Timing& a, const Timing& b);

// From single samples in the order they were taken; at least one.
Timing summarize(const std::vector<double>& samples_us, double resolution_us);

// Enqueues one run on `stream`. `run` counts from 0, warm-up included; rotate buffer sets by it.
using TimedWork = std::function<Status(int run, Stream stream)>;

// Not for several threads at once. Keeps its flush buffer, stream and events from one timing to the next.
class Timer {
 public:
  static Result<std::unique_ptr<Timer>> make(std::shared_ptr<Device> device);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  Result<Timing> time(const TimedWork& work, const TimerOptions& options = {});
  Stream stream() const { return stream_; }

 private:
  struct EventPair {
    std::unique_ptr<Event> start, stop;
  };
  explicit Timer(std::shared_ptr<Device> device) : device_(std::move(device)) {}
  Status warm_up(const TimedWork& work, const TimerOptions& options, int& run);
  Result<std::vector<double>> batch(const std::function<Status()>& work, int count, bool cold);
  Result<Timing> time_batches(const std::function<Status()>& work, const TimerOptions& options, int runs_per_sample);
  Status flush();

  std::shared_ptr<Device> device_;
  Stream stream_ = nullptr;
  void* flush_buffer_ = nullptr;  // made when first asked for
  size_t flush_bytes_ = 0;
  std::vector<EventPair> events_;
  std::vector<double> host_us_;
};

}  // namespace wt
