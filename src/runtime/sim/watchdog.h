// SPDX-License-Identifier: Apache-2.0
// runtime/sim/watchdog.h - stops a simulated thread that computes without end and without a primitive.
//
// The step limit sees only primitives. A loop without any would hang the host thread, so a watcher looks now and then
// whether each worker's step count moves, and sends it a signal after some seconds of processor time without a step.
#pragma once

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace wt::sim {

struct Cluster;

class Watchdog {
 public:
  explicit Watchdog(int stall_seconds);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  // A host thread's entry; it tells which cluster it runs. Lives as long as the watchdog.
  struct Worker {
    pthread_t thread;
    std::atomic<const Cluster*> running{nullptr};
    const Cluster* seen = nullptr;
    uint64_t steps = 0;
    double busy_since = 0;
  };
  Worker& add_worker();  // for the calling thread
  void remove(Worker& worker);

 private:
  void watch();
  void look(Worker& worker) const;

  const int stall_seconds_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::thread thread_;
};

int stall_signal();

}  // namespace wt::sim
