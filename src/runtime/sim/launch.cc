// SPDX-License-Identifier: Apache-2.0
// runtime/sim/launch.cc - spreads the clusters of a grid over the host's cores.
#include <atomic>
#include <deque>
#include <mutex>
#include <thread>

#include "base/parallel.h"
#include "runtime/sim/engine.h"
#include "runtime/sim/report.h"

namespace wt::sim {
namespace {

struct Shared {
  const LaunchPlan& plan;
  int64_t clusters = 0;
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
std::deque<std::unique_ptr<Cluster>>& spare_clusters() {
  static thread_local std::deque<std::unique_ptr<Cluster>> spare;
  return spare;
}

std::unique_ptr<Cluster> take_cluster() {
  auto& spare = spare_clusters();
  if (spare.empty()) return std::make_unique<Cluster>();
  auto cluster = std::move(spare.back());
  spare.pop_back();
  return cluster;
}

struct Running {
  int64_t index;
  std::unique_ptr<Cluster> cluster;
};

// One host thread. A cluster that only polls memory steps aside for the next one, as it would on a GPU that holds both.
void work(Shared& shared) {
  use_signal_stack();
  std::deque<Running> running;
  const size_t resident = static_cast<size_t>(shared.plan.target->units);
  bool polled = false;
  while (!shared.stop) {
    if (running.empty() || (polled && running.size() < resident)) {
      const int64_t index = shared.next.fetch_add(1);
      if (index < shared.clusters) {
        Running fresh{index, take_cluster()};
        if (!fresh.cluster->start(shared.plan, index)) {
          shared.fail(index, "simulator: no memory on this machine for the threads' stacks");
          return;
        }
        running.push_front(std::move(fresh));
      } else if (running.empty()) {
        break;
      }
    }
    Running turn = std::move(running.front());
    running.pop_front();
    const Outcome outcome = turn.cluster->run();
    polled = outcome == Outcome::kSpinning;
    if (outcome == Outcome::kFailed) shared.fail(turn.index, turn.cluster->report);
    if (polled) {
      running.push_back(std::move(turn));
      if (running.size() > 1 || shared.next >= shared.clusters) std::this_thread::yield();
    } else {
      spare_clusters().push_back(std::move(turn.cluster));
    }
  }
  for (Running& left : running) spare_clusters().push_back(std::move(left.cluster));
  while (spare_clusters().size() > 4) spare_clusters().pop_front();
}

}  // namespace

Status run_launch(const LaunchPlan& plan) {
  install_signal_handlers();
  const LaunchShape& shape = plan.shape;
  int64_t clusters = 1;
  for (int i = 0; i < 3; ++i) clusters *= shape.grid[i] / shape.cluster[i];
  Shared shared{plan, clusters};
  const int threads = plan.options.threads > 0 ? plan.options.threads : hardware_threads();
  parallel_for(std::min<int64_t>(threads, clusters), [&](int64_t) { work(shared); }, threads);
  if (shared.failed_index >= 0) return failure(Code::kDevice, "{}", shared.report);
  return {};
}

}  // namespace wt::sim
