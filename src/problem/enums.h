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
  kE2m1,  // OCP fp4: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives; two in a byte, the first in its low half
  kI8,    // signed integers, multiplied into int32; zero points and scales are the problem's
};

// Numbers that lie along channels have a scale for each so many of them, a byte in a tensor of its own.
enum class BlockScales : unsigned char {
  kNone,
  kMx,  // OCP microscaling: of 32 e4m3, e5m2 or e2m1, a power of two, 2^(byte - 127); 255 is NaN (ue8m0)
  kNv,  // of 16 e2m1, an e4m3 without sign (ue4m3)
};
constexpr int scale_block(BlockScales scales) { return scales == BlockScales::kNv ? 16 : 32; }

enum class Layout : unsigned char {
  kChannelsLast,   // x: n d h w c   w: k d h w c/g   y: n d h w k
  kChannelsFirst,  // x: n c d h w   w: k c/g d h w   y: n k d h w
};

// Bytes of a number; of a type that is smaller than a byte, one.
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
    case DataType::kE2m1:
    case DataType::kI8:
      return 1;
  }
  return 0;
}
// Numbers of a byte that holds several; 1 of all others.
constexpr int packed_in_byte(DataType type) { return type == DataType::kE2m1 ? 2 : 1; }
// Bytes of so many numbers, which fill bytes.
constexpr long long bytes_of(DataType type, long long numbers) {
  return numbers / packed_in_byte(type) * size_of(type);
}

}  // namespace wt
