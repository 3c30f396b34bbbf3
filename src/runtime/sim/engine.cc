// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/engine.h"

#include <algorithm>
#include <bit>
#include <new>

#include "base/check.h"
#include "runtime/sim/report.h"
#include "runtime/sim/tensor_memory.h"
#include "runtime/sim/wgmma.h"

namespace wt::sim {

constinit thread_local Thread* current = nullptr;

namespace {

uint64_t mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

// Leaves the running fibre for `next`, or for the scheduler when there is none.
void leave(Thread& thread, Thread* next, bool last) {
  if (next == &thread) return;
  Cluster& cluster = *thread.block->cluster;
  current = next;
  switch_fibre(thread.fibre, next ? next->fibre : cluster.main, last);
}

// All of a thread; who runs next, if anybody.
Thread* run_thread(Thread& thread, Cluster& cluster) {
  thread.wait.kind = Wait::Kind::kRunning;
  cluster.plan->entry(cluster.plan->params);
  check_thread_end(thread);
  thread.wait = {Wait::Kind::kDone};
  if (thread.block->live == 1) check_block_end(thread);
  --thread.block->live;
  --cluster.live;
  finish_block_barrier(*thread.block);
  finish_cluster_barrier(cluster);
  return cluster.pick();
}

void thread_main() {
  Thread& thread = *current;
  Cluster& cluster = *thread.block->cluster;
  begin_fibre(cluster.main);
  Thread* next = nullptr;
  // WHY caught: nothing lies below a fibre's first frame, so that an exception which left it would end the process.
  // Cluster::run throws it again, on the host thread's own stack.
  try {
    next = run_thread(thread, cluster);
  } catch (const std::bad_alloc&) {
    cluster.exhausted = true;
  }
  leave(thread, next, true);
  check_failed(__FILE__, __LINE__, "false", "a simulated thread ran on after its end");
}

// WHY apart, here and elsewhere: text makes large frames, and every thread's hot frames must share the cache.
[[noreturn, gnu::noinline, gnu::cold]] void fail_diverged(const Thread& thread, const Collective& meeting,
                                                          const char* operation, Site site) {
  fail(Fault::kDivergence, operation, site,
       fmt::format("lane {} is here while other lanes of the warp are at {} ({})", thread.lane, meeting.operation,
                   site_text(meeting.site).text));
}

[[noreturn, gnu::noinline, gnu::cold]] void fail_unaligned(const Warp& warp, const char* operation, Site site) {
  fail(Fault::kDivergence, operation, site,
       fmt::format("not all lanes of the warp executed warp_index at {}, which they must do together",
                   site_text(warp.aligned_site).text));
}

}  // namespace

Block::Block() = default;
Block::Block(Block&&) noexcept = default;
Block::~Block() = default;

bool Cluster::start(const LaunchPlan& launch, int64_t cluster_index) {
  plan = &launch;
  const LaunchShape& shape = launch.shape;
  const auto& size = shape.cluster;
  const int64_t count_x = shape.grid[0] / size[0], count_y = shape.grid[1] / size[1];
  const std::array<int64_t, 3> at = {cluster_index % count_x, cluster_index / count_x % count_y,
                                     cluster_index / count_x / count_y};
  random_state = mix(launch.options.seed * 0x2545f4914f6cdd1du + static_cast<uint64_t>(cluster_index)) | 1;
  number = launch.first_cluster + static_cast<uint32_t>(cluster_index);
  report.clear();
  exhausted = false;
  steps = 0;
  spin_rounds = 0;
  focus = nullptr;
  ready.clear();
  last_buffer = {};
  main = Fibre{};
  in_flight.clear();

  const int block_count = static_cast<int>(size[0] * size[1] * size[2]);
  const int threads = static_cast<int>(shape.threads);
  const int lanes = launch.target->warp_size;
  const int warps = (threads + lanes - 1) / lanes;
  // Targets without mbarriers need no room for them in every clock.
  has_tensor = has_tensor_memory(launch.target->target);
  tensor_blocks = 0;
  sequences = !launch.target->bulk_tensor_copy ? 0 : has_tensor ? warps : (warps + 3) / 4;
  active_actors = block_count * (warps + sequences) + 1;
  actors = active_actors + block_count * (launch.target->bulk_tensor_copy ? Block::kMbarriers : 0);
  live = block_count * threads;
  if (!stacks.reserve(live)) return false;
  stacks.forget_poison();
  // NVIDIA keeps the first KiB of the window for itself.
  const uint32_t low = launch.target->vendor == Vendor::kNvidia ? 1024 : 0;
  // Dynamic shared memory is 16-byte aligned by contract, and no more; equal in all blocks of a cluster.
  const uint32_t base = low + static_cast<uint32_t>(random() % 64) * 16;

  barrier.phase = 0;
  barrier.arrived = 0;
  barrier.clock.reset(actors);
  barrier.waiting.clear();
  if (blocks.size() != static_cast<size_t>(block_count)) blocks = std::vector<Block>(block_count);
  for (int rank = 0; rank < block_count; ++rank) {
    Block& block = blocks[rank];
    block.cluster = this;
    block.rank = rank;
    block.index = {static_cast<i32>(at[0] * size[0] + rank % size[0]),
                   static_cast<i32>(at[1] * size[1] + rank / size[0] % size[1]),
                   static_cast<i32>(at[2] * size[2] + rank / size[0] / size[1])};
    block.live = threads;
    block.low = low;
    block.base = base;
    block.high = base + shape.shared_bytes;
    block.shared.assign(block.high - block.low, 0xff);  // NaN in every float format
    if (launch.options.checks) block.shadow.reset(block.low, block.high);
    for (NamedBarrier& named : block.barriers) {
      named.arrived = 0;
      named.clock.reset(actors);
      named.waiting.clear();
    }
    block.mbarriers.clear();
    block.mbarriers.reserve(Block::kMbarriers);  // threads keep pointers into it
    block.warpgroups.clear();
    block.tensor.reset();
    block.refused = false;
    block.register_waiters.clear();
    block.visits.assign(block_count > 1 ? actors : 0, 0);
    block.visit_lanes.assign(block.visits.size(), 0);
    if (block.threads.size() != static_cast<size_t>(threads)) block.threads = std::vector<Thread>(threads);
    if (block.warps.size() != static_cast<size_t>(warps)) block.warps = std::vector<Warp>(warps);
    for (int w = 0; w < warps; ++w) {
      Warp& warp = block.warps[w];
      warp.block = &block;
      warp.index = w;
      warp.actor = rank * warps + w;
      warp.lanes = std::min(lanes, threads - w * lanes);
      warp.ready = warp.spinning = warp.fence_lanes = 0;
      warp.registers = 0;
      warp.queued = false;
      warp.aligned.fill(0);
      warp.aligned_sum = 0;
      warp.clock.reset(actors);
      warp.now.fill(1);
      warp.touched.fill(0);
      warp.written.fill(0);
      warp.fenced.fill(0);
      warp.collective.arrived = 0;
    }
    for (int t = 0; t < threads; ++t) {
      Thread& thread = block.threads[t];
      thread.block = &block;
      thread.warp = &block.warps[t / lanes];
      thread.index = t;
      thread.lane = t % lanes;
      thread.wait = {};
      thread.site = {nullptr, 0};
      thread.copies.clear();
      thread.copy_groups.clear();
      thread.stores.clear();
      thread.store_groups.clear();
      thread.cluster_arrivals = thread.cluster_waits = 0;
      thread.warpgroup = nullptr;
      thread.wgmma_issued = thread.wgmma_groups = 0;
      thread.wgmma_fenced = false;
      thread.tensor_seen.clear();
      const int slot = rank * threads + t;
      make_fibre(thread.fibre, stacks.low(slot), Stacks::kBytes, static_cast<unsigned>(slot), thread_main);
      wake(thread);
    }
  }
  return true;
}

void Cluster::wake(Thread& thread) {
  Warp& warp = *thread.warp;
  warp.ready |= uint64_t{1} << thread.lane;
  if (!warp.queued) {
    warp.queued = true;
    ready.push_back(&warp);
  }
}

void Cluster::release_spinners() {
  for (Block& block : blocks) {
    for (Warp& warp : block.warps) {
      if (!warp.spinning) continue;
      warp.ready |= warp.spinning;
      warp.spinning = 0;
      if (!warp.queued) {
        warp.queued = true;
        ready.push_back(&warp);
      }
    }
  }
}

// WHY one warp at a time: a wave that runs alone up to its barrier shows a missing barrier; lock-step would hide it.
// Staying with a warp also keeps its stacks in the cache.
Thread* Cluster::pick() {
  if (!in_flight.empty() && completes_now()) complete_work(*this, random() % in_flight.size());
  if (!report.empty()) return nullptr;
  if (focus && focus->ready && random() % 64 != 0) {
    const int lane = std::countr_zero(focus->ready);
    focus->ready &= focus->ready - 1;
    return &focus->block->threads[focus->index * plan->target->warp_size + lane];
  }
  while (!ready.empty() || !in_flight.empty()) {
    if (ready.empty()) {
      complete_work(*this, random() % in_flight.size());
      if (!report.empty()) return nullptr;
      continue;
    }
    const size_t i = random() % ready.size();
    Warp& warp = *ready[i];
    if (!warp.ready) {
      warp.queued = false;
      ready[i] = ready.back();
      ready.pop_back();
      continue;
    }
    focus = &warp;
    // Which lane goes first is free too.
    const int turn = static_cast<int>(random() % 64);
    const uint64_t turned = std::rotr(warp.ready, turn);
    const int lane = (std::countr_zero(turned) + turn) % 64;
    warp.ready &= ~(uint64_t{1} << lane);
    return &warp.block->threads[warp.index * plan->target->warp_size + lane];
  }
  return nullptr;
}

Outcome Cluster::run() {
  constexpr int kRoundsBeforeOthersRun = 16;
  for (;;) {
    Thread* next = pick();
    if (next) {
      current = next;
      switch_fibre(main, next->fibre);
      current = nullptr;
      if (exhausted) throw std::bad_alloc();
      if (!report.empty()) return Outcome::kFailed;
      continue;
    }
    if (!report.empty()) return Outcome::kFailed;
    if (live == 0) {
      check_cluster_end(*this);
      return report.empty() ? Outcome::kDone : Outcome::kFailed;
    }
    bool spinning = false;
    for (const Block& block : blocks) {
      for (const Warp& warp : block.warps) spinning |= warp.spinning != 0;
    }
    if (!spinning) {
      report_block(*this, blocks[0], Fault::kDeadlock,
                   "no thread can run and nothing is in flight\n" + describe_waits(*this));
      return Outcome::kFailed;
    }
    release_spinners();
    if (++spin_rounds % kRoundsBeforeOthersRun == 0) return Outcome::kSpinning;
  }
}

void block_current(Wait wait) {
  Thread& thread = *current;
  thread.wait = wait;
  leave(thread, thread.block->cluster->pick(), false);
  thread.wait.kind = Wait::Kind::kRunning;
}

void yield_current(Wait::Kind kind, uint64_t address, Site site) {
  Thread& thread = *current;
  thread.warp->spinning |= uint64_t{1} << thread.lane;
  block_current({kind, address, 0, site});
}

[[gnu::noinline, gnu::cold]] void fail_steps(uint64_t limit, Site site) {
  fail(
      Fault::kLimit, "step limit", site,
      fmt::format("the cluster executed {} primitives, the limit of a run; a loop may not end. WAVETILE_SIM_STEPS sets "
                  "the limit",
                  limit));
}

void collective(const char* operation, void* argument, Site site, void (*execute)(Warp&, void**)) {
  Thread& thread = *current;
  Warp& warp = *thread.warp;
  Cluster& cluster = *thread.block->cluster;
  count_step(cluster, site);
  Collective& meeting = warp.collective;
  if (meeting.arrived && (meeting.operation != operation || meeting.site.line != site.line)) [[unlikely]] {
    fail_diverged(thread, meeting, operation, site);
  }
  meeting.operation = operation;
  meeting.site = site;
  meeting.arguments[thread.lane] = argument;
  if (++meeting.arrived < warp.lanes) {
    const Wait wait{Wait::Kind::kWarp, reinterpret_cast<uint64_t>(operation), 0, site};
    // WHY the short way: a matrix product is 32 of these, and mostly the next lane of the same warp comes next.
    if (warp.ready && cluster.in_flight.empty()) {
      thread.wait = wait;
      const int lane = std::countr_zero(warp.ready);
      warp.ready &= warp.ready - 1;
      leave(thread, &thread + (lane - thread.lane), false);
      thread.wait.kind = Wait::Kind::kRunning;
      return;
    }
    block_current(wait);
    return;
  }
  if (warp.aligned_sum != uint64_t{warp.aligned[thread.lane]} * static_cast<uint64_t>(warp.lanes)) [[unlikely]]
    fail_unaligned(warp, operation, site);
  meeting.arrived = 0;
  if (execute) execute(warp, meeting.arguments.data());
  const uint64_t all = warp.lanes == 64 ? ~uint64_t{0} : (uint64_t{1} << warp.lanes) - 1;
  warp.ready |= all & ~(uint64_t{1} << thread.lane);
  if (!warp.queued && warp.ready) {
    warp.queued = true;
    cluster.ready.push_back(&warp);
  }
}

}  // namespace wt::sim
