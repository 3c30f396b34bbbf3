// SPDX-License-Identifier: Apache-2.0
// target/sim/arithmetic.h - float operations that need an instruction rather than an operator.
#pragma once

#include "target/sim/approximation.h"
#include "target/sim/identity.h"

namespace wt::device {

WT_DEVICE float multiply_add(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
WT_DEVICE float multiply(float a, float b) { return a * b; }  // rounded by itself: -ffp-contract=off
WT_DEVICE float square_root(float value) { return __builtin_sqrtf(value); }

// 2^x within 2^-22 and 1/x within 2^-23, relative, and off by as much as that; subnormal arguments count as zero, and
// subnormal results are zero.
WT_DEVICE float approximate_exp2(float x) { return sim::near(sim::exact_exp2(sim::flushed(x)), x, 0x1p-22); }
WT_DEVICE float approximate_reciprocal(float x) {
  return sim::near(1 / static_cast<double>(sim::flushed(x)), x, 0x1p-23);
}

// Byte i of the result is byte (selector >> 4i) % 8 of b:a.
WT_DEVICE u32 permute_bytes(u32 a, u32 b, u32 selector) {
  const u64 bytes = static_cast<u64>(b) << 32 | a;
  u32 result = 0;
  for (int i = 0; i < 4; ++i) result |= static_cast<u32>(bytes >> (selector >> 4 * i & 7) * 8 & 0xff) << 8 * i;
  return result;
}

}  // namespace wt::device
