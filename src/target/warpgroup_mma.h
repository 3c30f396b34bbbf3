// SPDX-License-Identifier: Apache-2.0
// target/warpgroup_mma.h - a warpgroup's products on targets without wgmma: each of its four warps multiplies by
// mma.sync.
//
//   descriptor --addresses of the canonical layout--> ldmatrix --fragments--> mma.sync m16n8k16 --> accumulators
//
// Operands, descriptors and the accumulators' places are those of wgmma (target/cuda/wgmma.h), so that a kernel's
// source serves both; only 16-bit types have this form. Products are complete when they return: fences and
// commits of the kernel are nothing here, and a wait is one of the warp's lanes for each other.
#pragma once

#include "target/wgmma_descriptor.h"

namespace wt::device {

// Where an operand's rows of 8 elements lie. The swizzle's pattern is anchored to absolute addresses.
struct OperandPlace {
  SharedAddress start;
  u32 leading, stride, swizzle;  // bytes of a swizzled row; 16: none

  WT_DEVICE explicit OperandPlace(u64 descriptor)
      : start((static_cast<u32>(descriptor) & 0x3fff) << 4),
        leading((static_cast<u32>(descriptor) >> 16 & 0x3fff) << 4),
        stride((static_cast<u32>(descriptor >> 32) & 0x3fff) << 4),
        swizzle(bytes_of(static_cast<u32>(descriptor >> 62))) {}

  // Eight elements along k of a row: the first eight or the second.
  WT_DEVICE SharedAddress along_k(u32 row, u32 second) const {
    const u32 to_chunk = swizzle == 16 ? second * leading : second * 16;
    return swizzled(start + row / 8 * stride + row % 8 * swizzle + to_chunk);
  }
  // Eight rows next to each other, from a multiple of eight on, at one k.
  WT_DEVICE SharedAddress across_k(u32 row, u32 k) const {
    if (swizzle == 16) return start + row / 8 * stride + k / 8 * leading + k % 8 * 16;
    const u32 rows = swizzle / 2;  // of a swizzled row
    return swizzled(start + row / rows * leading + row % rows * 2 + k / 8 * stride + k % 8 * swizzle);
  }

 private:
  WT_DEVICE static u32 bytes_of(u32 code) { return code == 0 ? 16 : 256u >> code; }
  WT_DEVICE SharedAddress swizzled(SharedAddress address) const { return address ^ (address >> 3 & (swizzle - 16)); }
};

template <DataType kA, DataType kB, int kN>
struct WarpgroupMma {
  static_assert(kA == kB && (kA == DataType::kBf16 || kA == DataType::kF16), "16-bit operands of one type");
  static_assert(kN % 8 == 0 && kN >= 8 && kN <= 256, "N is a multiple of 8 up to 256");

  template <Major kMajorA, Major kMajorB>
  WT_DEVICE static void multiply(float (&d)[kN / 2], u64 desc_a, u64 desc_b, bool accumulate) {
    const OperandPlace place(desc_a);
    const u32 lane = static_cast<u32>(lane_index()), first = static_cast<u32>(thread_index()) % 128 / 32 * 16;
    u32 a[4];
    if constexpr (kMajorA == Major::kK) {
      load_matrix<false>(a, place.along_k(first + lane % 16, lane / 16));
    } else {
      load_matrix<true>(a, place.across_k(first + lane / 8 % 2 * 8, lane % 8 + lane / 16 * 8));
    }
    multiply<kMajorB>(d, a, desc_b, accumulate);
  }

  template <Major kMajorB>
  WT_DEVICE static void multiply(float (&d)[kN / 2], const u32 (&a_regs)[4], u64 desc_b, bool accumulate) {
    const OperandPlace place(desc_b);
    Number a[8];
    put(a_regs, a);
    constexpr int kWhole = kN / kSome * kSome;
    WT_UNROLL for (int n = 0; n < kWhole; n += kSome) multiply_some<kMajorB, kSome / 8>(d, n, a, place, accumulate);
    if constexpr (kN > kWhole) multiply_some<kMajorB, (kN - kWhole) / 8>(d, kWhole, a, place, accumulate);
  }

 private:
  using Instruction = Mma<kA, 16, 8, 16>;
  using Number = typename Instruction::Operand;
  static constexpr int kSome = 32;  // columns whose fragments are in registers at the same time

  template <int kCount>
  WT_DEVICE static void put(const u32 (&from)[kCount], Number (&to)[2 * kCount]) {
    WT_UNROLL for (int i = 0; i < kCount; ++i) {
      to[2 * i].bits = static_cast<u16>(from[i]);
      to[2 * i + 1].bits = static_cast<u16>(from[i] >> 16);
    }
  }

  // The sums of kBlocks * 8 columns from `first` on.
  template <Major kMajorB, int kBlocks>
  WT_DEVICE static void multiply_some(float (&d)[kN / 2], int first, const Number (&a)[8], const OperandPlace& place,
                                      bool accumulate) {
    Number b[kBlocks][4];
    WT_UNROLL for (int block = 0; block < kBlocks; block += 2) load<kMajorB>(b, block, first, place);
    float c[kBlocks][4];
    WT_UNROLL for (int i = 0; i < 4 * kBlocks; ++i) c[i / 4][i % 4] = accumulate ? d[first / 2 + i] : 0;
    multiply_row<Instruction>(c, a, b);
    WT_UNROLL for (int i = 0; i < 4 * kBlocks; ++i) d[first / 2 + i] = c[i / 4][i % 4];
  }

  // The fragments of two blocks of eight columns, or of the last one.
  template <Major kMajorB, int kBlocks>
  WT_DEVICE static void load(Number (&b)[kBlocks][4], int block, int first, const OperandPlace& place) {
    const bool two = block + 1 < kBlocks;
    const u32 lane = static_cast<u32>(lane_index());
    const u32 row = static_cast<u32>(first + 8 * block) + (two ? lane / 16 * 8 : 0), half = lane / 8 % 2;
    const SharedAddress at =
        kMajorB == Major::kK ? place.along_k(row + lane % 8, half) : place.across_k(row, lane % 8 + half * 8);
    if (two) {
      u32 words[4];
      load_matrix<kMajorB == Major::kMn>(words, at);
      const u32 low[2] = {words[0], words[1]}, high[2] = {words[2], words[3]};
      put(low, b[block]);
      put(high, b[two ? block + 1 : block]);
    } else {
      u32 words[2];
      load_matrix<kMajorB == Major::kMn>(words, at);
      put(words, b[block]);
    }
  }
};

}  // namespace wt::device
