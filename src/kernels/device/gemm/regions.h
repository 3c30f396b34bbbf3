// SPDX-License-Identifier: Apache-2.0
// kernels/device/gemm/regions.h - regions of a block's shared memory, one behind the other.
//
//   bytes of each region --take--> its offset, and in the end the bytes of a block
//
// A kernel's layout is a struct of offsets that one function fills (such as tma_layout::SharedLayout): the launch takes
// its size from it and the device its addresses, so that they cannot disagree. Freestanding: the host asks for sizes.
#pragma once

namespace wt {

// Where the first region starts. WHY 1024: a 128-byte swizzle repeats every 8 rows, tiles must start on a repeat, and a
// block's shared memory may start anywhere.
inline constexpr int kSharedAlignment = 1024;

// Barriers of a ring (ring.h): full and empty for each slot.
constexpr int ring_bytes(int slots) { return 2 * 8 * slots; }

class Regions {
 public:
  constexpr int take(int bytes) {
    const int first = end_;
    end_ += bytes;
    return first;
  }
  // All of them, with room to align the first one.
  constexpr int bytes() const { return end_ + kSharedAlignment; }

 private:
  int end_ = 0;
};

}  // namespace wt
