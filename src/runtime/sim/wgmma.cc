// SPDX-License-Identifier: Apache-2.0
// runtime/sim/wgmma.cc - asynchronous matrix products of four warps.
#include "runtime/sim/wgmma.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "runtime/sim/lane.h"
#include "runtime/sim/multiply.h"
#include "runtime/sim/primitives.h"
#include "runtime/sim/report.h"

namespace wt::sim {
namespace {

constexpr uint32_t kInFlight = 0x7fc0'dead;  // a NaN that no product makes

// What a thread's accumulators hold while they are in flight.
constexpr auto kMarks = [] {
  std::array<uint32_t, 128> marks{};
  marks.fill(kInFlight);
  return marks;
}();

[[gnu::noinline]] Warpgroup& find_warpgroup(Thread& thread) {
  Block& block = *thread.block;
  const size_t index = static_cast<size_t>(thread.index) / kWarpgroup;
  if (block.warpgroups.size() <= index) block.warpgroups.resize(index + 1);
  if (!block.warpgroups[index]) block.warpgroups[index] = std::make_unique<Warpgroup>();
  thread.warpgroup = block.warpgroups[index].get();
  return *thread.warpgroup;
}

Warpgroup& warpgroup_of(Thread& thread) { return thread.warpgroup ? *thread.warpgroup : find_warpgroup(thread); }

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

[[noreturn, gnu::noinline, gnu::cold]] void fail_operand(Block& block, const Cell& cell, uint32_t address, Site site) {
  const bool copied = cell.writer == Writer::kCopy;
  fail(copied ? Fault::kRace : Fault::kUninitialised, "wgmma", site,
       fmt::format("{} is read {}", shared_text(block, address).text,
                   copied ? "while a copy_async to it is in flight"
                          : "before anybody wrote it: the write is missing, or what orders it before this read"));
}

// The operand lies in shared memory; raises `needs` to what reading it takes. From here on it counts as read by the
// group's products, up to number `product` of their sequence. WHY already at the issue: nothing says when the product
// reads, before the wait that covers it.
void collect_needs(Thread& thread, const Operand& operand, std::vector<Need>& needs, uint32_t product, Site site) {
  Block& block = *thread.block;
  const Cell* last = nullptr;
  const bool checks = block.cluster->plan->options.checks;
  const uint32_t base = block.base, room = block.high - block.base;
  const auto reader = static_cast<uint16_t>(block.cluster->products_actor(block.rank, thread.index / kWarpgroup));
  operand.for_chunks([&](uint32_t address) {
    if (address < base || room < 16 || address - base > room - 16) [[unlikely]]
      check_shared(block, address, 16, 16, "wgmma", site);
    if (!checks) return;
    const Cell& cell = block.shadow.at(address);
    block.shadow.note_product_read(address, reader, product, thread.warp->clock);
    // WHY: neighbours mostly come from one copy.
    if (last && cell.write_actor == last->write_actor && cell.write_clock == last->write_clock &&
        cell.writer == last->writer) {
      return;
    }
    if (cell.writer == Writer::kNone || cell.writer == Writer::kCopy) fail_operand(block, cell, address, site);
    last = &cell;
    const bool generic = cell.writer == Writer::kGeneric;
    for (Need& need : needs) {
      if (need.actor != cell.write_actor || need.generic != generic) continue;
      need.clock = std::max(need.clock, cell.write_clock);
      return;
    }
    needs.push_back({cell.write_actor, cell.write_clock, generic});
  });
}

// One report for the whole operand, with the first chunk that shows the fault.
void check_needs(Thread& thread, const WgmmaOperation& operation, Site site) {
  const Clock& known = thread.warp->clock;
  bool covered = true;
  for (const Need& need : operation.needs) {
    covered &= need.clock <= known.seen[need.actor] && (!need.generic || warp_fenced(thread, need.actor, need.clock));
  }
  if (covered) return;
  const auto report = [&](uint32_t address) {
    thread.block->shadow.async_read(thread, *thread.block, address, "wgmma", site);
  };
  if (!operation.call.registers) operation.a.for_chunks(report);
  operation.b.for_chunks(report);
}

// The group's accumulators that this thread's array `d` belongs to, or new ones.
Accumulators& accumulators_of(Warpgroup& group, int lane, const float* d, int n) {
  for (const auto& owned : group.owned) {
    if (owned->d[lane] == d && owned->n == n) return *owned;
  }
  auto fresh = std::make_unique<Accumulators>();
  fresh->n = n;
  fresh->saved.resize(static_cast<size_t>(64) * n);
  group.owned.push_back(std::move(fresh));
  return *group.owned.back();
}

WgmmaOperation& issue(Thread& thread, Warpgroup& group, const WgmmaCall& call, Site site) {
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
  const auto product = static_cast<uint32_t>(group.first + group.queue.size());
  if (!call.registers) {
    operation.a = Operand(call.descriptor_a, call.mn_major_a, 64, call.type_a);
    collect_needs(thread, operation.a, operation.needs, product, site);
  }
  operation.b = Operand(call.descriptor_b, call.mn_major_b, call.n, call.type_b);
  collect_needs(thread, operation.b, operation.needs, product, site);
  return operation;
}

// The thread's accumulators become the group's until the products that own them are done.
void take(Accumulators& accumulators, int lane, float* d) {
  const int count = accumulators.n / 2;
  accumulators.d[lane] = d;
  std::memcpy(&accumulators.saved[static_cast<size_t>(lane) * count], d, static_cast<size_t>(count) * 4);
  std::memcpy(d, kMarks.data(), static_cast<size_t>(count) * 4);
}

// Adds a product (n, 64) to what the threads hold: accumulator i of a thread is in row 16 * warp + lane / 4 + 8 * (i /
// 2 % 2) and column 8 * (i / 4) + 2 * (lane % 4) + i % 2.
void add_product(Accumulators& accumulators, const float* product, bool accumulate) {
  const int n = accumulators.n;
  for (int thread = 0; thread < kWarpgroup; ++thread) {
    float* own = &accumulators.saved[static_cast<size_t>(thread) * (n / 2)];
    if (!accumulate) std::fill(own, own + n / 2, 0.f);
    const float* from = product + thread % 4 * 2 * 64 + thread / 32 * 16 + thread % 32 / 4;
    for (int i = 0; i < n / 2; i += 4, from += 8 * 64) {
      own[i] += from[0];
      own[i + 1] += from[64];
      own[i + 2] += from[8];
      own[i + 3] += from[64 + 8];
    }
  }
}

[[noreturn, gnu::noinline, gnu::cold]] void fail_touched(int thread, const float* d, Site site) {
  int i = 0;
  while (std::bit_cast<uint32_t>(d[i]) == kInFlight) ++i;
  fail(Fault::kRace, "wgmma", site,
       fmt::format("thread {} wrote accumulator {} while the product that owns it was in flight", thread, i));
}

void give_back(Block& block, int first_thread, Accumulators& accumulators, Site site) {
  const int count = accumulators.n / 2;
  for (int lane = 0; lane < kWarpgroup; ++lane) {
    float* d = accumulators.d[lane];
    const bool touched = std::memcmp(d, kMarks.data(), static_cast<size_t>(count) * 4) != 0;
    if (touched && block.cluster->plan->options.checks) fail_touched(first_thread + lane, d, site);
    std::memcpy(d, &accumulators.saved[static_cast<size_t>(lane) * count], static_cast<size_t>(count) * 4);
  }
}

// Consecutive products of a committed group into one tile are one longer product. WHY not beyond the group: how many
// groups are executed at once depends on when they complete, and the bits of their sum must not.
constexpr int kMostSteps = 16;

void execute(Thread& thread, Warpgroup& group, uint64_t end) {
  static thread_local std::vector<float> a, b, product;
  Block& block = *thread.block;
  size_t i = 0;
  const size_t count = static_cast<size_t>(end - group.first);
  const auto ends_group = [&](size_t at) { return std::ranges::binary_search(group.groups, group.first + at); };
  while (i < count) {
    WgmmaOperation& head = group.queue[i];
    size_t next = i + 1;
    while (next < count && next - i < kMostSteps && !ends_group(next) &&
           group.queue[next].accumulators == head.accumulators && group.queue[next].call.accumulate &&
           group.queue[next].call.type_a == head.call.type_a && group.queue[next].call.type_b == head.call.type_b) {
      ++next;
    }
    const int n = head.call.n, k_step = 32 / size_of(head.call.type_a), k = static_cast<int>(next - i) * k_step;
    a.resize(static_cast<size_t>(64) * k);
    b.resize(static_cast<size_t>(n) * k);
    for (size_t j = i; j < next; ++j) {
      const WgmmaOperation& operation = group.queue[j];
      const int k0 = static_cast<int>(j - i) * k_step;
      if (operation.call.registers) {
        widen_registers(operation.registers.data(), operation.call.type_a, a.data() + static_cast<size_t>(k0) * 64);
      } else {
        operation.a.widen_columns(block, a.data() + static_cast<size_t>(k0) * Operand::kColumnPitch);
      }
      operation.b.widen_rows(block, b.data() + k0, k);
    }
    // WHY (n, 64) and not (64, n): computed transposed, vectors run along the 64 rows of A, which is the smaller
    // operand to transpose.
    product.assign(static_cast<size_t>(64) * n, 0.f);
    multiply_tile(n, k, b.data(), a.data(), product.data());
    add_product(*head.accumulators, product.data(), head.call.accumulate);
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
    if (call.accumulate && never_set(call.d[0])) check_cleared(call.d, call.n / 2, "wgmma", site);
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
  // Each warp knows now that these products have read their operands, and nothing of the other three warps: the wait
  // is no barrier.
  const int first = thread.warp->index & ~3;
  const auto products = static_cast<size_t>(block.cluster->products_actor(block.rank, first / 4));
  for (int w = first; w < first + 4; ++w) block.warps[w].clock.seen[products] = static_cast<uint32_t>(group.waited);
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
