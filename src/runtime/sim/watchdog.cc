// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/watchdog.h"

#include <signal.h>
#include <time.h>

#include <algorithm>
#include <chrono>

#include "runtime/sim/engine.h"

namespace wt::sim {
namespace {

double processor_seconds(pthread_t thread) {
  clockid_t clock;
  timespec time;
  if (pthread_getcpuclockid(thread, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

int stall_signal() { return SIGRTMIN + 9; }

Watchdog::Watchdog(int stall_seconds) : stall_seconds_(stall_seconds), thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_all();
  thread_.join();
}

Watchdog::Worker& Watchdog::add_worker() {
  std::lock_guard lock(mutex_);
  workers_.push_back(std::make_unique<Worker>());
  workers_.back()->thread = pthread_self();
  return *workers_.back();
}

void Watchdog::remove(Worker& worker) {
  std::lock_guard lock(mutex_);
  std::erase_if(workers_, [&](const auto& other) { return other.get() == &worker; });
}

void Watchdog::watch() {
  std::unique_lock lock(mutex_);
  while (!stopped_.wait_for(lock, std::chrono::milliseconds(500), [&] { return stop_; })) {
    for (const auto& worker : workers_) look(*worker);
  }
}

void Watchdog::look(Worker& worker) const {
  const Cluster* running = worker.running.load();
  const uint64_t steps = running ? running->steps.load(std::memory_order_relaxed) : 0;
  const double now = processor_seconds(worker.thread);
  if (running != worker.seen || steps != worker.steps || !running) {
    worker.seen = running;
    worker.steps = steps;
    worker.busy_since = now;
  } else if (now - worker.busy_since > stall_seconds_) {
    worker.busy_since = now;
    pthread_kill(worker.thread, stall_signal());
  }
}

}  // namespace wt::sim
