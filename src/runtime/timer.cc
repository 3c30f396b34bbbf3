// SPDX-License-Identifier: Apache-2.0
// runtime/timer.cc - runs work between events and sums the samples up.
#include "runtime/timer.h"

#include <algorithm>
#include <chrono>

#include "base/check.h"

namespace wt {
namespace {

using Clock = std::chrono::steady_clock;

// WHY: runs of a batch are enqueued without waiting, so the host is ahead of the device and its launch cost stays out
// of the numbers; 16 pairs of events are enough for that and few enough that a slow problem meets its budget.
constexpr int kBatch = 16;
constexpr double kGraphMicroseconds = 1000;           // of work in one graph
constexpr int kGraphRuns = 64;                        // at most
constexpr double kCudaResolutionUs = 0.5;             // of cuEventElapsedTime, by the manual
constexpr double kHipResolutionUs = 1;                // of hipEventElapsedTime, by the manual
constexpr size_t kInfinityCache = size_t{256} << 20;  // behind the L2 of an MI300X, the largest; HIP tells no size
constexpr size_t kFlushBytesWithoutL2 = size_t{32} << 20;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double resolution_of(const Device& device) {
  switch (device.info().kind) {
    case DeviceKind::kCuda:
      return kCudaResolutionUs;
    case DeviceKind::kHip:
      return kHipResolutionUs;
    case DeviceKind::kCpu:
    case DeviceKind::kSim:
      return 0;
  }
  return 0;
}

double median_of(std::vector<double> samples) {
  WT_CHECK(!samples.empty());
  const size_t middle = samples.size() / 2;
  std::nth_element(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(middle), samples.end());
  if (samples.size() % 2) return samples[middle];
  return (samples[middle] + *std::max_element(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(middle))) /
         2;
}

}  // namespace

bool agree(const Timing& a, const Timing& b) { return a.low_us <= b.high_us && b.low_us <= a.high_us; }

Timing summarize(const std::vector<double>& samples_us, double resolution_us) {
  std::vector<double> sorted = samples_us;
  std::sort(sorted.begin(), sorted.end());
  const size_t count = sorted.size();
  Timing timing{.median_us = median_of(sorted), .minimum_us = sorted.front(), .runs = static_cast<int>(count)};
  timing.low_us = std::min(sorted[count / 4], timing.median_us - resolution_us / 2);
  timing.high_us = std::max(sorted[count - 1 - count / 4], timing.median_us + resolution_us / 2);
  // A clock that drifts leaves the quartiles of a short run narrow; the medians of its quarters show it.
  for (size_t part = 0; part < 4 && count >= 8; ++part) {
    const auto first = samples_us.begin() + static_cast<std::ptrdiff_t>(part * count / 4);
    const auto last = samples_us.begin() + static_cast<std::ptrdiff_t>((part + 1) * count / 4);
    const double median = median_of({first, last});
    timing.low_us = std::min(timing.low_us, median);
    timing.high_us = std::max(timing.high_us, median);
  }
  return timing;
}

Result<std::unique_ptr<Timer>> Timer::make(std::shared_ptr<Device> device) {
  std::unique_ptr<Timer> timer(new Timer(std::move(device)));
  WT_TRY_ASSIGN(timer->stream_, timer->device_->make_stream());
  for (int i = 0; i < kBatch; ++i) {
    EventPair pair;
    WT_TRY_ASSIGN(pair.start, timer->device_->make_event());
    WT_TRY_ASSIGN(pair.stop, timer->device_->make_event());
    timer->events_.push_back(std::move(pair));
  }
  return timer;
}

Timer::~Timer() {
  // A lost context has already been reported where it was met.
  if (stream_) (void)device_->synchronize(stream_);
  if (flush_buffer_) (void)device_->free(flush_buffer_);
  if (stream_) (void)device_->destroy_stream(stream_);
}

Status Timer::flush() {
  if (!flush_buffer_) {
    // WHY twice: a cache that is not strictly least-recently-used keeps some old lines after one pass of its size.
    const int64_t l2 = device_->info().l2_bytes;
    flush_bytes_ = l2 > 0 ? static_cast<size_t>(2 * l2) : kFlushBytesWithoutL2;
    if (device_->info().kind == DeviceKind::kHip) flush_bytes_ = std::max(flush_bytes_, 2 * kInfinityCache);
    WT_TRY_ASSIGN(flush_buffer_, device_->allocate(flush_bytes_));
  }
  return device_->fill(flush_buffer_, 0x5a, flush_bytes_, stream_);
}

Result<std::vector<double>> Timer::batch(const std::function<Status()>& work, int count, bool cold) {
  for (int i = 0; i < count; ++i) {
    EventPair& pair = events_[static_cast<size_t>(i)];
    if (cold) WT_TRY(flush());
    WT_TRY(pair.start->record(stream_));
    const auto before = Clock::now();
    WT_TRY(work());
    host_us_.push_back(seconds_since(before) * 1e6);
    WT_TRY(pair.stop->record(stream_));
  }
  WT_TRY(device_->synchronize(stream_));
  std::vector<double> samples;
  for (int i = 0; i < count; ++i) {
    EventPair& pair = events_[static_cast<size_t>(i)];
    WT_TRY_ASSIGN(const double elapsed, device_->elapsed_us(*pair.start, *pair.stop));
    samples.push_back(elapsed);
  }
  return samples;
}

Status Timer::warm_up(const TimedWork& work, const TimerOptions& options, int& run) {
  const auto start = Clock::now();
  const int limit = std::max(options.warmup_runs, options.max_runs);
  for (int i = 0; i < options.warmup_runs || (i < limit && seconds_since(start) < options.warmup_seconds); ++i) {
    WT_TRY(work(run++, stream_));
    // Enough in flight to keep the device busy, little enough that a slow problem stops in time.
    if (i % 4 == 3) WT_TRY(device_->synchronize(stream_));
  }
  return device_->synchronize(stream_);
}

Result<Timing> Timer::time_batches(const std::function<Status()>& work, const TimerOptions& options,
                                   int runs_per_sample) {
  const bool cold = options.cold_l2;
  const double resolution = resolution_of(*device_) / runs_per_sample;
  const int max_samples = std::max(1, options.max_runs / runs_per_sample);
  const int min_samples = std::clamp(options.min_runs / runs_per_sample, std::min(8, max_samples), max_samples);
  const auto start = Clock::now();
  std::vector<double> samples;
  Timing timing;
  do {
    // A first batch of few runs, so that a slow problem can end by its budget.
    const int wanted = samples.empty() ? std::min(4, min_samples) : kBatch;
    const int count = std::min({wanted, kBatch, max_samples - static_cast<int>(samples.size())});
    WT_TRY_ASSIGN(const std::vector<double> more, batch(work, count, cold));
    for (double sample : more) samples.push_back(sample / runs_per_sample);
    timing = summarize(samples, resolution);
    const bool enough = timing.runs >= min_samples;
    if (enough && timing.high_us - timing.low_us < std::max(options.settled_spread * timing.median_us, 2 * resolution))
      break;
    if (enough && seconds_since(start) > options.budget_seconds) break;
  } while (timing.runs < max_samples);
  timing.runs *= runs_per_sample;
  timing.cold_l2 = cold;
  return timing;
}

Result<Timing> Timer::time(const TimedWork& work, const TimerOptions& options) {
  if (options.min_runs < 1 || options.max_runs < options.min_runs)
    return bad_input("a timing needs 1 <= min_runs <= max_runs, not {} and {}", options.min_runs, options.max_runs);
  int run = 0;
  WT_TRY(warm_up(work, options, run));
  host_us_.clear();
  const auto one_run = [&] { return work(run++, stream_); };
  const bool graphs = is_gpu(device_->info().kind);
  if (options.cold_l2 || !graphs) {
    WT_TRY_ASSIGN(Timing timing, time_batches(one_run, options, 1));
    timing.host_us = median_of(host_us_);
    return timing;
  }
  // The first samples say how many runs make a graph long enough that one replay's launch cost vanishes in it.
  WT_TRY_ASSIGN(const std::vector<double> probe, batch(one_run, 4, false));
  const double host_us = median_of(host_us_);
  const double estimate = std::max(median_of(probe), 0.5);
  const int wanted = static_cast<int>(std::clamp(kGraphMicroseconds / estimate, 1.0, double{kGraphRuns}));
  const int runs = std::min(wanted, options.max_runs);
  WT_TRY_ASSIGN(const std::unique_ptr<Graph> graph, device_->capture(stream_, [&]() -> Status {
    for (int i = 0; i < runs; ++i) WT_TRY(one_run());
    return {};
  }));
  WT_TRY(graph->replay(stream_));  // the first replay uploads the graph
  WT_TRY_ASSIGN(Timing timing, time_batches([&] { return graph->replay(stream_); }, options, runs));
  timing.host_us = host_us;
  timing.graph = true;
  return timing;
}

}  // namespace wt
