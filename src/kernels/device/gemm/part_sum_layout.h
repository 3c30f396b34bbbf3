// SPDX-License-Identifier: Apache-2.0
// kernels/device/gemm/part_sum_layout.h - how the launch of part_sum.h divides its work.
//
// Freestanding: the host counts threads by the same numbers.
#pragma once

namespace wt::part_sum {

inline constexpr int kThreads = 256;    // of a block
inline constexpr int kBatch = 8;        // parts whose loads a thread has on their way together
inline constexpr int kMostSlices = 16;  // threads that share a vector's parts

// So many of them that none has more than a batch, and where vectors are few, less.
constexpr int slices(long long vectors, long long parts, long long multiprocessors) {
  constexpr int kThreadsAtOnce = 512;  // of a multiprocessor
  int slices = 1;
  while (slices < kMostSlices &&
         (parts > slices * kBatch || (parts >= 4 * slices && vectors * slices < multiprocessors * kThreadsAtOnce)))
    slices *= 2;
  return slices;
}

}  // namespace wt::part_sum
