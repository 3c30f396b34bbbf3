// SPDX-License-Identifier: Apache-2.0
// target/cuda/convert.h - storage numbers to float and back, rounding to nearest even.
#pragma once

#include "target/cuda/identity.h"
#include "target/number.h"

namespace wt::device {

WT_DEVICE float to_float(float value) { return value; }
WT_DEVICE float to_float(Bf16 value) { return number::to_float(value); }
WT_DEVICE float to_float(F16 value) {
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value.bits));
  return result;
}
WT_DEVICE float to_float(E4m3 value) { return number::to_float(value); }
WT_DEVICE float to_float(E5m2 value) { return number::to_float(value); }
WT_DEVICE float to_float(I8 value) { return number::to_float(value); }

template <class T>
WT_DEVICE T from_float(float value) {
  if constexpr (kSame<T, Bf16>) {
    Bf16 result;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
    return result;
  } else if constexpr (kSame<T, F16>) {
    F16 result;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
    return result;
  } else {
    return number::From<T>::rounded(value);
  }
}

// Two 16-bit numbers as they lie side by side, in one instruction.
template <class T>
WT_DEVICE u32 from_floats(float low, float high) {
  static_assert(kSame<T, Bf16> || kSame<T, F16>);
  u32 result;
  if constexpr (kSame<T, Bf16>) {
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
  } else {
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
  }
  return result;
}

WT_DEVICE float round_tf32(float value) {
  u32 result;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(result) : "f"(value));
  return __uint_as_float(result);
}

}  // namespace wt::device
