// SPDX-License-Identifier: Apache-2.0
// target/cuda/arithmetic.h - float operations that need an instruction rather than an operator.
#pragma once

#include "target/cuda/identity.h"

namespace wt::device {

WT_DEVICE float multiply_add(float a, float b, float c) { return __fmaf_rn(a, b, c); }
// A product rounded by itself, which no compiler joins with an addition that follows.
WT_DEVICE float multiply(float a, float b) { return __fmul_rn(a, b); }
WT_DEVICE float square_root(float value) { return __fsqrt_rn(value); }

// 2^x within 2^-22 and 1/x within 2^-23, relative (PTX manual, ex2 and rcp); subnormal arguments count as zero, and
// subnormal results are zero.
WT_DEVICE float approximate_exp2(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
WT_DEVICE float approximate_reciprocal(float x) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

// Byte i of the result is byte (selector >> 4i) % 8 of b:a.
WT_DEVICE u32 permute_bytes(u32 a, u32 b, u32 selector) { return __byte_perm(a, b, selector); }

}  // namespace wt::device
