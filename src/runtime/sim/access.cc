// SPDX-License-Identifier: Apache-2.0
// runtime/sim/access.cc - identity, and loads, stores and atomics on shared and global memory.
#include <algorithm>
#include <cstring>

#include "runtime/sim/lane.h"
#include "runtime/sim/primitives.h"
#include "runtime/sim/report.h"

namespace wt::sim {

namespace {

constexpr u32 kLongestBuffer = 1u << 31;  // offsets from here on are outside every buffer (target/*/buffer.h)

[[noreturn, gnu::noinline, gnu::cold]] void fail_shared(const Block& block, u32 address, u32 bytes, u32 alignment,
                                                        const char* operation, Site site) {
  if (address % alignment) {
    fail(Fault::kAlignment, operation, site,
         fmt::format("{} is not a multiple of the access's {} bytes", shared_text(block, address).text, alignment));
  }
  fail(Fault::kBounds, operation, site,
       fmt::format("{}: {} bytes do not lie in the block's {} bytes of shared memory", shared_text(block, address).text,
                   bytes, block.high - block.base));
}

std::string outside_text(const Cluster& cluster, uintptr_t address, u32 bytes) {
  return fmt::format("{} bytes at global address {:#x}: {}", bytes, address,
                     describe_address(cluster.plan->buffers, address + bytes - 1));
}

[[noreturn, gnu::noinline, gnu::cold]] void fail_global(const Cluster& cluster, uintptr_t address, u32 bytes,
                                                        u32 alignment, const char* operation, Site site) {
  if (address % alignment) {
    fail(Fault::kAlignment, operation, site,
         fmt::format("global address {:#x} is not a multiple of the access's {} bytes", address, alignment));
  }
  fail(Fault::kBounds, operation, site, outside_text(cluster, address, bytes));
}

}  // namespace

void check_shared(const Block& block, u32 address, u32 bytes, u32 alignment, const char* operation, Site site) {
  if (address % alignment || address < block.base || address > block.high || bytes > block.high - address)
      [[unlikely]] {
    fail_shared(block, address, bytes, alignment, operation, site);
  }
}

void check_global(Cluster& cluster, uintptr_t address, u32 bytes, u32 alignment, const char* operation, Site site) {
  count_step(cluster, site);
  if (address % alignment) [[unlikely]]
    fail_global(cluster, address, bytes, alignment, operation, site);
  if (address >= cluster.last_buffer.low && address + bytes <= cluster.last_buffer.high) return;
  const auto& buffers = cluster.plan->buffers;
  const auto after = std::upper_bound(buffers.begin(), buffers.end(), address,
                                      [](uintptr_t a, const Buffer& buffer) { return a < buffer.low; });
  if (after == buffers.begin() || address + bytes > (after - 1)->high) [[unlikely]] {
    fail_global(cluster, address, bytes, alignment, operation, site);
  }
  cluster.last_buffer = *(after - 1);
}

int thread_index() { return current->index; }
Int3 block_index() { return current->block->index; }
Int3 grid_size() {
  const auto& grid = current->block->cluster->plan->shape.grid;
  return {static_cast<i32>(grid[0]), static_cast<i32>(grid[1]), static_cast<i32>(grid[2])};
}
SharedAddress shared_base() { return current->block->base; }

// A read inside one cell, of bytes whose write all lanes know, by a warp that read it before at the same time; false:
// the shadow must look closer.
static bool read_again(Thread& thread, Block& block, u32 address, u32 bytes) {
  const u32 first = address % Shadow::kCell;
  if (first + bytes > Shadow::kCell) return false;
  const Warp& warp = *thread.warp;
  const auto actor = static_cast<uint32_t>(warp.actor);
  const Cell& cell = block.shadow.at(address);
  const uint16_t mask = byte_mask(first, first + bytes);
  if (!cell.readers || cell.writer == Writer::kCopy || (mask & ~cell.ever)) return false;
  if (cell.write_clock > warp.clock.seen[cell.write_actor]) return false;
  Readers& by = block.shadow.readers_of(address);
  if (by.actor[0] != actor || by.clock[0] != warp.now[thread.lane]) return false;
  by.mask[0] |= mask;
  block.shadow.reader_lanes_of(address).of[0] |= uint64_t{1} << thread.lane;
  return true;
}

static const void* read_checked(SharedAddress address, u32 bytes, u32 alignment, const char* operation, Site site,
                                bool peeks) {
  Thread& thread = *current;
  Block& block = *thread.block;
  count_step(*block.cluster, site);
  check_shared(block, address, bytes, alignment, operation, site);
  if (block.cluster->plan->options.checks && !read_again(thread, block, address, bytes))
    block.shadow.read(thread, block, address, bytes, operation, site, peeks);
  return block.host(address);
}

const void* read_shared(SharedAddress address, u32 bytes, u32 alignment, Site site) {
  return read_checked(address, bytes, alignment, "load_shared", site, false);
}

const void* peek_shared(SharedAddress address, u32 bytes, u32 alignment, Site site) {
  return read_checked(address, bytes, alignment, "peek_shared", site, true);
}

void* write_shared(SharedAddress address, u32 bytes, u32 alignment, Site site) {
  Thread& thread = *current;
  Block& block = *thread.block;
  count_step(*block.cluster, site);
  check_shared(block, address, bytes, alignment, "store_shared", site);
  if (block.cluster->plan->options.checks) block.shadow.write(thread, block, address, bytes, "store_shared", site);
  return block.host(address);
}

const void* read_global(const void* address, u32 bytes, u32 alignment, Site site) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  check_global(*current->block->cluster, at, bytes, alignment, "load_global", site);
  watch_read(*current, at, bytes, Access::kPlain, "load_global", site);
  return address;
}

