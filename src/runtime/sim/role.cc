// SPDX-License-Identifier: Apache-2.0
// runtime/sim/role.cc - the elected lane, registers moved between roles, and what must be over when a thread ends.
#include <algorithm>

#include "runtime/sim/primitives.h"
#include "runtime/sim/report.h"
#include "runtime/sim/tensor_memory.h"
#include "runtime/sim/wgmma.h"

namespace wt::sim {
namespace {

struct Election {
  bool chosen;
};

// What the compiler may give a thread where kMinBlocks blocks must fit a multiprocessor.
int registers_at_launch(const LaunchPlan& plan) {
  constexpr int kRegistersOfUnit = 65536, kMost = 255;
  const int threads = std::max(1, plan.min_blocks) * static_cast<int>(plan.shape.threads);
  return std::min(kMost, kRegistersOfUnit / threads / 8 * 8);
}

int held_by(const Warp& warp) {
  return warp.registers ? warp.registers : registers_at_launch(*warp.block->cluster->plan);
}

}  // namespace

int registers_held(const Block& block) {
  int sum = 0;
  for (const Warp& warp : block.warps) sum += held_by(warp) * warp.lanes;
  return sum;
}

int registers_of(const Block& block) {
  return registers_at_launch(*block.cluster->plan) * static_cast<int>(block.threads.size());
}

// WHY not lane 0: the instruction promises one lane, and the same one each time, but not which.
bool elect(Site site) {
  Election election{false};
  collective("elect", &election, site, [](Warp& warp, void** lanes) {
    const uint64_t seed = warp.block->cluster->plan->options.seed + static_cast<uint64_t>(warp.index) * 7;
    static_cast<Election*>(lanes[seed % static_cast<uint64_t>(warp.lanes)])->chosen = true;
  });
  return election.chosen;
}

void set_registers(int count, bool take, Site site) {
  const char* operation = take ? "take_registers" : "give_registers";
  if (count % 8 || count < 24 || count > 256) {
    fail(Fault::kUse, operation, site, fmt::format("{} registers are not a multiple of 8 from 24 to 256", count));
  }
  collective(operation, nullptr, site, nullptr);
  Thread& thread = *current;
  Warp& warp = *thread.warp;
  Block& block = *thread.block;
  const int held = held_by(warp);
  if (take ? count < held : count > held) {
    fail(Fault::kUse, operation, site,
         fmt::format("to {} registers per thread, which holds {}; {}", count, held,
                     take ? "give_registers makes them fewer" : "take_registers makes them more"));
  }
  // A block's registers are those of its launch: whoever takes more than are free waits until others give.
  while (warp.registers != count) {
    if (registers_held(block) + (count - held_by(warp)) * warp.lanes <= registers_of(block)) {
      warp.registers = count;
      break;
    }
    block.register_waiters.push_back(&thread);
    block_current({Wait::Kind::kRegisters, static_cast<uint64_t>(count), 0, site});
  }
  if (take) return;
  for (Thread* waiting : block.register_waiters) block.cluster->wake(*waiting);
  block.register_waiters.clear();
}

void check_thread_end(Thread& thread) {
  constexpr Site kEnd{nullptr, 0};
  for (BulkStore& store : thread.stores) {
    if (!store.released) {
      fail(Fault::kExit, "bulk store", store.site,
           "the thread returns while the store may still read shared memory; bulk_wait_read must come before");
    }
    write_store(thread, store);
  }
  // WHY also those that have arrived at an mbarrier: that tells its waiters, and not the thread that ends.
  if (!thread.copies.empty()) {
    fail(Fault::kExit, "copy_async", thread.copies.front().site,
         fmt::format(
             "the thread returns while its copy to {} may be in flight; copy_async_commit and copy_async_wait<0> "
             "must come before",
             shared_text(*thread.block, thread.copies.front().to).text));
  }
  if (thread.cluster_arrivals != thread.cluster_waits && thread.block->cluster->blocks.size() > 1) {
    fail(Fault::kExit, "cluster_arrive", kEnd, "the thread returns between cluster_arrive and cluster_wait");
  }
  check_wgmma_end(thread);
  check_tensor_end(thread);
}

// A block's shared memory is gone with its last thread; whoever used it from another block must be known to be done.
void check_block_end(Thread& last) {
  const Block& block = *last.block;
  if (!block.cluster->plan->options.checks) return;
  // The arrivals of products come by themselves: somebody must have waited for the last one.
  for (const Mbarrier& barrier : block.mbarriers) {
    if (!barrier.committed) continue;
    bool flies = false;
    for (const AsyncWork& work : block.cluster->in_flight) {
      flies |= work.kind == AsyncWork::Kind::kCommit && (work.blocks >> block.rank & 1) != 0 &&
               work.barrier == barrier.address;
    }
    uint32_t known = 0;
    for (const Warp& warp : block.warps) known = std::max(known, warp.clock.seen[barrier.actor]);
    if (!flies && known >= barrier.phase) continue;
    fail(Fault::kExit, "the end of the block", {nullptr, 0},
         fmt::format("nobody has waited for the last tensor_commit at mbarrier {:#x} (byte {}), which may arrive later",
                     barrier.address, barrier.address - block.base));
  }
  for (size_t actor = 0; actor < block.visits.size(); ++actor) {
    if (!block.visits[actor]) continue;
    uint32_t known = 0;
    const size_t thread =
        actor * static_cast<size_t>(block.cluster->plan->target->warp_size) + block.visit_lanes[actor];
    for (const Warp& warp : block.warps) {
      known = std::max(known, warp.clock.seen[actor]);
      if (warp.clock.lanes && thread < warp.clock.lanes_seen.size())
        known = std::max(known, warp.clock.lanes_seen[thread]);
    }
    if (known >= block.visits[actor]) continue;
    fail(Fault::kExit, "the end of the block", {nullptr, 0},
         fmt::format("{} may still use the block's shared memory: a cluster barrier must come before",
                     actor_text(*block.cluster, static_cast<uint32_t>(actor)).text));
  }
}

void check_cluster_end(Cluster& cluster) {
  for (const Block& block : cluster.blocks) {
    const auto unfinished = [&](std::string message) {
      report_block(cluster, block, Fault::kExit, std::move(message));
    };
    for (const Mbarrier& barrier : block.mbarriers) {
      if (barrier.bytes) {
        return unfinished(fmt::format("mbarrier {:#x} (byte {}) still waits for {} announced bytes in phase {}",
                                      barrier.address, barrier.address - block.base, barrier.bytes, barrier.phase));
      }
    }
    for (size_t id = 0; id < block.barriers.size(); ++id) {
      const NamedBarrier& barrier = block.barriers[id];
      if (barrier.arrived) {
        return unfinished(fmt::format("named barrier {} has {} of {} arrivals, and nobody is left", id, barrier.arrived,
                                      barrier.expected));
      }
    }
  }
  if (!cluster.in_flight.empty()) {
    const AsyncWork& work = cluster.in_flight.front();
    report_for(*work.thread, Fault::kExit, "bulk copy", work.site, "it is still in flight when its cluster ends");
  }
}

}  // namespace wt::sim
