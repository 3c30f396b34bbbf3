// SPDX-License-Identifier: Apache-2.0
// runtime/sim/launch_control.cc - a running cluster takes over one of its grid that has not started.
#include <cstring>

#include "runtime/sim/primitives.h"
#include "runtime/sim/report.h"

namespace wt::sim {
namespace {

// Opaque to kernels, as the hardware's is.
struct Answer {
  static constexpr uint32_t kMagic = 0xc1c0a45e;
  uint32_t magic, taken;
  int64_t cluster;
};
static_assert(sizeof(Answer) == 16);

}  // namespace

void take_cluster(SharedAddress answer, SharedAddress barrier, Site site) {
  constexpr const char* kOperation = "take_cluster";
  Thread& thread = *current;
  Cluster& cluster = *thread.block->cluster;
  count_step(cluster, site);
  if (!cluster.has_tensor) {
    fail(Fault::kUse, kOperation, site, fmt::format("{} has no launch control", cluster.plan->target->name));
  }
  if (thread.block->refused) {
    fail(Fault::kUse, kOperation, site, "the block has seen that no cluster is left, and may not ask again");
  }
  AsyncWork work{};
  work.kind = AsyncWork::Kind::kAnswer;
  work.to = answer;
  work.bytes = sizeof(Answer);
  work.barrier = barrier;
  work.thread = &thread;
  work.site = site;
  for (Block& other : cluster.blocks) {
    Block& block = &other == thread.block ? other : remote_block(static_cast<u32>(other.rank), kOperation, site);
    check_shared(block, answer, sizeof(Answer), 16, kOperation, site);
    const Mbarrier& counts = find_mbarrier(block, barrier, thread, kOperation, site);
    work.phases[block.rank] = counts.phase;
    if (cluster.plan->options.checks) {
      block.shadow.bulk_write(thread, block, answer, sizeof(Answer), counts.actor, counts.phase, kOperation, site);
    }
    std::memset(block.host(answer), 0xff, sizeof(Answer));
  }
  cluster.in_flight.push_back(std::move(work));
  if (cluster.early()) {
    complete_work(cluster, cluster.in_flight.size() - 1);
    if (!cluster.report.empty()) block_current({Wait::Kind::kRunning, 0, 0, site});
  }
}

void complete_answer(Cluster& cluster, AsyncWork& work) {
  // Nobody promises that what is left can be taken: now and then a GPU starts it itself.
  const bool refuses = cluster.random() % 16 == 0;
  const int64_t index = refuses ? cluster.all_clusters : cluster.next_cluster->fetch_add(1);
  const Answer answer{Answer::kMagic, index < cluster.all_clusters, index};
  for (Block& block : cluster.blocks) {
    std::memcpy(block.host(work.to), &answer, sizeof answer);
    bytes_came(cluster, block, work);
  }
}

bool taken_cluster(SharedAddress address, Int3* first, Site site) {
  Thread& thread = *current;
  const LaunchShape& shape = thread.block->cluster->plan->shape;
  Answer answer;
  std::memcpy(&answer, read_shared(address, sizeof answer, 16, site), sizeof answer);
  if (answer.magic != Answer::kMagic) {
    fail(Fault::kUse, "taken_cluster", site,
         fmt::format("{} holds no answer of take_cluster", shared_text(*thread.block, address).text));
  }
  if (!answer.taken) {
    thread.block->refused = true;
    return false;
  }
  const int64_t count_x = shape.grid[0] / shape.cluster[0], count_y = shape.grid[1] / shape.cluster[1];
  *first = {static_cast<i32>(answer.cluster % count_x * shape.cluster[0]),
            static_cast<i32>(answer.cluster / count_x % count_y * shape.cluster[1]),
            static_cast<i32>(answer.cluster / count_x / count_y * shape.cluster[2])};
  return true;
}

}  // namespace wt::sim
