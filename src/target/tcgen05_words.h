// SPDX-License-Identifier: Apache-2.0
// target/tcgen05_words.h - the words that name operands and shapes of tcgen05 products, on the GPU and in the
// simulator.
//
// Freestanding. PTX ISA manual 9, "Shared memory descriptor" and "Instruction descriptor" of tcgen05.
#pragma once

#include "target/types.h"

namespace wt::device {

enum class TensorKind : u8 { kF16, kTf32, kF8f6f4, kI8 };

// Bits 61 to 63 of an operand's descriptor.
enum class TensorSwizzle : u8 { kNone = 0, k128 = 2, k64 = 4, k32 = 6 };

// How the 32 lanes of a warp and their registers reach tensor memory: lanes by bits of one row.
enum class TensorShape : u8 {
  k32x32,     // thread t has lane t, register i column i
  k16x64,     // 16 lanes: thread t has lane t / 4 + 8 (t % 2), register i column 2 i + t / 2 % 2
  k16x128,    // lane t / 4 + 8 (i % 2), column 4 (i / 2) + t % 4
  k16x256,    // lane t / 4 + 8 (i / 2 % 2), column 8 (i / 4) + 2 (t % 4) + i % 2: the fragment of mma.sync and wgmma
  k16x32Two,  // lane t % 16, column i; of threads 16 to 31 as many columns behind as there are registers
};

// What tensor_copy brings from shared memory: lanes by bits.
enum class TensorCopy : u8 {
  k128x256,      // 128 lanes, 8 columns
  k128x128,      // 128 lanes, 4 columns
  k32x128Four,   // 32 rows to each of the four quarters of the lanes, 4 columns
  k4x256,        // 4 lanes, 8 columns
  k64x128Apart,  // 64 rows, 4 columns: the first half to quarters 0 and 2 of the lanes, the second to 1 and 3
  k64x128Near,   // the first half to quarters 0 and 1, the second to 2 and 3
};
// Rows of a copy, and the row that lane `lane` gets; none of lanes from the last row on.
constexpr int tensor_copy_rows(TensorCopy copy) {
  switch (copy) {
    case TensorCopy::k128x256:
    case TensorCopy::k128x128:
      return 128;
    case TensorCopy::k64x128Apart:
    case TensorCopy::k64x128Near:
      return 64;
    case TensorCopy::k32x128Four:
      return 32;
    case TensorCopy::k4x256:
      return 4;
  }
  return 0;
}
constexpr int tensor_copy_columns(TensorCopy copy) {
  return copy == TensorCopy::k128x256 || copy == TensorCopy::k4x256 ? 8 : 4;
}
constexpr int tensor_copy_row(TensorCopy copy, int lane) {
  if (copy == TensorCopy::k64x128Near) return lane / 64 * 32 + lane % 32;
  if (copy == TensorCopy::k4x256) return lane;
  return lane % tensor_copy_rows(copy);
}

// An operand in shared memory. start: its first byte; leading, stride: bytes between the blocks of the layout, which
// are those of wgmma.
constexpr u64 tensor_descriptor(SharedAddress start, u32 leading, u32 stride, TensorSwizzle swizzle) {
  constexpr u64 kVersion = u64{1} << 46;
  const auto units = [](u32 bytes) { return static_cast<u64>((bytes & 0x3ffff) >> 4); };
  return units(start) | units(leading) << 16 | units(stride) << 32 | kVersion | static_cast<u64>(swizzle) << 61;
}

// A type's number in the word below, which counts anew in each kind.
constexpr u32 tensor_type(DataType type) {
  switch (type) {
    case DataType::kBf16:
    case DataType::kE5m2:
      return 1;
    case DataType::kTf32:
    case DataType::kF32:
      return 2;
    default:
      return 0;  // fp16, e4m3
  }
}
constexpr TensorKind tensor_kind(DataType type) {
  return size_of(type) == 4 ? TensorKind::kTf32 : size_of(type) == 2 ? TensorKind::kF16 : TensorKind::kF8f6f4;
}

// The shape and types of a product whose sums are fp32. `across_a`, `across_b`: the operand's rows hold consecutive m
// or n, and not k.
constexpr u32 tensor_word(DataType a, DataType b, int m, int n, bool across_a, bool across_b) {
  constexpr u32 kFloatSums = 1u << 4;
  return kFloatSums | tensor_type(a) << 7 | tensor_type(b) << 10 | static_cast<u32>(across_a) << 15 |
         static_cast<u32>(across_b) << 16 | static_cast<u32>(n / 8) << 17 | static_cast<u32>(m / 16) << 24;
}
// The same of signed bytes, whose sums are 32-bit integers.
constexpr u32 tensor_word_i8(int m, int n) {
  return 2u << 4 | 1u << 7 | 1u << 10 | static_cast<u32>(n / 8) << 17 | static_cast<u32>(m / 16) << 24;
}

// Products of operands that have scales: one for each block of numbers along k, which lies in tensor memory.
enum class ScaledKind : u8 {
  kMxf8,  // bytes of fp8, a power of two for 32 numbers
  kMxf4,  // pairs of e2m1 in a byte, a power of two for 32 numbers
  kNvf4,  // pairs of e2m1 in a byte, an e4m3 without sign for 16 numbers
};
// What numbers of this type are multiplied by.
constexpr ScaledKind scaled_kind(DataType type, BlockScales scales) {
  if (type != DataType::kE2m1) return ScaledKind::kMxf8;
  return scales == BlockScales::kNv ? ScaledKind::kNvf4 : ScaledKind::kMxf4;
}
// Scales of a row in one product, which is 32 bytes deep; each is a byte.
constexpr int tensor_scales(ScaledKind kind) {
  return kind == ScaledKind::kMxf8 ? 1 : kind == ScaledKind::kMxf4 ? 2 : 4;
}
// Row r's scales lie in lanes r % 32, 32 + r % 32 and so on, of which each quarter of the lanes has its copy, and
// column r / 32 from the scales' first on. `first_a`, `first_b`: which of the four bytes there is the product's first.
// Types count in kMxf8 alone.
constexpr u32 tensor_word_scaled(ScaledKind kind, DataType a, DataType b, int m, int n, int first_a, int first_b) {
  constexpr u32 kE2m1 = 1;
  const bool packed = kind != ScaledKind::kMxf8, powers = kind != ScaledKind::kNvf4;
  return static_cast<u32>(first_b) << 4 | (packed ? kE2m1 : tensor_type(a)) << 7 |
         (packed ? kE2m1 : tensor_type(b)) << 10 | static_cast<u32>(n / 8) << 17 | static_cast<u32>(powers) << 23 |
         static_cast<u32>(m / 16) << 24 | static_cast<u32>(first_a) << 29;
}

// Where register `index` of `count` of a thread lies in tensor memory, from the address's first lane and column on.
struct TensorPlace {
  int lane, column;
};
constexpr TensorPlace tensor_place(TensorShape shape, int thread, int index, int count) {
  switch (shape) {
    case TensorShape::k32x32:
      return {thread, index};
    case TensorShape::k16x64:
      return {thread / 4 + 8 * (thread % 2), 2 * index + thread / 2 % 2};
    case TensorShape::k16x128:
      return {thread / 4 + 8 * (index % 2), 4 * (index / 2) + thread % 4};
    case TensorShape::k16x256:
      return {thread / 4 + 8 * (index / 2 % 2), 8 * (index / 4) + 2 * (thread % 4) + index % 2};
    case TensorShape::k16x32Two:
      return {thread % 16, index + thread / 16 * count};
  }
  return {0, 0};
}

}  // namespace wt::device
