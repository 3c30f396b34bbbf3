// SPDX-License-Identifier: Apache-2.0
// runtime/sim/mbarrier.cc - barriers in shared memory that count arrivals and bytes.
#include <algorithm>
#include <cstring>

#include "runtime/sim/lane.h"
#include "runtime/sim/primitives.h"
#include "runtime/sim/report.h"

namespace wt::sim {
namespace {

// What an initialised mbarrier looks like in shared memory; a store over it is noticed at its next use.
struct Image {
  uint32_t magic;
  uint32_t slot;
};
constexpr uint32_t kMagic = 0x5742a117;

void arrive_at(Cluster& cluster, Mbarrier& barrier, Thread& thread, u32 bytes, const char* operation, Site site) {
  if (barrier.pending == 0) {
    fail(Fault::kBarrier, operation, site,
         fmt::format("mbarrier {:#x}: all {} arrivals of phase {} have come already (it still waits for {} bytes)",
                     barrier.address, barrier.count, barrier.phase, barrier.bytes));
  }
  release_lane(thread, barrier.arrived);
  barrier.bytes += bytes;
  --barrier.pending;
  finish_phase(cluster, barrier);
}

// What a phase released does not change until the next, so a warp that knows of the phase knows it all.
void join_released(Warp& warp, const Mbarrier& barrier) {
  if (warp.clock.seen[barrier.actor] == barrier.phase) return;
  warp.clock.join(barrier.released, warp.block->cluster->active_actors);
}

bool completed(const Mbarrier& barrier, u32 parity) { return (barrier.phase & 1) != parity; }

void check_parity(u32 parity, const char* operation, Site site) {
  if (parity > 1) fail(Fault::kBarrier, operation, site, fmt::format("parity {} is neither 0 nor 1", parity));
}

}  // namespace

Mbarrier& find_mbarrier(Block& block, SharedAddress address, const Thread& user, const char* operation, Site site) {
  check_shared(block, address, 8, 8, operation, site);
  Image image;
  std::memcpy(&image, block.host(address), sizeof image);
  if (image.magic != kMagic || image.slot >= block.mbarriers.size() || block.mbarriers[image.slot].address != address) {
    fail(Fault::kBarrier, operation, site,
         fmt::format("{} holds no initialised mbarrier: its init is missing, or something wrote over it",
                     shared_text(block, address).text));
  }
  Mbarrier& barrier = block.mbarriers[image.slot];
  const bool own = user.warp->actor == barrier.init_actor && user.lane == barrier.init_lane;
  const auto lanes = static_cast<uint32_t>(block.cluster->plan->target->warp_size);
  if (block.cluster->plan->options.checks && !barrier.published && !own &&
      !knows(user.warp->clock, static_cast<uint32_t>(barrier.init_actor), static_cast<uint32_t>(barrier.init_lane),
             lanes, barrier.init_clock)) {
    fail(Fault::kRace, operation, site,
         fmt::format("mbarrier {:#x} was initialised by {}, and nothing orders that before this use", address,
                     actor_text(*block.cluster, static_cast<uint32_t>(barrier.init_actor)).text));
  }
  return barrier;
}

void finish_phase(Cluster& cluster, Mbarrier& barrier) {
  if (barrier.pending || barrier.bytes) return;
  ++barrier.phase;
  barrier.pending = barrier.count;
  gather_lanes(cluster, barrier.arrived);
  barrier.released.join(barrier.arrived, cluster.active_actors);
  barrier.released.seen[barrier.actor] = barrier.phase;
  for (Thread* waiting : barrier.waiting) {
    join_released(*waiting->warp, barrier);
    cluster.wake(*waiting);
  }
  barrier.waiting.clear();
}

void mbarrier_init(SharedAddress address, u32 arrivals, Site site) {
  Thread& thread = *current;
  Block& block = *thread.block;
  count_step(*block.cluster, site);
  check_shared(block, address, 8, 8, "mbarrier_init", site);
  if (arrivals == 0 || arrivals > (1u << 20) - 1) {
    fail(Fault::kBarrier, "mbarrier_init", site, fmt::format("{} arrivals are outside 1 to 2^20 - 1", arrivals));
  }
  for (const Mbarrier& other : block.mbarriers) {
    if (other.address == address) {
      fail(Fault::kBarrier, "mbarrier_init", site,
           fmt::format("{} is initialised twice", shared_text(block, address).text));
    }
  }
  if (block.mbarriers.size() == Block::kMbarriers) {
    fail(Fault::kLimit, "mbarrier_init", site,
         fmt::format("the simulator has {} mbarriers per block", Block::kMbarriers));
  }
  const auto slot = static_cast<uint32_t>(block.mbarriers.size());
  if (block.cluster->plan->options.checks) block.shadow.write(thread, block, address, 8, "mbarrier_init", site);
  Mbarrier& barrier = block.mbarriers.emplace_back();
  barrier.address = address;
  barrier.count = barrier.pending = arrivals;
  barrier.actor = block.cluster->mbarrier_actor(block.rank, static_cast<int>(slot));
  block.cluster->active_actors =
      std::max(block.cluster->active_actors, block.cluster->mbarrier_actor(0, static_cast<int>(slot) + 1));
  barrier.arrived.reset(block.cluster->actors);
  barrier.released.reset(block.cluster->actors);
  barrier.init_actor = thread.warp->actor;
  barrier.init_lane = thread.lane;
  barrier.init_clock = touch(thread, true);
  const Image image{kMagic, slot};
  std::memcpy(block.host(address), &image, sizeof image);
}

void mbarrier_fence_init(Site site) {
  Block& block = *current->block;
  count_step(*block.cluster, site);
  for (Mbarrier& barrier : block.mbarriers) {
    if (barrier.init_actor == current->warp->actor) barrier.fenced = barrier.init_fenced = true;
  }
}

void mbarrier_arrive(SharedAddress address, u32 bytes, bool expects, Site site) {
  const char* operation = expects ? "mbarrier_arrive_expect" : "mbarrier_arrive";
  Thread& thread = *current;
  Block& block = *thread.block;
  count_step(*block.cluster, site);
  if (bytes > (1u << 20) - 1) {
    fail(Fault::kBarrier, operation, site, fmt::format("{} bytes are more than the 2^20 - 1 of one phase", bytes));
  }
  arrive_at(*block.cluster, find_mbarrier(block, address, thread, operation, site), thread, bytes, operation, site);
}

void mbarrier_arrive_remote(SharedAddress address, u32 rank, Site site) {
  constexpr const char* kOperation = "mbarrier_arrive_remote";
  Thread& thread = *current;
  Cluster& cluster = *thread.block->cluster;
  count_step(cluster, site);
  Block& block = remote_block(rank, kOperation, site);
  Mbarrier& barrier = find_mbarrier(block, address, thread, kOperation, site);
  if (!barrier.fenced) {
    fail(Fault::kRace, kOperation, site,
         fmt::format("mbarrier {:#x} of block {} was initialised without mbarrier_fence_init", address, rank));
  }
  arrive_at(cluster, barrier, thread, 0, kOperation, site);
}

void mbarrier_arrive_expect_remote(SharedAddress address, u32 rank, u32 bytes, Site site) {
  constexpr const char* kOperation = "mbarrier_arrive_expect_remote";
  Thread& thread = *current;
  Cluster& cluster = *thread.block->cluster;
  count_step(cluster, site);
  Block& block = remote_block(rank, kOperation, site);
  arrive_at(cluster, find_mbarrier(block, address, thread, kOperation, site), thread, bytes, kOperation, site);
}

bool mbarrier_try_wait(SharedAddress address, u32 parity, Site site) {
  Thread& thread = *current;
  Block& block = *thread.block;
  count_step(*block.cluster, site);
  check_parity(parity, "mbarrier_try_wait", site);
  Mbarrier& barrier = find_mbarrier(block, address, thread, "mbarrier_try_wait", site);
  if (!completed(barrier, parity)) yield_current(Wait::Kind::kSpin, address, site);
  if (!completed(barrier, parity)) return false;
  join_released(*thread.warp, barrier);
  return true;
}

void mbarrier_wait(SharedAddress address, u32 parity, Site site) {
  Thread& thread = *current;
  Block& block = *thread.block;
  count_step(*block.cluster, site);
  check_parity(parity, "mbarrier_wait", site);
  Mbarrier& barrier = find_mbarrier(block, address, thread, "mbarrier_wait", site);
  if (completed(barrier, parity)) {
    join_released(*thread.warp, barrier);
    return;
  }
  barrier.waiting.push_back(&thread);
  block_current({Wait::Kind::kMbarrier, address, parity, site});
}

}  // namespace wt::sim
