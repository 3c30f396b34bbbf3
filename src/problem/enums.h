// SPDX-License-Identifier: Apache-2.0
// problem/enums.h - the choices that problems, kernel configurations and device code share.
//
// Freestanding: device compilers read this file too.
#pragma once

#include "problem/activations.h"

namespace wt {

enum class Direction : unsigned char {
  kForward,         // x, w -> y
  kBackwardData,    // y, w -> x   (dy, w -> dx)
  kBackwardWeight,  // x, y -> w   (x, dy -> dw)
};

enum class DataType : unsigned char {
  kF32,
  kTf32,  // stored as fp32, multiplied as tf32
  kF16,
  kBf16,
  kE4m3,  // OCP fp8: no infinities, saturates at 448
  kE5m2,  // OCP fp8: infinities, saturates at 57344
  kI8,    // signed integers, multiplied into int32; zero points and scales are the problem's
};

enum class Layout : unsigned char {
  kChannelsLast,   // x: n d h w c   w: k d h w c/g   y: n d h w k
  kChannelsFirst,  // x: n c d h w   w: k c/g d h w   y: n k d h w
};

constexpr int size_of(DataType type) {
  switch (type) {
    case DataType::kF32:
    case DataType::kTf32:
      return 4;
    case DataType::kF16:
    case DataType::kBf16:
      return 2;
    case DataType::kE4m3:
    case DataType::kE5m2:
    case DataType::kI8:
      return 1;
  }
  return 0;
}

}  // namespace wt
