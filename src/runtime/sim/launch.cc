// SPDX-License-Identifier: Apache-2.0
// runtime/sim/launch.cc - spreads the clusters of a grid over the host's cores.
#include <atomic>
#include <deque>
#include <mutex>
#include <thread>

#include "base/parallel.h"
#include "runtime/sim/engine.h"
#include "runtime/sim/report.h"
#include "runtime/sim/watchdog.h"

namespace wt::sim {
namespace {

struct Shared {
  const LaunchPlan& plan;
  int64_t clusters = 0;
  Watchdog& watchdog;
  std::atomic<int64_t> next{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  int64_t failed_index = -1;
  std::string report;

  void fail(int64_t index, std::string text) {
    std::lock_guard lock(mutex);
    stop = true;
    // The report of the lowest block that failed, so that one seed gives one answer as often as it can.
    if (failed_index < 0 || index < failed_index) {
      failed_index = index;
      report = std::move(text);
    }
  }
};

// Stacks and shadow memory are kept from launch to launch.
class ClusterPool {
 public:
  static ClusterPool& instance() {
    static auto* pool = new ClusterPool;  // WHY never freed: a launch may still run while the process exits
    return *pool;
  }
  std::unique_ptr<Cluster> take() {
    std::lock_guard lock(mutex_);
    if (spare_.empty()) return std::make_unique<Cluster>();
    auto cluster = std::move(spare_.back());
    spare_.pop_back();
    return cluster;
  }
  void put(std::unique_ptr<Cluster> cluster) {
    std::lock_guard lock(mutex_);
    if (spare_.size() < kKept) spare_.push_back(std::move(cluster));
  }

 private:
  static constexpr size_t kKept = 16;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Cluster>> spare_;
};

struct Running {
  int64_t index;
  std::unique_ptr<Cluster> cluster;
};

// A host thread's entry with the watchdog; it goes away with the object, whatever ends the thread's work.
class Watched {
 public:
  explicit Watched(Watchdog& watchdog) : watchdog_(watchdog), worker_(watchdog.add_worker()) {}
  ~Watched() { watchdog_.remove(worker_); }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  void running(const Cluster* cluster) { worker_.running = cluster; }

 private:
  Watchdog& watchdog_;
  Watchdog::Worker& worker_;
};

// One host thread. A cluster that only polls memory steps aside for the next one, as it would on a GPU that holds both.
void work(Shared& shared) {
  const SignalStack signal_stack;
  std::deque<Running> running;
  Watched watched(shared.watchdog);  // goes before the clusters that it names
  const size_t resident = static_cast<size_t>(shared.plan.target->units);
  bool polled = false;
  while (!shared.stop) {
    if (running.empty() || (polled && running.size() < resident)) {
      const int64_t index = shared.next.fetch_add(1);
      if (index < shared.clusters) {
        Running fresh{index, ClusterPool::instance().take()};
        fresh.cluster->next_cluster = &shared.next;
        fresh.cluster->all_clusters = shared.clusters;
        if (!fresh.cluster->start(shared.plan, index)) {
          shared.fail(index, "simulator: no memory on this machine for the threads' stacks");
          break;
        }
        running.push_front(std::move(fresh));
      } else if (running.empty()) {
        break;
      }
    }
    Running turn = std::move(running.front());
    running.pop_front();
    watched.running(turn.cluster.get());
    const Outcome outcome = turn.cluster->run();
    watched.running(nullptr);
    polled = outcome == Outcome::kSpinning;
    if (outcome == Outcome::kFailed) shared.fail(turn.index, turn.cluster->report);
    if (polled) {
      running.push_back(std::move(turn));
      if (running.size() > 1 || shared.next >= shared.clusters) std::this_thread::yield();
    } else {
      ClusterPool::instance().put(std::move(turn.cluster));
    }
  }
  for (Running& left : running) ClusterPool::instance().put(std::move(left.cluster));
}

}  // namespace

Status run_launch(const LaunchPlan& plan) {
  install_signal_handlers();
  const LaunchShape& shape = plan.shape;
  int64_t clusters = 1;
  for (int i = 0; i < 3; ++i) clusters *= shape.grid[i] / shape.cluster[i];
  Watchdog watchdog(plan.options.stall_seconds);
  Shared shared{plan, clusters, watchdog};
  const int threads = plan.options.threads > 0 ? plan.options.threads : hardware_threads();
  parallel_for(
      std::min<int64_t>(threads, clusters),
      [&](int64_t) {
        try {
          work(shared);
        } catch (...) {
          shared.stop = true;  // the other workers need not go on
          throw;
        }
      },
      threads);
  if (shared.failed_index >= 0) return failure(Code::kDevice, "{}", shared.report);
  return {};
}

}  // namespace wt::sim
