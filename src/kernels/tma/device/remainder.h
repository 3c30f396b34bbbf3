// SPDX-License-Identifier: Apache-2.0
// kernels/tma/device/remainder.h - fp32 as a sum of two tf32, for products that keep fp32's accuracy.
//
//   x = high + low + what 22 bits cannot hold;  a b = a.low b.high + a.high b.low + a.high b.high
//
// Of an operand that wgmma reads in shared memory by warps beside the producer, between the copies and wgmma: numbers
// are replaced by their high parts where they lie, and the low parts go to the same place of a second buffer, so that
// nothing here depends on how a tile is laid out. Rows of A are parted in registers (parted_rows.h). The products of two low parts are left out: with the rounding of the
// low parts, a product's error stays below 3 * 2^-22 of it.
#pragma once

#include "kernels/tma/device/layout.h"
#include "target/hopper.h"

namespace wt {

struct Tf32Parts {
  float high, low;
};

// Each part is the nearest tf32, ties away from zero: half of the last of 10 bits of fraction is added, and the rest
// cut off. The largest numbers, which would round to infinity, are cut off without.
//
// What is not finite is 1 and itself. WHY: an infinity as the high part would meet the other number's low part, which
// is 0 or has the other sign, so that infinite products would not be numbers; of 1 and the other number's low part
// nothing but an infinity remains. A NaN's low part is one too, and makes one of every sum that it enters.
WT_DEVICE Tf32Parts tf32_parts(float value) {
  constexpr u32 kSign = 1u << 31, kInfinity = 0x7f800000u, kOne = 0x3f800000u, kHalf = 0x1000u, kCut = ~0x1fffu;
  const u32 bits = __builtin_bit_cast(u32, value), magnitude = bits & ~kSign;
  // WHY in the low part too: a NaN's bits and a half of the last would be those of zero.
  const u32 half = magnitude < kInfinity - kHalf ? kHalf : 0;
  const u32 high = magnitude < kInfinity ? (bits + half) & kCut : (bits & kSign) | kOne;
  const float low = value - __builtin_bit_cast(float, high);
  const u32 low_bits = (__builtin_bit_cast(u32, low) + half) & kCut;
  return {__builtin_bit_cast(float, high), __builtin_bit_cast(float, low_bits)};
}

// Splits kCount vectors, kRemainderThreads of them apart.
template <int kCount>
WT_DEVICE void split_vectors(SharedAddress numbers, SharedAddress low) {
  using Four = Vector<float, 4>;
  constexpr int kStride = 16 * tma_layout::kRemainderThreads;
  Four high[kCount];
  WT_UNROLL for (int j = 0; j < kCount; ++j) high[j] = device::load_shared<Four>(numbers + j * kStride);
  WT_UNROLL for (int j = 0; j < kCount; ++j) {
    Four rest;
    WT_UNROLL for (int i = 0; i < 4; ++i) {
      const Tf32Parts parts = tf32_parts(high[j].at[i]);
      high[j].at[i] = parts.high;
      rest.at[i] = parts.low;
    }
    device::store_shared(numbers + j * kStride, high[j]);
    device::store_shared(low + j * kStride, rest);
  }
}

// Splits `bytes` at `numbers`; `thread` of kRemainderThreads, which has kAtOnce vectors in hand as long as there are so
// many.
template <int kAtOnce = 1>
WT_DEVICE void split_numbers(SharedAddress numbers, SharedAddress low, int bytes, int thread) {
  constexpr int kStride = 16 * tma_layout::kRemainderThreads;
  int at = 16 * thread;
  if constexpr (kAtOnce > 1) {
    WT_UNROLL_FEW for (; at + (kAtOnce - 1) * kStride < bytes; at += kAtOnce * kStride) {
      split_vectors<kAtOnce>(numbers + at, low + at);
    }
  }
  WT_UNROLL_FEW for (; at < bytes; at += kStride) split_vectors<1>(numbers + at, low + at);
}

}  // namespace wt
