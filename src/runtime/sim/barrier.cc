// SPDX-License-Identifier: Apache-2.0
// runtime/sim/barrier.cc - barriers of a block and of a part of it.
#include "runtime/sim/lane.h"
#include "runtime/sim/primitives.h"
#include "runtime/sim/report.h"

namespace wt::sim {
namespace {

// Everyone who waits goes on, knowing what all who arrived knew. WHY the clocks of those who wait join only here: once
// per warp instead of once per thread.
void release(Block& block, NamedBarrier& barrier) {
  Cluster& cluster = *block.cluster;
  const int actors = cluster.active_actors;
  std::array<int, 64> waiting_lanes{};  // by warp
  for (const Thread* waiting : barrier.waiting) ++waiting_lanes[waiting->warp->index];
  for (Thread* waiting : barrier.waiting) {
    Warp& warp = *waiting->warp;
    if (waiting_lanes[warp.index] < warp.lanes) {
      release_lane(*waiting, barrier.clock);
    } else if (waiting->lane == 0) {
      meet(warp);
      barrier.clock.join(warp.clock, actors);
    }
  }
  gather_lanes(cluster, barrier.clock);
  uint64_t joined = 0;  // warps
  for (Thread* waiting : barrier.waiting) {
    Warp& warp = *waiting->warp;
    if (!(joined >> warp.index & 1)) warp.clock.join(barrier.clock, actors);
    joined |= uint64_t{1} << warp.index;
    cluster.wake(*waiting);
  }
  barrier.waiting.clear();
  barrier.arrived = 0;
  barrier.clock.reset(cluster.actors);
}

void check_named(const Thread& thread, const NamedBarrier& barrier, int id, int threads, const char* operation,
                 Site site) {
  const int warp = thread.block->cluster->plan->target->warp_size;
  const int all = static_cast<int>(thread.block->threads.size());
  if (id < 0 || id > 15) fail(Fault::kBarrier, operation, site, fmt::format("barrier {}: ids go from 0 to 15", id));
  if (threads <= 0 || threads % warp != 0) {
    fail(Fault::kBarrier, operation, site,
         fmt::format("barrier {}: {} threads is not a positive multiple of the warp ({})", id, threads, warp));
  }
  if (threads > all) {
    fail(Fault::kBarrier, operation, site,
         fmt::format("barrier {}: {} threads are more than the block's {}", id, threads, all));
  }
  if (barrier.arrived && barrier.expected != threads) {
    fail(Fault::kBarrier, operation, site,
         fmt::format("barrier {}: this thread says {} threads, one that arrived before said {}", id, threads,
                     barrier.expected));
  }
}

// Arrives, and waits unless this thread was the last of `threads`.
void arrive_and_wait(NamedBarrier& barrier, int threads, Wait wait) {
  Thread& thread = *current;
  ++barrier.arrived;
  barrier.waiting.push_back(&thread);
  if (barrier.arrived < threads) {
    block_current(wait);
    return;
  }
  release(*thread.block, barrier);
  thread.warp->ready &= ~(uint64_t{1} << thread.lane);  // released too, but it simply goes on
}

}  // namespace

void finish_block_barrier(Block& block) {
  NamedBarrier& barrier = block.barriers[0];
  if (!barrier.arrived || barrier.expected != 0) return;
  if (barrier.arrived >= block.live) release(block, barrier);
}

// WHY live threads: a barrier of the whole block does not wait for threads that have returned.
void sync_block(Site site) {
  Thread& thread = *current;
  Block& block = *thread.block;
  count_step(*block.cluster, site);
  NamedBarrier& barrier = block.barriers[0];
  if (barrier.arrived && barrier.expected != 0) {
    fail(Fault::kBarrier, "sync_block", site,
         fmt::format("barrier 0 is in use by sync_named with {} threads", barrier.expected));
  }
  barrier.expected = 0;
  arrive_and_wait(barrier, block.live, {Wait::Kind::kBlock, 0, 0, site});
}

void sync_named(int id, int threads, Site site) {
  Thread& thread = *current;
  count_step(*thread.block->cluster, site);
  NamedBarrier& barrier = thread.block->barriers[id & 15];
  check_named(thread, barrier, id, threads, "sync_named", site);
  barrier.expected = threads;
  arrive_and_wait(barrier, threads,
                  {Wait::Kind::kNamed, static_cast<uint64_t>(id), static_cast<uint64_t>(threads), site});
}

void arrive_named(int id, int threads, Site site) {
  Thread& thread = *current;
  Block& block = *thread.block;
  count_step(*block.cluster, site);
  NamedBarrier& barrier = block.barriers[id & 15];
  check_named(thread, barrier, id, threads, "arrive_named", site);
  barrier.expected = threads;
  ++barrier.arrived;
  release_lane(thread, barrier.clock);
  if (barrier.arrived >= threads) release(block, barrier);
}

}  // namespace wt::sim
