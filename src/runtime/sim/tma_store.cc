// SPDX-License-Identifier: Apache-2.0
// runtime/sim/tma_store.cc - bulk stores and reductions, which complete by group.
#include <atomic>
#include <cstring>

#include "runtime/sim/lane.h"
#include "runtime/sim/primitives.h"
#include "runtime/sim/report.h"
#include "runtime/sim/tensor_walk.h"
#include "runtime/sim/tma_checks.h"
#include "target/number.h"

namespace wt::sim {
namespace {

void check_store_corner(const MapImage& map, const int32_t* at, const char* operation, Site site) {
  check_corner(map, at, operation, site);
  bool negative = false;
  for (int d = 0; d < map.rank; ++d) negative |= at[d] < 0;
  if (negative) {
    fail(Fault::kUse, operation, site, "the store reaches a negative coordinate; only loads may start before a tensor");
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
    watch_write(thread, reinterpret_cast<uintptr_t>(store.to), store.bytes, Access::kBulk, "bulk_store", store.site);
    std::memcpy(store.to, store.data.data(), store.bytes);
    return;
  }
  const MapImage& map = store.map;
  const uint32_t element = map.element_bytes, inner = map.inner_bytes();
  constexpr uint16_t kNoOffset[3] = {};
  const bool adds = store.kind == BulkStore::Kind::kTensorAdd;
  walk(map, store.at, kNoOffset, [&](const Run& run) {
    if (run.first < run.end) {
      watch_write(thread, run.address + run.first * element, (run.end - run.first) * element,
                  adds ? Access::kAtomic : Access::kBulk, adds ? "tma_reduce_add" : "tma_store", store.site);
    }
    for (uint32_t chunk = 0; chunk < inner; chunk += 16) {
      const uint32_t low = std::max(chunk, run.first * element), high = std::min(chunk + 16, run.end * element);
      if (low >= high) continue;
      const uint32_t place = swizzled(store.from + run.offset + chunk, map.swizzle) - store.from + (low - chunk);
      auto* to = reinterpret_cast<uint8_t*>(run.address) + low;
      if (adds) {
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
