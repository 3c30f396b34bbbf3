// SPDX-License-Identifier: Apache-2.0
// runtime/sim/tensor_memory.cc - allocation and fences of tensor memory, and what must be over at the end.
#include "runtime/sim/tensor_memory.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "runtime/sim/lane.h"
#include "runtime/sim/primitives.h"
#include "runtime/sim/report.h"

namespace wt::sim {
namespace {

constexpr uint32_t kUnit = 32;  // columns

struct Columns {
  u32 address, columns;
};

void check_uniform(const Warp& warp, void** lanes, const char* operation) {
  const auto& first = *static_cast<const Columns*>(lanes[0]);
  for (int lane = 1; lane < warp.lanes; ++lane) {
    const auto& other = *static_cast<const Columns*>(lanes[lane]);
    if (other.address == first.address && other.columns == first.columns) continue;
    fail(Fault::kDivergence, operation, warp.collective.site,
         fmt::format("lane {} names address {:#x} and {} columns, lane 0 {:#x} and {}", lane, other.address,
                     other.columns, first.address, first.columns));
  }
}

void check_count(u32 columns, const char* operation, Site site) {
  if (columns >= kUnit && columns <= TensorMemory::kColumns && std::has_single_bit(columns)) return;
  fail(Fault::kUse, operation, site, fmt::format("{} columns are no power of two from 32 to 512", columns));
}

// A place that is free in every block of the group, from where the seed says on; kColumns: there is none.
uint32_t free_place(Block& block, int blocks, uint32_t columns) {
  std::array<bool, TensorMemory::kColumns / kUnit> used{};
  for (int i = 0; i < blocks; ++i) {
    for (const auto& taken : block_of_group(block, blocks, i).tensor->allocations) {
      for (uint32_t c = taken.column; c < taken.column + taken.columns; c += kUnit) used[c / kUnit] = true;
    }
  }
  const auto slots = static_cast<uint32_t>(used.size()), wide = columns / kUnit;
  const auto turn = static_cast<uint32_t>(block.cluster->random() % slots);
  for (uint32_t i = 0; i < slots; ++i) {
    const uint32_t at = (i + turn) % slots;
    if (at + wide <= slots && std::none_of(&used[at], &used[at] + wide, [](bool taken) { return taken; }))
      return at * kUnit;
  }
  return TensorMemory::kColumns;
}

void wake_all(Cluster& cluster, std::vector<Thread*>& waiting) {
  for (Thread* thread : waiting) cluster.wake(*thread);
  waiting.clear();
}

void grant(Block& block, int blocks, uint32_t place, uint32_t columns) {
  for (int i = 0; i < blocks; ++i) {
    TensorMemory& memory = *block_of_group(block, blocks, i).tensor;
    memory.allocations.push_back({place, columns});
    memory.granted = memory.asked;
    memory.most = columns;
    for (uint32_t c = place; c < place + columns; ++c) {
      for (int half = 0; half < 2; ++half) std::fill_n(memory.column_of(half, c), 64, std::nanf(""));
      for (int group = 0; group < TensorMemory::kGroups; ++group) memory.cell(group, c) = {};
    }
  }
}

void release_columns(Warp& warp, void** lanes) {
  constexpr const char* kOperation = "tensor_free";
  check_uniform(warp, lanes, kOperation);
  const auto& call = *static_cast<const Columns*>(lanes[0]);
  Block& block = *warp.block;
  TensorMemory& memory = *block.tensor;
  const Site site = warp.collective.site;
  const auto found = std::ranges::find_if(memory.allocations, [&](const TensorMemory::Allocation& allocation) {
    return allocation.column == call.address && allocation.columns == call.columns;
  });
  if (found == memory.allocations.end()) {
    fail(Fault::kUse, kOperation, site,
         fmt::format("no allocation has {} columns from {:#x} on", call.columns, call.address));
  }
  const Thread& thread = block.threads[static_cast<size_t>(warp.index) * 32];
  for (uint32_t c = found->column; c < found->column + found->columns; ++c) {
    for (int group = 0; group < TensorMemory::kGroups; ++group)
      check_overwrite(thread, memory.cell(group, c), c, 0, kOperation, site);
  }
  memory.allocations.erase(found);
  ++memory.freed;
  wake_all(*block.cluster, memory.waiting);
}

}  // namespace

TensorMemory& tensor_memory(Block& block, int blocks, const char* operation, Site site) {
  Cluster& cluster = *block.cluster;
  if (!cluster.has_tensor)
    fail(Fault::kUse, operation, site, fmt::format("{} has no tensor memory", cluster.plan->target->name));
  if (cluster.tensor_blocks && cluster.tensor_blocks != blocks) {
    fail(Fault::kUse, operation, site,
         fmt::format("an operation for {} block(s), where others of the kernel are for {}: all must agree", blocks,
                     cluster.tensor_blocks));
  }
  if (blocks == 2 && cluster.blocks.size() % 2) {
    fail(Fault::kUse, operation, site, fmt::format("a cluster of {} blocks has no pairs", cluster.blocks.size()));
  }
  cluster.tensor_blocks = blocks;
  if (!block.tensor) {
    block.tensor = std::make_unique<TensorMemory>();
    TensorMemory& memory = *block.tensor;
    memory.values.assign(TensorMemory::kLanes * TensorMemory::kColumns, std::nanf(""));
    memory.cells.resize(static_cast<size_t>(TensorMemory::kGroups) * TensorMemory::kColumns);
    memory.transfers.resize(block.warps.size());
    memory.fenced.resize(block.warps.size());
    memory.sequences.resize(block.warps.size());
  }
  return *block.tensor;
}

void check_columns(const TensorMemory& memory, uint32_t column, uint32_t count, const char* operation, Site site) {
  for (const auto& allocation : memory.allocations) {
    if (column >= allocation.column && column + count <= allocation.column + allocation.columns) return;
  }
  fail(Fault::kBounds, operation, site,
       fmt::format("columns {} to {} of tensor memory lie in no allocation", column, column + count - 1));
}

void check_overwrite(const Thread& thread, const TensorCell& cell, uint32_t column, uint64_t shape,
                     const char* operation, Site site) {
  const Cluster& cluster = *thread.block->cluster;
  if (!cluster.plan->options.checks) return;
  for (int i = 0; i < cell.readers; ++i) {
    const TensorCell::Reader& reader = cell.by[i];
    if (tensor_knows(thread, reader.actor, reader.clock)) continue;
    const bool released = reader.clock != TensorCell::kNotReleased;
    fail(Fault::kRace, operation, site,
         fmt::format("column {} of tensor memory may still be read by {}: {}", column,
                     actor_text(cluster, reader.actor).text,
                     released ? "nothing orders that tensor_load before this, or tensor_fence_after is missing here"
                              : "no tensor_load_wait and tensor_fence_before of all lanes followed that tensor_load"));
  }
  if (!cell.written || tensor_knows(thread, cell.write_actor, cell.write_clock)) return;
  const auto own = static_cast<uint32_t>(cluster.products_actor(thread.block->rank, thread.warp->index));
  if (shape != 0 && cell.write_actor == own && cell.shape == shape) return;
  fail(Fault::kRace, operation, site,
       fmt::format("column {} of tensor memory is written by {}, of another shape or thread, and not known to be done",
                   column, actor_text(cluster, cell.write_actor).text));
}

void tensor_allocate(int blocks, SharedAddress to, u32 columns, Site site) {
  constexpr const char* kOperation = "tensor_allocate";
  Thread& thread = *current;
  Block& block = *thread.block;
  check_count(columns, kOperation, site);
  check_shared(block, to, 4, 4, kOperation, site);
  TensorMemory& memory = tensor_memory(block, blocks, kOperation, site);
  if (blocks == 2 && thread.cluster_waits == 0) {
    fail(Fault::kUse, kOperation, site, "no cluster barrier before: the pair's other block need not have started");
  }
  if (memory.relinquished) {
    fail(Fault::kUse, kOperation, site, "the block gave up the right to allocate by tensor_relinquish");
  }
  if (columns > memory.most) {
    fail(Fault::kUse, kOperation, site,
         fmt::format("{} columns are more than the {} of the allocation before", columns, memory.most));
  }
  const int residents = block.cluster->plan->min_blocks;
  if (columns * static_cast<u32>(std::max(1, residents)) > TensorMemory::kColumns) {
    fail(Fault::kUse, kOperation, site,
         fmt::format("{} columns for each of the {} blocks of a multiprocessor are more than its 512", columns,
                     residents));
  }
  Columns argument{to, columns};
  collective(kOperation, &argument, site, [](Warp& warp, void** lanes) {
    check_uniform(warp, lanes, kOperation);
    TensorMemory& own = *warp.block->tensor;
    ++own.asked;
    own.wanted = static_cast<const Columns*>(lanes[0])->columns;
    wake_all(*warp.block->cluster, own.waiting);
  });
  const auto wait_for = [&](TensorMemory& other) {
    other.waiting.push_back(&thread);
    block_current({Wait::Kind::kTensor, columns, 0, site});
  };
  if (blocks == 2) {
    TensorMemory& peer = tensor_memory(block.cluster->blocks[block.rank ^ 1], blocks, kOperation, site);
    while (peer.asked < memory.asked) wait_for(peer);
    if (peer.wanted != columns) {
      fail(Fault::kUse, kOperation, site,
           fmt::format("{} columns, where the pair's other block asks for {}", columns, peer.wanted));
    }
  }
  // The first lane of the group that finds room takes it for all.
  while (memory.granted != memory.asked) {
    const uint32_t place = free_place(block, blocks, columns);
    if (place != TensorMemory::kColumns) {
      grant(block, blocks, place, columns);
    } else {
      wait_for(memory);
    }
  }
  if (thread.lane == 0) {
    const u32 address = memory.allocations.back().column;
    std::memcpy(write_shared(to, 4, 4, site), &address, 4);
  }
}

void tensor_free(int blocks, u32 address, u32 columns, Site site) {
  constexpr const char* kOperation = "tensor_free";
  Thread& thread = *current;
  Block& block = *thread.block;
  check_count(columns, kOperation, site);
  TensorMemory& memory = tensor_memory(block, blocks, kOperation, site);
  Columns argument{address, columns};
  collective(kOperation, &argument, site, release_columns);
  if (blocks == 1) return;
  TensorMemory& peer = tensor_memory(block.cluster->blocks[block.rank ^ 1], blocks, kOperation, site);
  while (peer.freed < memory.freed) {
    peer.waiting.push_back(&thread);
    block_current({Wait::Kind::kTensor, columns, 0, site});
  }
}

void tensor_relinquish(int blocks, Site site) {
  TensorMemory& memory = tensor_memory(*current->block, blocks, "tensor_relinquish", site);
  collective("tensor_relinquish", nullptr, site, nullptr);
  memory.relinquished = true;
}

// Only warps and sequences of products use tensor memory, and theirs are the first components of a clock.
void tensor_fence_after(Site site) {
  Thread& thread = *current;
  const Cluster& cluster = *thread.block->cluster;
  count_step(*thread.block->cluster, site);
  const auto& seen = thread.warp->clock.seen;
  thread.tensor_seen.assign(seen.begin(), seen.begin() + cluster.prerequisites_actor());
}

void tensor_fence_before(Site site) {
  Thread& thread = *current;
  Warp& warp = *thread.warp;
  Block& block = *thread.block;
  count_step(*block.cluster, site);
  touch(thread, false);
  if (!block.tensor) return;
  TensorMemory& memory = *block.tensor;
  uint64_t& fenced = memory.fenced[warp.index];
  fenced |= uint64_t{1} << thread.lane;
  if (std::popcount(fenced) < warp.lanes) return;
  fenced = 0;
  // What every lane has waited for is released with what the warp does next.
  uint32_t clock = 0;
  for (int lane = 0; lane < warp.lanes; ++lane) clock = std::max(clock, warp.touched[lane]);
  auto& transfers = memory.transfers[warp.index];
  for (const TensorTransfer& transfer : transfers) {
    if (!transfer.waited) continue;
    for_cells(memory, transfer, [&](TensorCell& cell, uint32_t) {
      if (transfer.store && cell.write_actor == warp.actor) cell.write_clock = clock;
      for (int i = 0; !transfer.store && i < cell.readers; ++i) {
        if (cell.by[i].actor == warp.actor) cell.by[i].clock = clock;
      }
    });
  }
  std::erase_if(transfers, [](const TensorTransfer& transfer) { return transfer.waited; });
}

void check_tensor_end(Thread& thread) {
  Block& block = *thread.block;
  if (!block.tensor) return;
  constexpr Site kEnd{nullptr, 0};
  TensorMemory& memory = *block.tensor;
  for (const TensorTransfer& transfer : memory.transfers[thread.warp->index]) {
    if (transfer.waited) continue;
    fail(Fault::kExit, transfer.store ? "tensor_store" : "tensor_load", kEnd,
         fmt::format("the warp returns before {}", transfer.store ? "tensor_store_wait" : "tensor_load_wait"));
  }
  const TensorSequence& sequence = memory.sequences[thread.warp->index];
  if (sequence.thread == &thread && !sequence.queue.empty()) {
    fail(Fault::kExit, "tensor_multiply", sequence.queue.front().site,
         "the thread returns while its products are in flight, or it has not committed them");
  }
  if (block.live == 1 && !memory.allocations.empty()) {
    fail(Fault::kExit, "tensor_allocate", kEnd,
         fmt::format("the block ends, and {} columns of tensor memory were not freed",
                     memory.allocations.front().columns));
  }
}

}  // namespace wt::sim
