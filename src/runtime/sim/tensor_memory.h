// SPDX-License-Identifier: Apache-2.0
// runtime/sim/tensor_memory.h - a block's tensor memory: what it holds, who wrote and who reads it, and the products
// and copies that are on their way into it.
//
// The asynchronous work of a thread is a sequence of its warp's, an actor of the clocks that counts what is done.
// Whoever waits for the mbarrier of a tensor_commit knows of all before it, and tensor_fence_after hands what a thread
// knows to its tensor operations. Registers of a load are there after tensor_load_wait; that the warp has read is
// released, like an access to shared memory, by what follows a tensor_fence_before of every lane.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "runtime/sim/engine.h"
#include "runtime/sim/operand.h"
#include "target/tcgen05_words.h"

namespace wt::sim {

// 16 lanes of one column.
struct TensorCell {
  static constexpr uint32_t kNotReleased = ~0u;
  static constexpr int kMost = 4;
  struct Reader {
    uint32_t clock;
    uint16_t actor;
  };
  uint32_t write_clock = 0;
  uint16_t write_actor = 0;
  bool written = false;
  uint8_t readers = 0;
  uint64_t shape = 0;  // of the product that wrote it
  std::array<Reader, kMost> by{};
};

// A product or a copy that a thread has started.
struct TensorOperation {
  TensorCall call;
  int copy = -1;  // as device::TensorCopy; -1: a product
  Site site;
  int m = 0, n = 0;
  int warp = 0;  // of the thread that started it
  DataType type_a{}, type_b{};
  std::array<std::array<Operand, 2>, 2> a;  // by block and half of 64 rows; of a copy, where it reads
  std::array<Operand, 2> b;                 // by block
};

// What one thread has started, and of it what has not been executed: [0] is number `first`.
struct TensorSequence {
  Thread* thread = nullptr;
  std::deque<TensorOperation> queue;
  uint64_t first = 0;
  uint64_t issued() const { return first + queue.size(); }
};

// Registers of a warp on their way.
struct TensorTransfer {
  device::TensorShape shape;
  uint32_t lane, column;  // the first
  int count;
  bool store, done = false, waited = false;
  std::array<float*, 32> to{};
  std::vector<float> from;  // (lane, register)
};

struct TensorMemory {
  static constexpr int kLanes = 128, kColumns = 512, kGroup = 16, kGroups = kLanes / kGroup;
  struct Allocation {
    uint32_t column, columns;
  };
  // Columns of one half of the lanes lie together, so that a product of 64 rows is a matrix (n, 64).
  std::vector<float> values;
  std::vector<TensorCell> cells;  // (group of lanes, column)
  std::vector<Allocation> allocations;
  uint32_t most = kColumns;  // that the next allocation may have
  bool relinquished = false;
  uint64_t asked = 0, granted = 0, freed = 0;  // of a pair both blocks must
  uint32_t wanted = 0;
  std::vector<Thread*> waiting;
  std::vector<std::vector<TensorTransfer>> transfers;  // by warp
  std::vector<uint64_t> fenced;                        // by warp: lanes that executed tensor_fence_before since
  std::vector<TensorSequence> sequences;               // by warp

  TensorCell& cell(int group, uint32_t column) { return cells[static_cast<size_t>(group) * kColumns + column]; }
  float* column_of(int half, uint32_t column) {
    return values.data() + (static_cast<size_t>(half) * kColumns + column) * 64;
  }
  float& value(int lane, uint32_t column) { return column_of(lane / 64, column)[lane % 64]; }
};

// visit(cell, column) of every cell that a warp's registers reach.
template <class Visit>
void for_cells(TensorMemory& memory, const TensorTransfer& transfer, Visit visit) {
  const bool whole = transfer.shape == device::TensorShape::k32x32;
  const device::TensorPlace last = device::tensor_place(transfer.shape, 31, transfer.count - 1, transfer.count);
  for (uint32_t c = transfer.column; c <= transfer.column + static_cast<uint32_t>(last.column); ++c) {
    for (int i = 0; i < (whole ? 2 : 1); ++i)
      visit(memory.cell(static_cast<int>(transfer.lane) / TensorMemory::kGroup + i, c), c);
  }
}

// The block's, for an operation of a group of `blocks`; or a report where they disagree.
TensorMemory& tensor_memory(Block& block, int blocks, const char* operation, Site site);
// Block `index` of the group that `block` belongs to.
inline Block& block_of_group(Block& block, int blocks, int index) {
  return blocks == 1 ? block : block.cluster->blocks[(block.rank & ~1) + index];
}
// [column, column + count) lies in one allocation, or a report.
void check_columns(const TensorMemory& memory, uint32_t column, uint32_t count, const char* operation, Site site);

// Whether tensor operations of the thread come after what `actor` did at `clock`.
inline bool tensor_knows(const Thread& thread, uint32_t actor, uint32_t clock) {
  return actor < thread.tensor_seen.size() && thread.tensor_seen[actor] >= clock;
}
// A thread is about to overwrite the cell: readers and writers are done, or a report. `shape`: products of the thread's
// own sequence into the same shape come in order; 0: none.
void check_overwrite(const Thread& thread, const TensorCell& cell, uint32_t column, uint64_t shape,
                     const char* operation, Site site);

// Products with scales (tcgen05_scales.cc): what their word says; that the scales are there, and that the product reads
// them; and the product itself.
void check_scaled_word(TensorOperation& operation, Site site);
void read_scales(Thread& thread, TensorMemory& memory, const TensorOperation& operation, uint32_t number, Site site);
void multiply_scaled(Block& block, const TensorOperation& operation);

// Executes what the sequence holds up to number `end`.
void execute_tensor(Block& block, TensorSequence& sequence, uint64_t end);

void check_tensor_end(Thread& thread);

}  // namespace wt::sim
