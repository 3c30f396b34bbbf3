// SPDX-License-Identifier: Apache-2.0
// target/sim/approximation.h - instructions that approximate: the exact result, moved as far as their bound allows.
//
// WHY moved: GPUs differ in the last bits, and what is within the bound here is within it on each of them.
#pragma once

#include "target/number.h"

namespace wt::sim {

inline constexpr float kLeastNormal = 0x1p-126f;

inline float flushed(float x) { return x < kLeastNormal && x > -kLeastNormal ? x * 0.0f : x; }

// 2^x in double, without a math library: 2^n e^y with |y| <= ln2 / 2.
inline double exact_exp2(float x) {
  if (x != x) return static_cast<double>(x);
  if (x >= 128) return __builtin_inf();
  if (x < -126) return 0;
  const int n = static_cast<int>(x + (x < 0 ? -0.5f : 0.5f));
  const double y = (static_cast<double>(x) - n) * 0.693147180559945309417;
  double sum = 1;
  for (int i = 14; i > 0; --i) sum = 1 + sum * y / i;
  return sum * __builtin_bit_cast(double, static_cast<u64>(n + 1023) << 52);
}

// `exact` off by up to `bound`, relative, to either side as the argument's bits have it; the rounding is part of that.
inline float near(double exact, float argument, double bound) {
  const u32 mixed = (number::bits_of(argument) ^ 0x5bd1e995u) * 2654435761u;
  const double part = static_cast<double>(mixed >> 8) * 0x1p-23 - 1;  // [-1, 1)
  return flushed(static_cast<float>(exact * (1 + part * (bound - 0x1p-24))));
}

}  // namespace wt::sim
