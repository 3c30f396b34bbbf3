// SPDX-License-Identifier: Apache-2.0
// runtime/sim/tcgen05_scales.cc - products of operands with scales in tensor memory.
//
// A scale is a byte: a power of two (ue8m0), or of kNvf4 an e4m3 without sign. Row r's lie in lane r % 32 of every
// quarter of the lanes, column r / 32 (PTX manual, "Scale Factor layout in Tensor Memory" of tcgen05.mma). WHY all four
// quarters are compared: each is read by a part of the unit.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "runtime/sim/multiply.h"
#include "runtime/sim/primitives.h"
#include "runtime/sim/report.h"
#include "runtime/sim/tensor_memory.h"
#include "target/number.h"

namespace wt::sim {
namespace {

using device::ScaledKind;

constexpr const char* kOperation = "tensor_multiply_scaled";
constexpr const char* kKinds[] = {"mxf8f6f4", "mxf4", "mxf4nvf4"};
constexpr int kQuarter = 32, kRows = 128;

ScaledKind kind_of(const TensorOperation& operation) { return static_cast<ScaledKind>(operation.call.scaled); }
bool is_packed(ScaledKind kind) { return kind != ScaledKind::kMxf8; }

[[noreturn]] void refuse(Site site, std::string why) { fail(Fault::kUse, kOperation, site, std::move(why)); }

// One operand's scales: columns of tensor memory, and the first byte of each word.
struct Scales {
  uint32_t column;
  int rows, first;
  int columns() const { return (rows + kQuarter - 1) / kQuarter; }
};
Scales scales_of(const TensorOperation& operation, bool of_b) {
  const TensorCall& call = operation.call;
  if (of_b) return {call.scales_b, operation.n, static_cast<int>(call.word >> 4 & 3)};
  return {call.scales_a, operation.m, static_cast<int>(call.word >> 29 & 3)};
}

float scale_of(ScaledKind kind, uint8_t byte) {
  if (kind == ScaledKind::kNvf4) return number::to_float(E4m3{byte});
  return byte == 0xff ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0f, byte - 127);
}

float widen_e2m1(int bits) {
  constexpr float kMagnitudes[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  const float magnitude = kMagnitudes[bits & 7];
  return bits & 8 ? -magnitude : magnitude;
}

// (row, k) of an operand of up to 64 bytes-deep rows, times its scales: to[row * pitch + k * step].
struct Numbers {
  const TensorOperation& operation;
  TensorMemory& memory;
  Block& block;

  void put(const Operand& operand, bool of_b, int first_row, float* to, int pitch, int step) const {
    const ScaledKind kind = kind_of(operation);
    const DataType type = of_b ? operation.type_b : operation.type_a;
    const Scales scales = scales_of(operation, of_b);
    const int deep = depth(kind), each = deep / device::tensor_scales(kind);
    operand.for_bytes(block, [&](int row, int at, uint8_t byte) {
      const int numbers = is_packed(kind) ? 2 : 1;
      for (int i = 0; i < numbers; ++i) {
        const int k = at * numbers + i, r = first_row + row;
        const float number = is_packed(kind)           ? widen_e2m1(byte >> 4 * i & 15)
                             : type == DataType::kE4m3 ? number::to_float(E4m3{byte})
                                                       : number::to_float(E5m2{byte});
        const auto column = scales.column + static_cast<uint32_t>(r / kQuarter);
        const auto word = std::bit_cast<uint32_t>(memory.value(r % kQuarter, column));
        const auto scale = static_cast<uint8_t>(word >> 8 * (scales.first + k / each));
        to[row * pitch + k * step] = number * scale_of(kind, scale);
      }
    });
  }

  static int depth(ScaledKind kind) { return is_packed(kind) ? 64 : 32; }
};

}  // namespace

void check_scaled_word(TensorOperation& operation, Site site) {
  const TensorCall& call = operation.call;
  const ScaledKind kind = kind_of(operation);
  const u32 word = call.word, powers = kind == ScaledKind::kNvf4 ? 0 : 1;
  // Operands across k and the deeper products of e2m1 are bits, too, that are not known.
  constexpr u32 kUnknown = 0xfu | 1u << 6 | 3u << 13 | 3u << 15 | 1u << 31;
  if (word & kUnknown) {
    refuse(site, fmt::format("the word {:#x} of the product has bits {:#x}, which the simulator does not know", word,
                             word & kUnknown));
  }
  if (call.blocks != 1) refuse(site, "scales of a pair of blocks are not known to the simulator");
  if ((word >> 23 & 1) != powers) {
    refuse(site, fmt::format("the word of the product names scales of type {}; kind {} has {}", word >> 23 & 1,
                             kKinds[call.scaled], powers));
  }
  for (const u32 type : {word >> 7 & 7, word >> 10 & 7}) {
    const bool known = is_packed(kind) ? type == 1 : type <= 1;
    if (!known) {
      refuse(site, fmt::format("type {} in the word of the product is none that the simulator knows of kind {}", type,
                               kKinds[call.scaled]));
    }
  }
  operation.type_a = word >> 7 & 7 && !is_packed(kind) ? DataType::kE5m2 : DataType::kE4m3;
  operation.type_b = word >> 10 & 7 && !is_packed(kind) ? DataType::kE5m2 : DataType::kE4m3;
  operation.n = static_cast<int>(word >> 17 & 63) * 8;
  operation.m = static_cast<int>(word >> 24 & 31) * 16;
  if (operation.m != kRows) refuse(site, fmt::format("M={} is not 128, which a product with scales has", operation.m));
  if (operation.n < 16 || operation.n > 256 || operation.n % 16)
    refuse(site, fmt::format("N={} is no multiple of 16 up to 256", operation.n));
  for (const bool of_b : {false, true}) {
    const Scales scales = scales_of(operation, of_b);
    if (scales.first % device::tensor_scales(kind)) {
      refuse(site, fmt::format("the first scale of {} is byte {}, and a product of kind {} has {} together",
                               of_b ? "B" : "A", scales.first, kKinds[call.scaled], device::tensor_scales(kind)));
    }
    if (scales.column >> 16) {
      refuse(site,
             fmt::format("the scales of {} start in lane {}, and not in 0", of_b ? "B" : "A", scales.column >> 16));
    }
  }
}

void read_scales(Thread& thread, TensorMemory& memory, const TensorOperation& operation, uint32_t number, Site site) {
  const Cluster& cluster = *thread.block->cluster;
  const bool checks = cluster.plan->options.checks;
  const auto own = static_cast<uint16_t>(cluster.products_actor(thread.block->rank, thread.warp->index));
  for (const bool of_b : {false, true}) {
    const Scales scales = scales_of(operation, of_b);
    check_columns(memory, scales.column, static_cast<uint32_t>(scales.columns()), kOperation, site);
    for (int group = 0; group < TensorMemory::kGroups; ++group) {
      for (int i = 0; i < scales.columns(); ++i) {
        const uint32_t column = scales.column + static_cast<uint32_t>(i);
        TensorCell& cell = memory.cell(group, column);
        if (!cell.written) {
          fail(Fault::kUninitialised, kOperation, site,
               fmt::format("column {} of tensor memory has the scales of {} of lanes {} to {}, and nobody wrote it",
                           column, of_b ? "B" : "A", 16 * group, 16 * group + 15));
        }
        if (checks && cell.write_actor != own && !tensor_knows(thread, cell.write_actor, cell.write_clock)) {
          fail(Fault::kRace, kOperation, site,
               fmt::format("column {} of tensor memory has the scales of {}, which {} writes: nothing orders that "
                           "before this, or tensor_fence_after is missing here",
                           column, of_b ? "B" : "A", actor_text(cluster, cell.write_actor).text));
        }
        int slot = 0;
        while (slot < cell.readers && cell.by[slot].actor != own) ++slot;
        if (slot == TensorCell::kMost) continue;  // forgotten, which can hide a race
        cell.readers = static_cast<uint8_t>(std::max<int>(cell.readers, slot + 1));
        cell.by[slot] = {number, own};
      }
    }
  }
}

void multiply_scaled(Block& block, const TensorOperation& operation) {
  static thread_local std::vector<float> a, b;
  TensorMemory& memory = *block.tensor;
  for (const bool of_b : {false, true}) {
    const Scales scales = scales_of(operation, of_b);
    for (int row = 0; row < scales.rows; ++row) {
      const uint32_t column = scales.column + static_cast<uint32_t>(row / kQuarter);
      const auto first = std::bit_cast<uint32_t>(memory.value(row % kQuarter, column));
      if (kind_of(operation) == ScaledKind::kNvf4 && (first & 0x80808080u)) {
        return report_for(*memory.sequences[operation.warp].thread, Fault::kUse, kOperation, operation.site,
                          fmt::format("the scales {:#x} of row {} of {} have signs, which an e4m3 scale has not", first,
                                      row, of_b ? "B" : "A"));
      }
      for (int lane = row % kQuarter + kQuarter; lane < TensorMemory::kLanes; lane += kQuarter) {
        const auto other = std::bit_cast<uint32_t>(memory.value(lane, column));
        if (other == first) continue;
        return report_for(*memory.sequences[operation.warp].thread, Fault::kUse, kOperation, operation.site,
                          fmt::format("the scales of row {} of {} are {:#x} in lane {} and {:#x} in lane {}: every "
                                      "quarter of the lanes has the same",
                                      row, of_b ? "B" : "A", first, row % kQuarter, other, lane));
      }
    }
  }
  const int n = operation.n, k = Numbers::depth(kind_of(operation));
  const Numbers numbers{operation, memory, block};
  a.assign(static_cast<size_t>(k) * Operand::kColumnPitch, 0.f);
  b.assign(static_cast<size_t>(n) * static_cast<size_t>(k), 0.f);
  numbers.put(operation.b[0], true, 0, b.data(), k, 1);
  for (int half = 0; half < 2; ++half) {
    numbers.put(operation.a[0][half], false, 64 * half, a.data(), 1, Operand::kColumnPitch);
    float* d = memory.column_of(half, operation.call.d & 0xffff);
    if (!operation.call.accumulate) std::fill_n(d, static_cast<size_t>(n) * 64, 0.f);
    multiply_tile(n, k, b.data(), a.data(), d);
  }
}

}  // namespace wt::sim
