// SPDX-License-Identifier: Apache-2.0
// runtime/sim/wgmma.cc - asynchronous matrix products of four warps.
#include "runtime/sim/wgmma.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "runtime/sim/multiply.h"
#include "runtime/sim/operand.h"
#include "runtime/sim/primitives.h"
#include "runtime/sim/report.h"

namespace wt::sim {
namespace {

constexpr uint32_t kInFlight = 0x7fc0'dead;  // a NaN that no product makes

Warpgroup& warpgroup_of(const Thread& thread) {
  Block& block = *thread.block;
  const size_t index = static_cast<size_t>(thread.index) / kWarpgroup;
  if (block.warpgroups.size() <= index) block.warpgroups.resize(index + 1);
  if (!block.warpgroups[index]) block.warpgroups[index] = std::make_unique<Warpgroup>();
  return *block.warpgroups[index];
}

Warp& leader_of(const Thread& thread) {
  return thread.block->warps[static_cast<size_t>(thread.warp->index) & ~size_t{3}];
}

void check_descriptor(u64 descriptor, const char* which, Site site) {
  if (descriptor >> 49 & 7) {
    fail(Fault::kUse, "wgmma", site,
         fmt::format("the descriptor of {} has a base offset, which the simulator does not know", which));
  }
}

void check_call(const Thread& thread, const WgmmaCall& call, Site site) {
  if (thread.index / kWarpgroup * kWarpgroup + kWarpgroup > static_cast<int>(thread.block->threads.size())) {
    fail(Fault::kUse, "wgmma", site, "the block's last threads do not form a warpgroup of 128");
  }
  if (!thread.wgmma_fenced) {
    fail(Fault::kUse, "wgmma", site, "no wgmma_fence since the last wgmma_wait: registers may not have arrived");
  }
  if (!call.registers) check_descriptor(call.descriptor_a, "A", site);
  check_descriptor(call.descriptor_b, "B", site);
}

bool same(const WgmmaCall& a, const WgmmaCall& b) {
  return a.type_a == b.type_a && a.type_b == b.type_b && a.n == b.n && a.mn_major_a == b.mn_major_a &&
         a.mn_major_b == b.mn_major_b && a.accumulate == b.accumulate && !a.registers == !b.registers &&
         (a.registers || a.descriptor_a == b.descriptor_a) && a.descriptor_b == b.descriptor_b;
}

// Raises `needs` to what reading these chunks takes.
void collect_needs(Block& block, const std::vector<uint32_t>& chunks, Clock& needs, Site site) {
  for (const uint32_t address : chunks) {
    const Cell& cell = block.shadow.at(address);
    if (cell.writer == Writer::kNone) {
      fail(Fault::kRace, "wgmma", site,
           fmt::format("{} is read but was never written", shared_text(block, address).text));
    }
    if (cell.writer == Writer::kCopy) {
      fail(Fault::kRace, "wgmma", site,
           fmt::format("{} is read while a copy_async to it is in flight", shared_text(block, address).text));
    }
    auto& clock = cell.writer == Writer::kGeneric ? needs.fenced : needs.seen;
    clock[cell.write_actor] = std::max(clock[cell.write_actor], cell.write_clock);
  }
}

// One report for the whole operand, with the first chunk that shows the fault.
void check_needs(Thread& thread, const WgmmaOperation& operation, Site site) {
  const Clock& known = thread.warp->clock;
  bool covered = true;
  for (size_t i = 0; i < known.seen.size(); ++i) {
    covered &= operation.needs.seen[i] <= known.seen[i] && operation.needs.fenced[i] <= known.fenced[i];
  }
  if (covered) return;
  for (const auto* chunks : {&operation.cells_a, &operation.cells_b}) {
    for (const uint32_t address : *chunks)
      thread.block->shadow.async_read(thread, *thread.block, address, "wgmma", site);
  }
}

// The group's tile that this thread's array `d` belongs to, or a new one.
Accumulators& accumulators_of(Warpgroup& group, int lane, const float* d, int n) {
  for (const auto& owned : group.owned) {
    if (owned->d[lane] == d && owned->n == n) return *owned;
  }
  auto fresh = std::make_unique<Accumulators>();
  fresh->n = n;
  fresh->tile.assign(static_cast<size_t>(64) * n, 0.f);
  group.owned.push_back(std::move(fresh));
  return *group.owned.back();
}

WgmmaOperation& issue(Thread& thread, Warpgroup& group, const WgmmaCall& call, Site site) {
  Block& block = *thread.block;
  constexpr size_t kMostInFlight = 512;
  if (group.queue.size() >= kMostInFlight) {
    fail(Fault::kLimit, "wgmma", site,
         fmt::format("the simulator holds {} products in flight a warpgroup", kMostInFlight));
  }
  WgmmaOperation& operation = group.queue.emplace_back();
  operation.call = call;
  operation.site = site;
  operation.accumulators = &accumulators_of(group, thread.index % kWarpgroup, call.d, call.n);
  operation.accumulators->users = group.first + group.queue.size();
  if (call.registers) operation.registers.resize(kWarpgroup);
  const auto list = [&](u64 descriptor, bool mn_major, int rows, DataType type, std::vector<uint32_t>& chunks) {
    const Operand operand(descriptor, mn_major, rows, type);
    operand.for_chunks([&](uint32_t address) {
      check_shared(block, address, 16, 16, "wgmma", site);
      chunks.push_back(address);
    });
  };
  if (!call.registers) list(call.descriptor_a, call.mn_major_a, 64, call.type_a, operation.cells_a);
  list(call.descriptor_b, call.mn_major_b, call.n, call.type_b, operation.cells_b);
  if (block.cluster->plan->options.checks) {
    operation.needs.reset(block.cluster->actors);
    collect_needs(block, operation.cells_a, operation.needs, site);
    collect_needs(block, operation.cells_b, operation.needs, site);
  }
  return operation;
}

// Accumulator i of a thread in a (n, 64) tile.
int tile_index(int thread, int i) {
  const int row = thread / 32 * 16 + thread % 32 / 4 + 8 * (i / 2 % 2);
  return (i / 4 * 8 + thread % 4 * 2 + i % 2) * 64 + row;
}

// The thread's accumulators become the group's until the products that own them are done.
void take(Accumulators& accumulators, int lane, float* d) {
  const int n = accumulators.n;
  accumulators.d[lane] = d;
  for (int i = 0; i < n / 2; ++i) {
    accumulators.tile[tile_index(lane, i)] = d[i];
    d[i] = std::bit_cast<float>(kInFlight);
  }
}

void give_back(Block& block, int first_thread, Accumulators& accumulators, Site site) {
  const int n = accumulators.n;
  for (int lane = 0; lane < kWarpgroup; ++lane) {
    float* d = accumulators.d[lane];
    for (int i = 0; i < n / 2; ++i) {
      if (std::bit_cast<uint32_t>(d[i]) != kInFlight && block.cluster->plan->options.checks) {
        fail(Fault::kRace, "wgmma", site,
             fmt::format("thread {} wrote accumulator {} while the product that owns it was in flight",
                         first_thread + lane, i));
      }
      d[i] = accumulators.tile[tile_index(lane, i)];
    }
  }
}

// What the product read must still be what it was issued on; then it counts as read by the group's first warp.
void check_unchanged(Thread& thread, const WgmmaOperation& operation, Thread& leader) {
  Block& block = *thread.block;
  for (const auto* chunks : {&operation.cells_a, &operation.cells_b}) {
    for (const uint32_t address : *chunks) {
      const Cell& cell = block.shadow.at(address);
      const auto& clock = cell.writer == Writer::kGeneric ? operation.needs.fenced : operation.needs.seen;
      if (cell.write_clock > clock[cell.write_actor] || cell.writer == Writer::kCopy) {
        fail(Fault::kRace, "wgmma", operation.site,
             fmt::format("{} was overwritten by {} while this product, which reads it, was in flight",
                         shared_text(block, address).text, actor_text(*block.cluster, cell.write_actor).text));
      }
      block.shadow.note_async_read(leader, address);
    }
  }
}

// Consecutive products into one tile are one longer product.
constexpr int kMostSteps = 16;

void execute(Thread& thread, Warpgroup& group, uint64_t end) {
  static thread_local std::vector<float> a, b;
  Block& block = *thread.block;
  const int first_thread = thread.index / kWarpgroup * kWarpgroup;
  Thread& leader = block.threads[static_cast<size_t>(first_thread)];
  size_t i = 0;
  const size_t count = static_cast<size_t>(end - group.first);
  while (i < count) {
    WgmmaOperation& head = group.queue[i];
    size_t next = i + 1;
    while (next < count && next - i < kMostSteps && group.queue[next].accumulators == head.accumulators &&
           group.queue[next].call.accumulate && group.queue[next].call.type_a == head.call.type_a &&
           group.queue[next].call.type_b == head.call.type_b) {
      ++next;
    }
    const int n = head.call.n, k_step = 32 / size_of(head.call.type_a), k = static_cast<int>(next - i) * k_step;
    a.resize(static_cast<size_t>(64) * k);
    b.resize(static_cast<size_t>(n) * k);
    for (size_t j = i; j < next; ++j) {
      const WgmmaOperation& operation = group.queue[j];
      if (block.cluster->plan->options.checks) check_unchanged(thread, operation, leader);
      const int k0 = static_cast<int>(j - i) * k_step;
      if (operation.call.registers) {
        widen_registers(operation.registers.data(), operation.call.type_a, a.data() + static_cast<size_t>(k0) * 64);
      } else {
        const Operand operand(operation.call.descriptor_a, operation.call.mn_major_a, 64, operation.call.type_a);
        operand.widen_columns(block, a.data() + static_cast<size_t>(k0) * 64, 64);
      }
      const Operand operand(operation.call.descriptor_b, operation.call.mn_major_b, n, operation.call.type_b);
      operand.widen_rows(block, b.data() + k0, k);
    }
    std::vector<float>& tile = head.accumulators->tile;
    if (!head.call.accumulate) std::fill(tile.begin(), tile.end(), 0.f);
    multiply_tile(n, k, b.data(), a.data(), tile.data());
    group.macs += static_cast<uint64_t>(64) * n * k;
    i = next;
  }
  group.queue.erase(group.queue.begin(), group.queue.begin() + static_cast<std::ptrdiff_t>(count));
  group.first = end;
}

// Accumulators whose products have all been waited for go back to their threads. WHY not when executed: a product may
// be done early, but nothing says so before the wait.
void return_accumulators(Thread& thread, Warpgroup& group, Site site) {
  const int first_thread = thread.index / kWarpgroup * kWarpgroup;
  for (size_t i = 0; i < group.owned.size();) {
    if (group.owned[i]->users > group.waited) {
      ++i;
      continue;
    }
    give_back(*thread.block, first_thread, *group.owned[i], site);
    group.owned.erase(group.owned.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace

void wgmma_fence(Site site) {
  collective("wgmma_fence", nullptr, site, nullptr);
  current->wgmma_fenced = true;
}

void wgmma(const WgmmaCall& call, Site site) {
  Thread& thread = *current;
  count_step(*thread.block->cluster, site);
  check_call(thread, call, site);
  Warpgroup& group = warpgroup_of(thread);
  const uint64_t number = thread.wgmma_issued++;
  if (number == group.first + group.queue.size()) issue(thread, group, call, site);
  WgmmaOperation& operation = group.queue[number - group.first];
  if (!same(operation.call, call)) {
    fail(Fault::kDivergence, "wgmma", site,
         fmt::format(
             "thread {} asks for another product than its warpgroup: descriptors {:#x}, {:#x} against {:#x}, {:#x}",
             thread.index, call.descriptor_a, call.descriptor_b, operation.call.descriptor_a,
             operation.call.descriptor_b));
  }
  const int lane = thread.index % kWarpgroup;
  if (thread.block->cluster->plan->options.checks && thread.lane == 0) check_needs(thread, operation, site);
  Accumulators& accumulators = *operation.accumulators;
  if (!accumulators.d[lane]) {
    take(accumulators, lane, call.d);
  } else if (accumulators.d[lane] != call.d) {
    fail(Fault::kDivergence, "wgmma", site,
         fmt::format("thread {} names other accumulators than the rest of its warpgroup", thread.index));
  }
  if (call.registers) std::copy(call.registers, call.registers + 4, operation.registers[lane].begin());
}

void wgmma_commit(Site site) {
  Thread& thread = *current;
  count_step(*thread.block->cluster, site);
  Warpgroup& group = warpgroup_of(thread);
  if (thread.wgmma_groups == group.groups.size()) {
    group.groups.push_back(thread.wgmma_issued);
  } else if (group.groups[thread.wgmma_groups] != thread.wgmma_issued) {
    fail(Fault::kDivergence, "wgmma_commit", site, "the warpgroup's threads commit different products");
  }
  ++thread.wgmma_groups;
}

void wgmma_wait(int pending, Site site) {
  Thread& thread = *current;
  Block& block = *thread.block;
  count_step(*block.cluster, site);
  Warpgroup& group = warpgroup_of(thread);
  thread.wgmma_fenced = false;
  if (!group.waiting.empty() && group.wait_pending != pending) {
    fail(Fault::kDivergence, "wgmma_wait", site,
         fmt::format("this thread leaves {} groups pending, others of the warpgroup {}", pending, group.wait_pending));
  }
  group.wait_pending = pending;
  if (group.waiting.size() + 1 < kWarpgroup) {
    group.waiting.push_back(&thread);
    block_current({Wait::Kind::kWgmma, static_cast<uint64_t>(pending), 0, site});
    return;
  }
  const uint64_t committed = thread.wgmma_groups, left = static_cast<uint64_t>(pending);
  uint64_t done = committed > left ? group.groups[committed - left - 1] : 0;
  group.waited = std::max(group.waited, done);
  if (block.cluster->completes_now() && committed) done = group.groups[committed - 1];
  if (done > group.first) execute(thread, group, done);
  return_accumulators(thread, group, site);
  // The products are the group's: who has waited for them has waited for the reads of all four warps.
  Clock& clock = leader_of(thread).clock;
  const int leader = thread.warp->index & ~3;
  for (int w = leader + 1; w < leader + 4; ++w) clock.join(block.warps[w].clock, block.cluster->active_actors);
  for (int w = leader + 1; w < leader + 4; ++w) block.warps[w].clock.join(clock, block.cluster->active_actors);
  for (Thread* waiting : group.waiting) block.cluster->wake(*waiting);
  group.waiting.clear();
}

void check_wgmma_end(Thread& thread) {
  const size_t index = static_cast<size_t>(thread.index) / kWarpgroup;
  if (index >= thread.block->warpgroups.size() || !thread.block->warpgroups[index]) return;
  if (thread.wgmma_issued > thread.block->warpgroups[index]->waited) {
    fail(Fault::kExit, "wgmma", {nullptr, 0},
         "the thread returns while its products are in flight; wgmma_wait must come before");
  }
}

}  // namespace wt::sim
