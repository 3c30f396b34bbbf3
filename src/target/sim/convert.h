// SPDX-License-Identifier: Apache-2.0
// target/sim/convert.h - storage numbers to float and back, rounding to nearest even.
#pragma once

#include "target/number.h"
#include "target/sim/identity.h"

namespace wt::device {

WT_DEVICE float to_float(float value) { return value; }
WT_DEVICE float to_float(Bf16 value) { return number::to_float(value); }
WT_DEVICE float to_float(F16 value) { return number::to_float(value); }
WT_DEVICE float to_float(E4m3 value) { return number::to_float(value); }
WT_DEVICE float to_float(E5m2 value) { return number::to_float(value); }
WT_DEVICE float to_float(I8 value) { return number::to_float(value); }
WT_DEVICE float to_float(E4m3Fnuz value) { return number::to_float(value); }

template <class T>
WT_DEVICE T from_float(float value) {
  return number::From<T>::rounded(value);
}

// Two 16-bit numbers as they lie side by side.
template <class T>
WT_DEVICE u32 from_floats(float low, float high) {
  return static_cast<u32>(from_float<T>(low).bits) | static_cast<u32>(from_float<T>(high).bits) << 16;
}

WT_DEVICE float round_tf32(float value) { return number::round_tf32(value); }

}  // namespace wt::device
