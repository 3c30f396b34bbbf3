// SPDX-License-Identifier: Apache-2.0
// runtime/sim/cluster.cc - blocks of one cluster: rank, barrier, each other's shared memory.
//
// An address of another block's memory carries the block's rank, plus 1, in its upper byte; a plain address is one's
// own.
#include <cstring>

#include "runtime/sim/lane.h"
#include "runtime/sim/primitives.h"
#include "runtime/sim/report.h"

namespace wt::sim {
namespace {

constexpr int kRankShift = 24;

void release(Cluster& cluster) {
  ClusterBarrier& barrier = cluster.barrier;
  ++barrier.phase;
  barrier.arrived = 0;
  for (Block& block : cluster.blocks) {
    // Also a relaxed barrier carries the inits that mbarrier_fence_init released.
    for (Mbarrier& mbarrier : block.mbarriers) mbarrier.published |= mbarrier.init_fenced;
  }
  gather_lanes(cluster, barrier.clock);
  for (Thread* waiting : barrier.waiting) {
    waiting->warp->clock.join(barrier.clock, cluster.active_actors);
    cluster.wake(*waiting);
  }
  barrier.waiting.clear();
}

struct Place {
  Block& block;
  uint32_t local;
};

Block& live_block(u32 rank, const char* operation, Site site) {
  Cluster& cluster = *current->block->cluster;
  if (rank >= cluster.blocks.size()) {
    fail(Fault::kBounds, operation, site,
         fmt::format("rank {} in a cluster of {} blocks", rank, cluster.blocks.size()));
  }
  Block& block = cluster.blocks[rank];
  if (block.live == 0) {
    fail(Fault::kExit, operation, site,
         fmt::format("all threads of the cluster's block {} have returned, and its shared memory is gone", rank));
  }
  return block;
}

Place place_of(u32 address, u32 bytes, const char* operation, Site site) {
  const u32 rank_plus_one = address >> kRankShift, local = address & ((1u << kRankShift) - 1);
  Block& block = rank_plus_one ? live_block(rank_plus_one - 1, operation, site) : *current->block;
  check_shared(block, local, bytes, bytes, operation, site);
  return {block, local};
}

void note_visit(Block& block) {
  if (&block == current->block) return;
  block.visits[current->warp->actor] = touch(*current, false);
  block.visit_lanes[current->warp->actor] = static_cast<uint8_t>(current->lane);
}

}  // namespace

Block& remote_block(u32 rank, const char* operation, Site site) {
  Block& block = live_block(rank, operation, site);
  note_visit(block);
  return block;
}

u32 cluster_rank() { return static_cast<u32>(current->block->rank); }
u32 cluster_blocks() { return static_cast<u32>(current->block->cluster->blocks.size()); }

void finish_cluster_barrier(Cluster& cluster) {
  if (cluster.barrier.arrived && cluster.barrier.arrived >= cluster.live) release(cluster);
}

void cluster_arrive(bool relaxed, Site site) {
  Thread& thread = *current;
  Cluster& cluster = *thread.block->cluster;
  count_step(cluster, site);
  if (thread.cluster_arrivals != thread.cluster_waits) {
    fail(Fault::kBarrier, "cluster_arrive", site, "the thread arrives twice without cluster_wait between");
  }
  ++thread.cluster_arrivals;
  ++cluster.barrier.arrived;
  if (!relaxed) {
    release_lane(thread, cluster.barrier.clock);
  }
  finish_cluster_barrier(cluster);
}

void cluster_wait(Site site) {
  Thread& thread = *current;
  Cluster& cluster = *thread.block->cluster;
  count_step(cluster, site);
  if (thread.cluster_arrivals == thread.cluster_waits) {
    fail(Fault::kBarrier, "cluster_wait", site, "the thread waits without a cluster_arrive before");
  }
  ++thread.cluster_waits;
  if (cluster.barrier.phase >= thread.cluster_waits) {
    thread.warp->clock.join(cluster.barrier.clock, cluster.active_actors);
    return;
  }
  cluster.barrier.waiting.push_back(&thread);
  block_current({Wait::Kind::kCluster, 0, 0, site});
}

u32 cluster_address(SharedAddress local, u32 rank, Site site) {
  const Cluster& cluster = *current->block->cluster;
  if (rank >= cluster.blocks.size()) {
    fail(Fault::kBounds, "cluster_address", site,
         fmt::format("rank {} in a cluster of {} blocks", rank, cluster.blocks.size()));
  }
  return local | (rank + 1) << kRankShift;
}

const void* read_cluster(u32 address, u32 bytes, Site site) {
  Thread& thread = *current;
  count_step(*thread.block->cluster, site);
  const Place place = place_of(address, bytes, "load_cluster", site);
  note_visit(place.block);
  if (thread.block->cluster->plan->options.checks) {
    place.block.shadow.read(thread, place.block, place.local, bytes, "load_cluster", site);
  }
  return place.block.host(place.local);
}

void* write_cluster(u32 address, u32 bytes, Site site) {
  Thread& thread = *current;
  count_step(*thread.block->cluster, site);
  const Place place = place_of(address, bytes, "store_cluster", site);
  note_visit(place.block);
  if (thread.block->cluster->plan->options.checks) {
    place.block.shadow.write(thread, place.block, place.local, bytes, "store_cluster", site);
  }
  return place.block.host(place.local);
}

// The bytes are there at once. Nobody sees them before the barrier's phase completes: readers that do not wait for it
// are reported as a race.
void store_counted(u32 address, const void* from, u32 bytes, u32 barrier_address, Site site) {
  const char* operation = "store_cluster_counted";
  Thread& thread = *current;
  Cluster& cluster = *thread.block->cluster;
  count_step(cluster, site);
  const Place place = place_of(address, bytes, operation, site), at = place_of(barrier_address, 8, operation, site);
  if (&place.block != &at.block) {
    fail(Fault::kUse, operation, site,
         fmt::format("the bytes go to block {} of the cluster, their mbarrier is block {}'s", place.block.rank,
                     at.block.rank));
  }
  Mbarrier& barrier = find_mbarrier(at.block, at.local, thread, operation, site);
  // The block may end when it has seen the phase.
  if (&place.block != thread.block) place.block.visits[barrier.actor] = barrier.phase + 1;
  if (cluster.plan->options.checks) {
    place.block.shadow.bulk_write(thread, place.block, place.local, bytes, barrier.actor, barrier.phase, operation,
                                  site);
  }
  std::memcpy(place.block.host(place.local), from, bytes);
  barrier.bytes -= bytes;
  if (barrier.bytes < 0 && barrier.pending == 0) {
    fail(Fault::kBarrier, operation, site,
         fmt::format("phase {} of mbarrier {:#x} gets {} bytes more than were announced", barrier.phase,
                     barrier.address, -barrier.bytes));
  }
  finish_phase(cluster, barrier);
}

}  // namespace wt::sim
