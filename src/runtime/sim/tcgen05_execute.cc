// SPDX-License-Identifier: Apache-2.0
// runtime/sim/tcgen05_execute.cc - what products and copies leave in tensor memory.
//
// Where row m and column n of D lie, by M and the blocks that work together (PTX manual, "Data path layouts"):
//   128 rows of a block   lane m, column n
//   64 rows of one block  lane m % 16 + 32 (m / 16), or 16 more where the address says so
//   64 rows of a pair's   lane m + 64 (n / (N / 2)), column n % (N / 2)
#include <bit>
#include <cstring>

#include "runtime/sim/multiply.h"
#include "runtime/sim/tensor_memory.h"

namespace wt::sim {
namespace {

using device::TensorCopy;
using device::TensorKind;

constexpr size_t kMostSteps = 16;  // products that are computed as one longer one

bool same_accumulator(const TensorOperation& a, const TensorOperation& b) {
  return b.copy < 0 && b.call.scaled < 0 && a.call.scaled < 0 && b.call.accumulate && a.call.kind == b.call.kind &&
         a.call.blocks == b.call.blocks && a.call.d == b.call.d && a.call.word == b.call.word;
}

// The numbers of kind i8 lie as bytes where fp8 would.
void widen_bytes(Block& block, const Operand& operand, float* to, int pitch, bool columns) {
  operand.for_bytes(block, [&](int row, int k, uint8_t byte) {
    to[columns ? k * Operand::kColumnPitch + row : row * pitch + k] = static_cast<float>(static_cast<int8_t>(byte));
  });
}

// Adds (n, 64) sums to the places of one half of a block's rows, or overwrites them.
void place_sums(TensorMemory& memory, const TensorOperation& operation, int half, const float* sums, bool add) {
  const u32 first_lane = operation.call.d >> 16, first = operation.call.d & 0xffff;
  const bool packed = operation.m == 64 * operation.call.blocks;
  const bool integers = operation.call.kind == static_cast<int>(TensorKind::kI8);
  for (int n = 0; n < operation.n; ++n) {
    for (int m = 0; m < 64; ++m) {
      int lane = 64 * half + m, column = n;
      if (packed && operation.call.blocks == 1) lane = m % 16 + 32 * (m / 16) + static_cast<int>(first_lane);
      if (packed && operation.call.blocks == 2) {
        lane = m + 64 * (n / (operation.n / 2));
        column = n % (operation.n / 2);
      }
      float& to = memory.value(lane, first + static_cast<u32>(column));
      const float sum = sums[static_cast<size_t>(n) * 64 + static_cast<size_t>(m)];
      if (integers) {
        to = std::bit_cast<float>((add ? std::bit_cast<uint32_t>(to) : 0u) +
                                  static_cast<uint32_t>(static_cast<int32_t>(sum)));
      } else {
        to = add ? to + sum : sum;
      }
    }
  }
}

// Operations [i, next) of the sequence, which add to one accumulator.
void multiply(Block& issuer, const TensorSequence& sequence, size_t i, size_t next) {
  static thread_local std::vector<float> a, b, sums;
  const TensorOperation& head = sequence.queue[i];
  const bool integers = head.call.kind == static_cast<int>(TensorKind::kI8);
  const int blocks = head.call.blocks, n = head.n, share = n / blocks;
  const int step = 32 / size_of(head.type_a), k = static_cast<int>(next - i) * step;
  const bool packed = head.m == 64 * blocks;
  a.resize(static_cast<size_t>(64) * static_cast<size_t>(k));
  b.resize(static_cast<size_t>(n) * static_cast<size_t>(k));
  for (size_t j = i; j < next; ++j) {
    const int k0 = static_cast<int>(j - i) * step;
    for (int r = 0; r < blocks; ++r) {
      float* to = b.data() + static_cast<size_t>(r) * static_cast<size_t>(share) * static_cast<size_t>(k) + k0;
      Block& block = block_of_group(issuer, blocks, r);
      if (integers) {
        widen_bytes(block, sequence.queue[j].b[r], to, k, false);
      } else {
        sequence.queue[j].b[r].widen_rows(block, to, k);
      }
    }
  }
  for (int r = 0; r < blocks; ++r) {
    Block& block = block_of_group(issuer, blocks, r);
    for (int half = 0; half < (packed ? 1 : 2); ++half) {
      for (size_t j = i; j < next; ++j) {
        float* to = a.data() + (j - i) * static_cast<size_t>(step) * Operand::kColumnPitch;
        const Operand& operand = sequence.queue[j].a[r][half];
        if (integers) {
          widen_bytes(block, operand, to, 0, true);
        } else {
          operand.widen_columns(block, to);
        }
      }
      if (!packed && !integers) {  // as the products lie in tensor memory
        float* d = block.tensor->column_of(half, head.call.d & 0xffff);
        if (!head.call.accumulate) std::memset(d, 0, static_cast<size_t>(n) * 64 * sizeof(float));
        multiply_tile(n, k, b.data(), a.data(), d);
        continue;
      }
      sums.assign(static_cast<size_t>(n) * 64, 0.f);
      multiply_tile(n, k, b.data(), a.data(), sums.data());
      place_sums(*block.tensor, head, half, sums.data(), head.call.accumulate);
    }
  }
}

void copy(Block& issuer, const TensorOperation& operation) {
  const auto shape = static_cast<TensorCopy>(operation.copy);
  const u32 first = operation.call.d & 0xffff;
  for (int r = 0; r < operation.call.blocks; ++r) {
    Block& block = block_of_group(issuer, operation.call.blocks, r);
    operation.a[r][0].for_words(block, [&](int row, int word, uint32_t bits) {
      for (int lane = row % 32; lane < TensorMemory::kLanes; lane += 32) {
        if (device::tensor_copy_row(shape, lane) == row)
          block.tensor->value(lane, first + static_cast<u32>(word)) = std::bit_cast<float>(bits);
      }
    });
  }
}

}  // namespace

void execute_tensor(Block& block, TensorSequence& sequence, uint64_t end) {
  if (end <= sequence.first) return;
  const auto count = static_cast<size_t>(end - sequence.first);
  for (size_t i = 0; i < count;) {
    size_t next = i + 1;
    if (sequence.queue[i].copy >= 0) {
      copy(block, sequence.queue[i]);
    } else if (sequence.queue[i].call.scaled >= 0) {
      multiply_scaled(block, sequence.queue[i]);
    } else {
      while (next < count && next - i < kMostSteps && same_accumulator(sequence.queue[i], sequence.queue[next])) ++next;
      multiply(block, sequence, i, next);
    }
    i = next;
  }
  sequence.queue.erase(sequence.queue.begin(), sequence.queue.begin() + static_cast<std::ptrdiff_t>(count));
  sequence.first = end;
}

}  // namespace wt::sim
