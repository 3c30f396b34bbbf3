// SPDX-License-Identifier: Apache-2.0
// runtime/sim/tma.cc - bulk copies: loads that complete on an mbarrier, stores and reductions that complete by group.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "runtime/sim/primitives.h"
#include "runtime/sim/report.h"
#include "runtime/sim/tensor_walk.h"
#include "target/number.h"

namespace wt::sim {
namespace {

MapImage image_of(const TensorMap& map, const char* operation, Site site) {
  if (reinterpret_cast<uintptr_t>(&map) % 64) {
    fail(Fault::kAlignment, operation, site, "the tensor map is not 64-byte aligned");
  }
  MapImage image;
  std::memcpy(&image, &map, sizeof image);
  if (image.magic != MapImage::kMagic) {
    fail(Fault::kUse, operation, site, "the parameter holds no tensor map that this device encoded");
  }
  return image;
}

void check_box(const Block& block, const MapImage& map, uint32_t address, bool im2col, int rank, const char* operation,
               Site site) {
  if (static_cast<bool>(map.im2col) != im2col || map.rank != rank) {
    fail(Fault::kUse, operation, site,
         fmt::format("an instruction for {} maps of rank {} meets a map that is {} of rank {}",
                     im2col ? "im2col" : "tiled", rank, map.im2col ? "im2col" : "tiled", map.rank));
  }
  check_shared(block, address, map.shared_bytes(), 128, operation, site);
}

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

void check_policy(CachePolicy policy, const char* operation, Site site) {
  if (policy == kCacheNormal || policy == kCacheStream) return;
  fail(Fault::kUse, operation, site, fmt::format("{:#x} is no cache policy", policy.bits));
}

// Measured on an H200: a start off 16 bytes, and a store with a coordinate below zero, are illegal instructions.
void check_corner(const MapImage& map, const int32_t* at, const char* operation, Site site) {
  const int64_t bytes = static_cast<int64_t>(at[0]) * map.element_bytes;
  if (bytes % 16) {
    fail(Fault::kUse, operation, site,
         fmt::format("the innermost coordinate {} is at byte {}, not a multiple of 16", at[0], bytes));
  }
}

void check_store_corner(const MapImage& map, const int32_t* at, const char* operation, Site site) {
  check_corner(map, at, operation, site);
  bool negative = false;
  for (int d = 0; d < map.rank; ++d) negative |= at[d] < 0;
  if (negative) {
    fail(Fault::kUse, operation, site, "the store reaches a negative coordinate; only loads may start before a tensor");
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

// The receiving mbarrier gets its bytes; in the phase they were announced for, or there is something to report.
void bytes_came(Cluster& cluster, Block& block, const AsyncWork& work) {
  Mbarrier* found = nullptr;
  for (Mbarrier& barrier : block.mbarriers) found = barrier.address == work.barrier ? &barrier : found;
  Mbarrier& barrier = *found;
  const char* operation = work.kind == AsyncWork::Kind::kPlainLoad ? "bulk_load" : "tma_load";
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

void issue_load(AsyncWork&& work, const char* operation, Site site) {
  Thread& thread = *current;
  Cluster& cluster = *thread.block->cluster;
  for (size_t rank = 0; rank < cluster.blocks.size(); ++rank) {
    if (!(work.blocks >> rank & 1)) continue;
    Block& block = static_cast<int>(rank) == thread.block->rank ? *thread.block
                                                                : remote_block(static_cast<u32>(rank), operation, site);
    Mbarrier& barrier = find_mbarrier(block, work.barrier, thread, operation, site);
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

void check_mask(const Cluster& cluster, u16 mask, const char* operation, Site site) {
  if (mask >> cluster.blocks.size()) {
    fail(Fault::kUse, operation, site,
         fmt::format("mask {:#x} names blocks that a cluster of {} does not have", mask, cluster.blocks.size()));
  }
}

template <class Small>
void add_small(uint8_t* to, Small value) {
  auto* word = reinterpret_cast<uint16_t*>(to);
  std::atomic_ref<uint16_t> target(*word);
  uint16_t old = target.load(), sum;
  do {
    sum = number::From<Small>::rounded(number::to_float(Small{old}) + number::to_float(value)).bits;
  } while (!target.compare_exchange_weak(old, sum));
}

void add_elements(const MapImage& map, uint8_t* to, const uint8_t* from, uint32_t bytes) {
  using Element = TensorMapSpec::Element;
  for (uint32_t i = 0; i < bytes; i += map.element_bytes) {
    switch (static_cast<Element>(map.element)) {
      case Element::kF32:
      case Element::kTf32: {
        float value;
        std::memcpy(&value, from + i, 4);
        std::atomic_ref<float>(*reinterpret_cast<float*>(to + i)).fetch_add(value);
        break;
      }
      case Element::kBf16:
      case Element::kF16: {
        uint16_t bits;
        std::memcpy(&bits, from + i, 2);
        if (static_cast<Element>(map.element) == Element::kBf16) {
          add_small(to + i, Bf16{bits});
        } else {
          add_small(to + i, F16{bits});
        }
        break;
      }
      case Element::kU8:
        break;  // refused at the issue
    }
  }
}

// Calls visit(address) for every cell of shared memory that the store reads.
template <class Visit>
void for_cells(const BulkStore& store, Visit visit) {
  const bool plain = store.kind == BulkStore::Kind::kPlain;
  const uint32_t pitch = plain ? store.bytes : store.map.pitch(), used = plain ? store.bytes : store.map.inner_bytes();
  for (uint32_t row = 0; row < store.bytes; row += pitch) {
    for (uint32_t at = 0; at < used; at += Shadow::kCell) {
      visit(plain ? store.from + at : swizzled(store.from + row + at, store.map.swizzle));
    }
  }
}

void issue_store(BulkStore&& store, const char* operation, Site site) {
  Thread& thread = *current;
  Block& block = *thread.block;
  Cluster& cluster = *block.cluster;
  if (cluster.plan->options.checks) {
    for_cells(store, [&](uint32_t address) {
      block.shadow.async_read(thread, block, address, operation, site);
      ++block.shadow.at(address).bulk_reads;
    });
  }
  store.site = site;
  thread.stores.push_back(std::move(store));
  if (cluster.completes_now()) read_store(thread, thread.stores.back());
}

}  // namespace

void complete_work(Cluster& cluster, size_t index) {
  AsyncWork work = std::move(cluster.in_flight[index]);
  if (index + 1 != cluster.in_flight.size()) cluster.in_flight[index] = std::move(cluster.in_flight.back());
  cluster.in_flight.pop_back();
  if (work.kind == AsyncWork::Kind::kCopyArrive) {
    retire_copies(*work.thread, work.copies, work.clock.seen[work.thread->warp->actor]);
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
  Clock& clock = warp.clock;
  const uint32_t own = warp.own();
  // Everything this thread knows of is handed over. Of its own warp: what other lanes wrote since the lanes last met is
  // theirs to fence.
  warp.unfenced &= ~(uint64_t{1} << current->lane);
  const uint32_t own_fenced = std::max(clock.fenced[warp.actor], warp.unfenced ? own - 1 : own);
  for (size_t i = 0; i < clock.seen.size(); ++i) clock.fenced[i] = std::max(clock.fenced[i], clock.seen[i]);
  clock.fenced[warp.actor] = own_fenced;
  if (!warp.unfenced) ++warp.own();
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
  issue_load(std::move(work), operation, site);
}

void bulk_load(SharedAddress to, const void* from, u32 bytes, SharedAddress barrier, Site site) {
  Block& block = *current->block;
  if (bytes == 0 || bytes % 16) {
    fail(Fault::kUse, "bulk_load", site, fmt::format("{} bytes are not a positive multiple of 16", bytes));
  }
  check_shared(block, to, bytes, 16, "bulk_load", site);
  check_global(*block.cluster, reinterpret_cast<uintptr_t>(from), bytes, 16, "bulk_load", site);
  AsyncWork work{};
  work.kind = AsyncWork::Kind::kPlainLoad;
  work.blocks = static_cast<uint16_t>(1u << block.rank);
  work.to = to;
  work.bytes = bytes;
  work.from = static_cast<const uint8_t*>(from);
  work.barrier = barrier;
  issue_load(std::move(work), "bulk_load", site);
}

void tma_store(const TmaStore& store, Site site) {
  const char* operation = store.add ? "tma_reduce_add" : "tma_store";
  Block& block = *current->block;
  count_step(*block.cluster, site);
  BulkStore bulk{};
  bulk.kind = store.add ? BulkStore::Kind::kTensorAdd : BulkStore::Kind::kTensor;
  bulk.map = image_of(*store.map, operation, site);
  check_box(block, bulk.map, store.from, false, store.rank, operation, site);
  std::copy(store.at, store.at + 5, bulk.at);
  check_store_corner(bulk.map, store.at, operation, site);
  if (store.add && bulk.map.element_bytes == 1) {
    fail(Fault::kUse, operation, site, "there is no reduction of 8-bit elements");
  }
  bulk.from = store.from;
  bulk.bytes = bulk.map.shared_bytes();
  issue_store(std::move(bulk), operation, site);
}

void bulk_store(void* to, SharedAddress from, u32 bytes, Site site) {
  Block& block = *current->block;
  if (bytes == 0 || bytes % 16) {
    fail(Fault::kUse, "bulk_store", site, fmt::format("{} bytes are not a positive multiple of 16", bytes));
  }
  check_shared(block, from, bytes, 16, "bulk_store", site);
  check_global(*block.cluster, reinterpret_cast<uintptr_t>(to), bytes, 16, "bulk_store", site);
  BulkStore bulk{};
  bulk.kind = BulkStore::Kind::kPlain;
  bulk.to = static_cast<uint8_t*>(to);
  bulk.from = from;
  bulk.bytes = bytes;
  issue_store(std::move(bulk), "bulk_store", site);
}

void read_store(Thread& thread, BulkStore& store) {
  if (store.read) return;
  store.read = true;
  const uint8_t* from = thread.block->host(store.from);
  store.data.assign(from, from + store.bytes);
  if (thread.block->cluster->completes_now()) write_store(thread, store);
}

void write_store(Thread& thread, BulkStore& store) {
  if (store.written) return;
  read_store(thread, store);
  if (store.written) return;  // read_store may go on by itself
  store.written = true;
  if (store.kind == BulkStore::Kind::kPlain) {
    std::memcpy(store.to, store.data.data(), store.bytes);
    return;
  }
  const MapImage& map = store.map;
  const uint32_t element = map.element_bytes, inner = map.inner_bytes();
  constexpr uint16_t kNoOffset[3] = {};
  walk(map, store.at, kNoOffset, [&](const Run& run) {
    for (uint32_t chunk = 0; chunk < inner; chunk += 16) {
      const uint32_t low = std::max(chunk, run.first * element), high = std::min(chunk + 16, run.end * element);
      if (low >= high) continue;
      const uint32_t place = swizzled(store.from + run.offset + chunk, map.swizzle) - store.from + (low - chunk);
      auto* to = reinterpret_cast<uint8_t*>(run.address) + low;
      if (store.kind == BulkStore::Kind::kTensorAdd) {
        add_elements(map, to, store.data.data() + place, high - low);
      } else {
        std::memcpy(to, store.data.data() + place, high - low);
      }
    }
  });
}

void bulk_commit(Site site) {
  count_step(*current->block->cluster, site);
  current->store_groups.push_back(current->stores.size());
}

void bulk_wait(int pending, bool read_only, Site site) {
  Thread& thread = *current;
  Block& block = *thread.block;
  count_step(*block.cluster, site);
  auto& groups = thread.store_groups;
  if (groups.size() <= static_cast<size_t>(pending)) return;
  const size_t done = groups.size() - static_cast<size_t>(pending), count = groups[done - 1];
  for (size_t i = 0; i < count; ++i) {
    BulkStore& store = thread.stores[i];
    read_store(thread, store);
    if (!store.released && block.cluster->plan->options.checks) {
      for_cells(store, [&](uint32_t address) {
        --block.shadow.at(address).bulk_reads;
        block.shadow.note_async_read(thread, address);
      });
    }
    store.released = true;
  }
  // What was only read stays, because its bytes may reach global memory later still; but not without end.
  constexpr size_t kMostKept = 64;
  if (read_only && count < kMostKept) return;
  for (size_t i = 0; i < count; ++i) write_store(thread, thread.stores[i]);
  thread.stores.erase(thread.stores.begin(), thread.stores.begin() + static_cast<std::ptrdiff_t>(count));
  groups.erase(groups.begin(), groups.begin() + static_cast<std::ptrdiff_t>(done));
  for (size_t& group : groups) group -= count;
}

}  // namespace wt::sim
