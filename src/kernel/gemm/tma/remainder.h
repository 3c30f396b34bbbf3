// SPDX-License-Identifier: Apache-2.0
// kernel/gemm/tma/remainder.h - fp32 as a sum of two tf32, for products that keep fp32's accuracy.
//
//   x = high + low + what 22 bits cannot hold;  a b = a.low b.high + a.high b.low + a.high b.high
//
// By warps beside the producer, between the copies and wgmma, which reads tf32 from shared memory alone: numbers are
// replaced by their high parts where they lie, and the low parts go to the same place of a second buffer, so that
// nothing here depends on how a tile is laid out. The products of two low parts are left out: with the rounding of the
// low parts, a product's error stays below 3 * 2^-22 of it.
#pragma once

#include "kernel/gemm/tma/layout.h"
#include "target/hopper.h"

namespace wt {

struct Tf32Parts {
  float high, low;
};

// The nearest tf32, ties away from zero: half of the last of 10 bits of fraction is added, and the rest cut off.
WT_DEVICE u32 rounded_tf32(u32 bits) { return (bits + 0x1000u) & ~0x1fffu; }

WT_DEVICE Tf32Parts tf32_parts(float value) {
  const u32 bits = __builtin_bit_cast(u32, value);
  constexpr u32 kInfinity = 0x7f800000u;
  u32 high = rounded_tf32(bits);
  // WHY: the largest numbers would round to infinity, and the low part of an infinity would be not a number.
  if ((high & kInfinity) == kInfinity) high = bits & ~0x1fffu;
  const float low = (bits & ~(1u << 31)) == kInfinity ? 0.0f : value - __builtin_bit_cast(float, high);
  return {__builtin_bit_cast(float, high), __builtin_bit_cast(float, rounded_tf32(__builtin_bit_cast(u32, low)))};
}

// Splits `bytes` at `numbers`; `thread` of kRemainderThreads.
WT_DEVICE void split_numbers(SharedAddress numbers, SharedAddress low, int bytes, int thread) {
  using Four = Vector<float, 4>;
  WT_UNROLL_FEW for (int at = 16 * thread; at < bytes; at += 16 * tma_layout::kRemainderThreads) {
    Four high = device::load_shared<Four>(numbers + at), rest;
    WT_UNROLL for (int i = 0; i < 4; ++i) {
      const Tf32Parts parts = tf32_parts(high.at[i]);
      high.at[i] = parts.high;
      rest.at[i] = parts.low;
    }
    device::store_shared(numbers + at, high);
    device::store_shared(low + at, rest);
  }
}

}  // namespace wt
