// SPDX-License-Identifier: Apache-2.0
// target/amd/arithmetic.h - float operations that need an instruction rather than an operator.
#pragma once

#include "target/amd/identity.h"

namespace wt::device {

WT_DEVICE float multiply_add(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
// A product rounded by itself. WHY: HIP's clang joins it with an addition that follows.
WT_DEVICE float multiply(float a, float b) {
#pragma clang fp contract(off)
  return a * b;
}
WT_DEVICE float square_root(float value) { return __builtin_sqrtf(value); }

// 2^x within 2^-22 and 1/x within 2^-23, relative: v_exp_f32 and v_rcp_f32 are good to one unit. Subnormal arguments
// may count as zero, and subnormal results be zero.
WT_DEVICE float approximate_exp2(float x) { return __builtin_amdgcn_exp2f(x); }
WT_DEVICE float approximate_reciprocal(float x) { return __builtin_amdgcn_rcpf(x); }

// Byte i of the result is byte (selector >> 4i) % 8 of b:a.
WT_DEVICE u32 permute_bytes(u32 a, u32 b, u32 selector) {
  // WHY: v_perm_b32 selects by bytes, not by halves of them.
  const u32 places = (selector & 7) | (selector & 0x70) << 4 | (selector & 0x700) << 8 | (selector & 0x7000) << 12;
  return __builtin_amdgcn_perm(b, a, places);
}

}  // namespace wt::device