void* write_global(void* address, u32 bytes, u32 alignment, Site site) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  check_global(*current->block->cluster, at, bytes, alignment, "store_global", site);
  watch_write(*current, at, bytes, Access::kPlain, "store_global", site);
  return address;
}

// WHY not watched: no value comes of it.
void prefetch_global(const void* address, Site site) {
  check_global(*current->block->cluster, reinterpret_cast<uintptr_t>(address), 1, 1, "prefetch_l2", site);
}

void fence_global(Site site) {
  const Cluster& cluster = *current->block->cluster;
  count_step(*current->block->cluster, site);
  if (cluster.plan->watched) cluster.plan->fences[cluster.number - cluster.plan->first_cluster] = 1;
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

void wait_prerequisites(Site site) {
  Cluster& cluster = *current->block->cluster;
  count_step(cluster, site);
  current->warp->clock.seen[cluster.prerequisites_actor()] = 1;
  if (cluster.plan->watched) cluster.plan->waited->store(true, std::memory_order_relaxed);
}

// Each word is judged by where it starts, as the hardware's range check does for raw buffers.
void read_buffer(void* to, const void* base, u32 range, u32 offset, u32 bytes, Site site) {
  Cluster& cluster = *current->block->cluster;
  const auto low = reinterpret_cast<uintptr_t>(base);
  const u32 word = std::min(bytes, 4u);
  if (low % 4 || range > kLongestBuffer) {
    fail(Fault::kUse, "load_buffer", site,
         fmt::format("a buffer of {} bytes at {:#x}: buffers start at a multiple of 4 and have at most {} bytes", range,
                     low, kLongestBuffer));
  }
  if (offset % word) {
    fail(Fault::kAlignment, "load_buffer", site,
         fmt::format("offset {} of a load of {} bytes is not a multiple of {}", offset, bytes, word));
  }
  for (u32 at = 0; at < bytes; at += word) {
    char* const part = static_cast<char*>(to) + at;
    const u64 start = u64{offset} + at;
    if (start >= range) {
      count_step(cluster, site);
      std::memset(part, 0, word);
      continue;
    }
    if (start + word > range) {
      fail(Fault::kBounds, "load_buffer", site,
           fmt::format("the last word at offset {} starts inside the buffer's {} bytes and ends beyond them", start,
                       range));
    }
    check_global(cluster, low + start, word, word, "load_buffer", site);
    watch_read(*current, low + start, word, Access::kPlain, "load_buffer", site);
    std::memcpy(part, reinterpret_cast<const void*>(low + start), word);
  }
}

float atomic_add_float(float* address, float value, Site site) {
  check_global(*current->block->cluster, reinterpret_cast<uintptr_t>(address), 4, 4, "atomic_add", site);
  watch_write(*current, reinterpret_cast<uintptr_t>(address), 4, Access::kAtomic, "atomic_add", site);
  return std::atomic_ref<float>(*address).fetch_add(value);
}

u32 atomic_add(u32* address, u32 value, Site site) {
  check_global(*current->block->cluster, reinterpret_cast<uintptr_t>(address), 4, 4, "atomic_add", site);
  watch_write(*current, reinterpret_cast<uintptr_t>(address), 4, Access::kAtomic, "atomic_add", site);
  return std::atomic_ref<u32>(*address).fetch_add(value);
}

u32 atomic_max(u32* address, u32 value, Site site) {
  check_global(*current->block->cluster, reinterpret_cast<uintptr_t>(address), 4, 4, "atomic_max", site);
  watch_write(*current, reinterpret_cast<uintptr_t>(address), 4, Access::kAtomic, "atomic_max", site);
  std::atomic_ref<u32> target(*address);
  u32 old = target.load();
  while (old < value && !target.compare_exchange_weak(old, value)) {
  }
  return old;
}

u32 load_acquire(const u32* address, Site site) {
  check_global(*current->block->cluster, reinterpret_cast<uintptr_t>(address), 4, 4, "load_acquire", site);
  fence_global(site);
  watch_read(*current, reinterpret_cast<uintptr_t>(address), 4, Access::kAtomic, "load_acquire", site);
  yield_current(Wait::Kind::kSpin, reinterpret_cast<uint64_t>(address), site);
  return std::atomic_ref<u32>(*const_cast<u32*>(address)).load(std::memory_order_acquire);
}

void store_release(u32* address, u32 value, Site site) {
  check_global(*current->block->cluster, reinterpret_cast<uintptr_t>(address), 4, 4, "store_release", site);
  fence_global(site);
  watch_write(*current, reinterpret_cast<uintptr_t>(address), 4, Access::kAtomic, "store_release", site);
  std::atomic_ref<u32>(*address).store(value, std::memory_order_release);
}

}  // namespace wt::sim
