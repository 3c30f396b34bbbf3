// SPDX-License-Identifier: Apache-2.0
// runtime/sim/tma.cc - bulk loads, which complete on an mbarrier.
#include <algorithm>
#include <cstring>

#include "runtime/sim/lane.h"
#include "runtime/sim/primitives.h"
#include "runtime/sim/report.h"
#include "runtime/sim/tensor_walk.h"
#include "runtime/sim/tma_checks.h"

namespace wt::sim {
namespace {

// Where the walk starts must be a point of the bounding box's grid, and a tap's offset must fit its field.
void check_column(const MapImage& map, const int32_t* at, const uint16_t* offset, const char* operation, Site site) {
  const int spatial = map.rank - 2;
  const int limit = spatial == 1 ? 65535 : spatial == 2 ? 255 : 31;
  for (int d = 0; d < spatial; ++d) {
    const int64_t last = static_cast<int64_t>(map.size[d + 1]) + map.upper[d];
    if (at[d + 1] < map.lower[d] || at[d + 1] > last || (at[d + 1] - map.lower[d]) % map.element_stride[d + 1]) {
      fail(Fault::kUse, operation, site,
           fmt::format("the walk's start {} in spatial dimension {} is not in the bounding box {} to {} in steps of {}",
                       at[d + 1], d, map.lower[d], last, map.element_stride[d + 1]));
    }
    if (offset[d] > limit) {
      fail(Fault::kUse, operation, site,
           fmt::format("the tap's offset {} in spatial dimension {} is more than {}, the limit at rank {}", offset[d],
                       d, limit, map.rank));
    }
  }
}

// A load of tf32 elements rounds the four of a chunk to nearest, ties to even (unlike cvt.rna); measured on an H200.
void round_tf32(uint8_t* chunk) {
  uint32_t values[4];
  std::memcpy(values, chunk, 16);
  for (uint32_t& bits : values) {
    const bool finite = (bits & 0x7f800000u) != 0x7f800000u;
    if (finite) bits = (bits + 0xfffu + (bits >> 13 & 1)) & 0xffffe000u;
  }
  std::memcpy(chunk, values, 16);
}

void load_tensor(Block& block, const AsyncWork& work) {
  const MapImage& map = work.map;
  const uint32_t element = map.element_bytes, inner = map.inner_bytes();
  walk(map, work.at, work.offset, [&](const Run& run) {
    for (uint32_t chunk = 0; chunk < inner; chunk += 16) {
      uint8_t* to = block.host(swizzled(work.to + run.offset + chunk, map.swizzle));
      const uint32_t low = std::max(chunk, run.first * element), high = std::min(chunk + 16, run.end * element);
      if (low >= high) {
        std::memset(to, 0, 16);
        continue;
      }
      if (high - low < 16) std::memset(to, 0, 16);
      std::memcpy(to + (low - chunk), reinterpret_cast<const uint8_t*>(run.address) + low, high - low);
      if (static_cast<TensorMapSpec::Element>(map.element) == TensorMapSpec::Element::kTf32) round_tf32(to);
    }
  });
}

// The block whose mbarrier counts what `block` receives: of a pair the one of this parity.
Block& counting_block(Block& block, int parity) {
  return parity < 0 ? block : block.cluster->blocks[(block.rank & ~1) + parity];
}

// NaN until the copy lands, in the bytes that it will write: the rest of a narrow box's rows stays as it is.
void poison(Block& block, const AsyncWork& work) {
  const bool plain = work.kind == AsyncWork::Kind::kPlainLoad;
  const uint32_t inner = plain ? work.bytes : work.map.inner_bytes(), pitch = plain ? work.bytes : work.map.pitch();
  if (inner == pitch) {
    std::memset(block.host(work.to), 0xff, plain ? work.bytes : work.map.shared_bytes());
    return;
  }
  for (uint32_t row = 0; row < work.map.shared_bytes(); row += pitch) {
    for (uint32_t chunk = 0; chunk < inner; chunk += 16)
      std::memset(block.host(swizzled(work.to + row + chunk, work.map.swizzle)), 0xff, 16);
  }
}

}  // namespace

// In the phase they were announced for, or there is something to report.
void bytes_came(Cluster& cluster, Block& block, const AsyncWork& work) {
  Mbarrier* found = nullptr;
  for (Mbarrier& barrier : counting_block(block, work.parity).mbarriers)
    found = barrier.address == work.barrier ? &barrier : found;
  Mbarrier& barrier = *found;
  const char* operation = work.kind == AsyncWork::Kind::kPlainLoad ? "bulk_load"
                          : work.kind == AsyncWork::Kind::kAnswer  ? "take_cluster"
                                                                   : "tma_load";
  if (barrier.phase != work.phases[block.rank]) {
    report_for(
        *work.thread, Fault::kBarrier, operation, work.site,
        fmt::format("the {} bytes for phase {} of mbarrier {:#x} come in phase {}: fewer bytes were announced than "
                    "the copies of the phase bring",
                    work.bytes, work.phases[block.rank], barrier.address, barrier.phase));
    return;
  }
  barrier.bytes -= work.bytes;
  if (barrier.bytes < 0 && barrier.pending == 0) {
    report_for(*work.thread, Fault::kBarrier, operation, work.site,
               fmt::format("phase {} of mbarrier {:#x} gets {} bytes more than were announced", barrier.phase,
                           barrier.address, -barrier.bytes));
    return;
  }
  finish_phase(cluster, barrier);
}

namespace {

void issue_load(AsyncWork&& work, const char* operation, Site site) {
  Thread& thread = *current;
  Cluster& cluster = *thread.block->cluster;
  for (size_t rank = 0; rank < cluster.blocks.size(); ++rank) {
    if (!(work.blocks >> rank & 1)) continue;
    Block& block = static_cast<int>(rank) == thread.block->rank ? *thread.block
                                                                : remote_block(static_cast<u32>(rank), operation, site);
    Block& counts = counting_block(block, work.parity);
    if (&counts != &block && &counts != thread.block) remote_block(static_cast<u32>(counts.rank), operation, site);
    Mbarrier& barrier = find_mbarrier(counts, work.barrier, thread, operation, site);
    if (!barrier.fenced) {
      fail(Fault::kProxy, operation, site,
           fmt::format("mbarrier {:#x} was initialised without mbarrier_fence_init after it", work.barrier));
    }
    work.phases[rank] = barrier.phase;
    const uint32_t span = work.kind == AsyncWork::Kind::kTensorLoad ? work.map.shared_bytes() : work.bytes;
    if (cluster.plan->options.checks) {
      block.shadow.bulk_write(thread, block, work.to, span, barrier.actor, barrier.phase, operation, site);
    }
    poison(block, work);
  }
  work.thread = &thread;
  work.site = site;
  cluster.in_flight.push_back(std::move(work));
  if (cluster.early()) {
    complete_work(cluster, cluster.in_flight.size() - 1);
    if (!cluster.report.empty()) block_current({Wait::Kind::kRunning, 0, 0, site});
  }
}

// What the box reads of its tensor must be there.
void watch_box(Thread& thread, const AsyncWork& work, const char* operation, Site site) {
  Cluster& cluster = *thread.block->cluster;
  if (!may_be_unordered(cluster, work.map.base)) return;
  const uint32_t element = work.map.element_bytes;
  walk(work.map, work.at, work.offset, [&](const Run& run) {
    if (run.first >= run.end) return;
    watch_read(thread, run.address + run.first * element, (run.end - run.first) * element, Access::kPlain, operation,
               site);
  });
}

// The barrier of a copy for a pair is either block's, by an address of the cluster's.
void set_pair_barrier(AsyncWork& work, const char* operation, Site site) {
  const Block& block = *current->block;
  if (!block.cluster->has_tensor || block.cluster->blocks.size() % 2) {
    fail(Fault::kUse, operation, site,
         fmt::format("a cluster of {} blocks on {} has no pairs", block.cluster->blocks.size(),
                     block.cluster->plan->target->name));
  }
  const u32 rank_plus_one = work.barrier >> 24;
  const int rank = rank_plus_one ? static_cast<int>(rank_plus_one) - 1 : block.rank;
  if (rank / 2 != block.rank / 2) {
    fail(Fault::kUse, operation, site,
         fmt::format("the barrier is of the cluster's block {}, which is not of this block's pair", rank));
  }
  work.barrier &= 0xffffff;
  work.parity = rank % 2;
}

void check_mask(const Cluster& cluster, u16 mask, const char* operation, Site site) {
  if (mask >> cluster.blocks.size()) {
    fail(Fault::kUse, operation, site,
         fmt::format("mask {:#x} names blocks that a cluster of {} does not have", mask, cluster.blocks.size()));
  }
}

}  // namespace

void complete_work(Cluster& cluster, size_t index) {
  AsyncWork work = std::move(cluster.in_flight[index]);
  if (index + 1 != cluster.in_flight.size()) cluster.in_flight[index] = std::move(cluster.in_flight.back());
  cluster.in_flight.pop_back();
  if (work.kind == AsyncWork::Kind::kCommit) return complete_commit(cluster, work);
  if (work.kind == AsyncWork::Kind::kAnswer) return complete_answer(cluster, work);
  if (work.kind == AsyncWork::Kind::kCopyArrive) {
    retire_copies(*work.thread, work.copies, work.stamp);
    for (Mbarrier& barrier : work.thread->block->mbarriers) {
      if (barrier.address != work.barrier) continue;
      if (barrier.pending == 0) {
        report_for(*work.thread, Fault::kBarrier, "copy_async_arrive", work.site,
                   fmt::format("mbarrier {:#x}: all {} arrivals of phase {} have come already", barrier.address,
                               barrier.count, barrier.phase));
        return;
      }
      --barrier.pending;
      barrier.arrived.join(work.clock, cluster.active_actors);
      finish_phase(cluster, barrier);
    }
    return;
  }
  for (Block& block : cluster.blocks) {
    if (!(work.blocks >> block.rank & 1)) continue;
    if (work.kind == AsyncWork::Kind::kPlainLoad) {
      std::memcpy(block.host(work.to), work.from, work.bytes);
    } else {
      load_tensor(block, work);
    }
    bytes_came(cluster, block, work);
  }
}

void fence_async_shared(Site site) {
  Warp& warp = *current->warp;
  count_step(*current->block->cluster, site);
  fence_lane(*current);
  for (Mbarrier& barrier : current->block->mbarriers) barrier.fenced |= barrier.init_actor == warp.actor;
}

void tma_prefetch(const TensorMap& map, Site site) {
  count_step(*current->block->cluster, site);
  image_of(map, "tma_prefetch", site);
}

void tma_load(const TmaLoad& load, Site site) {
  const char* operation = load.im2col ? (load.mask ? "tma_load_im2col_multicast" : "tma_load_im2col")
                                      : (load.mask ? "tma_load_multicast" : "tma_load");
  Block& block = *current->block;
  count_step(*block.cluster, site);
  AsyncWork work{};
  work.kind = AsyncWork::Kind::kTensorLoad;
  work.map = image_of(*load.map, operation, site);
  check_box(block, work.map, load.to, load.im2col, load.rank, operation, site);
  std::copy(load.at, load.at + 5, work.at);
  std::copy(load.offset, load.offset + 3, work.offset);
  check_corner(work.map, load.at, operation, site);
  check_policy(load.policy, operation, site);
  if (load.im2col) check_column(work.map, load.at, load.offset, operation, site);
  check_mask(*block.cluster, load.mask, operation, site);
  work.blocks = static_cast<uint16_t>(load.mask ? load.mask : 1u << block.rank);
  work.to = load.to;
  work.bytes = work.map.bytes();
  work.barrier = load.barrier;
  if (load.pair) set_pair_barrier(work, operation, site);
  watch_box(*current, work, operation, site);
  issue_load(std::move(work), operation, site);
}

void bulk_load(SharedAddress to, const void* from, u32 bytes, SharedAddress barrier, Site site) {
  Block& block = *current->block;
  if (bytes == 0 || bytes % 16) {
    fail(Fault::kUse, "bulk_load", site, fmt::format("{} bytes are not a positive multiple of 16", bytes));
  }
  check_shared(block, to, bytes, 16, "bulk_load", site);
  check_global(*block.cluster, reinterpret_cast<uintptr_t>(from), bytes, 16, "bulk_load", site);
  watch_read(*current, reinterpret_cast<uintptr_t>(from), bytes, Access::kPlain, "bulk_load", site);
  AsyncWork work{};
  work.kind = AsyncWork::Kind::kPlainLoad;
  work.blocks = static_cast<uint16_t>(1u << block.rank);
  work.to = to;
  work.bytes = bytes;
  work.from = static_cast<const uint8_t*>(from);
  work.barrier = barrier;
  issue_load(std::move(work), "bulk_load", site);
}

}  // namespace wt::sim
