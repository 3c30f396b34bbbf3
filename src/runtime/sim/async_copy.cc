// SPDX-License-Identifier: Apache-2.0
// runtime/sim/async_copy.cc - cp.async and buffer loads to the LDS: copies of one thread that land between their issue
// and its wait.
#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/sim/lane.h"
#include "runtime/sim/primitives.h"
#include "runtime/sim/report.h"

namespace wt::sim {
namespace {

void land(Block& block, AsyncCopy& copy) {
  if (copy.landed) return;
  copy.landed = true;
  uint8_t* to = block.host(copy.to);
  if (copy.valid > 0) std::memcpy(to, copy.from, copy.valid);
  std::memset(to + copy.valid, 0, copy.bytes - copy.valid);
}

}  // namespace

void land_copies(Thread& thread, size_t count) {
  for (size_t i = 0; i < count; ++i) land(*thread.block, thread.copies[i]);
}

// Copies that an arrival waits for are published by the first such arrival, also where something later retires them.
void retire_copies(Thread& thread, size_t count, uint32_t clock) {
  land_copies(thread, count);
  if (!thread.block->cluster->plan->options.checks) return;
  for (size_t done = 0; done < count;) {
    size_t next = count;
    uint32_t published = clock;
    for (const AsyncWork& work : thread.block->cluster->in_flight) {
      if (work.kind != AsyncWork::Kind::kCopyArrive || work.thread != &thread) continue;
      if (work.copies <= done || work.copies > next) continue;
      const uint32_t arrived = work.stamp;
      if (work.copies == next && arrived > published) continue;  // no copy came between
      next = work.copies;
      published = arrived;
    }
    for (; done < next; ++done) {
      AsyncCopy& copy = thread.copies[done];
      if (copy.retired) continue;
      copy.retired = true;
      thread.block->shadow.copy_landed(*thread.warp, copy.to, copy.bytes, published);
    }
  }
}

void copy_async(SharedAddress to, const void* from, int bytes, int valid, Site site) {
  Thread& thread = *current;
  Block& block = *thread.block;
  Cluster& cluster = *block.cluster;
  count_step(cluster, site);
  const auto size = static_cast<u32>(bytes);
  check_shared(block, to, size, size, "copy_async", site);
  if (valid < 0 || valid > bytes) {
    fail(Fault::kUse, "copy_async", site, fmt::format("{} valid bytes of a copy of {}", valid, bytes));
  }
  const auto address = reinterpret_cast<uintptr_t>(from);
  if (address % size) {
    fail(Fault::kAlignment, "copy_async", site,
         fmt::format("global address {:#x} is not a multiple of the copy's {} bytes", address, bytes));
  }
  if (valid > 0) {
    check_global(cluster, address, static_cast<u32>(valid), 1, "copy_async", site);
    watch_read(thread, address, static_cast<u32>(valid), Access::kPlain, "copy_async", site);
  }
  if (cluster.plan->options.checks) block.shadow.copy_write(thread, block, to, size, site);
  AsyncCopy copy{to, static_cast<const uint8_t*>(from), static_cast<uint8_t>(bytes), static_cast<uint8_t>(valid), site};
  std::memset(block.host(to), 0xff, size);  // until it lands
  if (cluster.completes_now()) land(block, copy);
  thread.copies.push_back(copy);
}

// vmcnt counts instructions of a wave: every copy is a group of its own, and a wait leaves the last so many under way.
void copy_buffer(SharedAddress to, const void* base, u32 range, u32 offset, u32 bytes, Site site) {
  Thread& thread = *current;
  Block& block = *thread.block;
  Cluster& cluster = *block.cluster;
  const auto wave = static_cast<SharedAddress>(vote(Vote::kUniform, to, 0, site));
  const SharedAddress own = wave + static_cast<u32>(thread.lane) * bytes;
  check_shared(block, own, bytes, bytes, "copy_buffer", site);
  // WHY read now: it checks range and alignment as every buffer load does. Words beyond the range are zeros.
  std::array<uint8_t, 16> now;
  read_buffer(now.data(), base, range, offset, bytes, site);
  const u32 valid = offset >= range ? 0 : std::min(bytes, range - offset);
  if (cluster.plan->options.checks) block.shadow.copy_write(thread, block, own, bytes, site);
  AsyncCopy copy{own, static_cast<const uint8_t*>(base) + (valid ? offset : 0), static_cast<uint8_t>(bytes),
                 static_cast<uint8_t>(valid), site};
  std::memset(block.host(own), 0xff, bytes);  // until it lands
  if (cluster.completes_now()) land(block, copy);
  thread.copies.push_back(copy);
  thread.copy_groups.push_back(thread.copies.size());
}

void copy_async_commit(Site site) {
  count_step(*current->block->cluster, site);
  current->copy_groups.push_back(current->copies.size());
}

void copy_async_wait(int pending, Site site) {
  Thread& thread = *current;
  count_step(*thread.block->cluster, site);
  auto& groups = thread.copy_groups;
  if (groups.size() <= static_cast<size_t>(pending)) return;
  const size_t done = groups.size() - static_cast<size_t>(pending), count = groups[done - 1];
  retire_copies(thread, count, touch(thread, true));
  // An arrival that still waits for these copies counts from the front.
  for (AsyncWork& work : thread.block->cluster->in_flight) {
    if (work.kind == AsyncWork::Kind::kCopyArrive && work.thread == &thread)
      work.copies -= std::min(work.copies, count);
  }
  thread.copies.erase(thread.copies.begin(), thread.copies.begin() + static_cast<std::ptrdiff_t>(count));
  groups.erase(groups.begin(), groups.begin() + static_cast<std::ptrdiff_t>(done));
  for (size_t& group : groups) group -= count;
}

void copy_async_arrive(SharedAddress address, Site site) {
  Thread& thread = *current;
  Block& block = *thread.block;
  Cluster& cluster = *block.cluster;
  count_step(cluster, site);
  find_mbarrier(block, address, thread, "copy_async_arrive", site);
  AsyncWork work{};
  work.kind = AsyncWork::Kind::kCopyArrive;
  work.barrier = address;
  work.copies = thread.copies.size();
  work.clock.reset(cluster.actors);
  work.stamp = touch(thread, true);
  release_lane(thread, work.clock);
  work.thread = &thread;
  work.site = site;
  cluster.in_flight.push_back(std::move(work));
  if (cluster.early()) {
    complete_work(cluster, cluster.in_flight.size() - 1);
    if (!cluster.report.empty()) block_current({Wait::Kind::kRunning, 0, 0, site});
  }
}

}  // namespace wt::sim
