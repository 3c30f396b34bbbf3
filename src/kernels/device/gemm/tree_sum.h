// SPDX-License-Identifier: Apache-2.0
// kernels/device/gemm/tree_sum.h - the sum of a tile's parts in pairs, pairs of pairs and so on: stream_k=tree.
//
// The order is that of the parts' numbers alone, so that results repeat bit for bit.
#pragma once

#include "target/types.h"

namespace wt {

// load(i): part i of `parts`, at most 2^kLevels - 1 of them. Vector: floats at[kWidth].
template <class Vector, int kWidth, int kLevels, class Load>
WT_DEVICE Vector add_in_tree(u32 parts, Load&& load) {
  const auto add = [](Vector& to, const Vector& value) {
    WT_UNROLL for (int i = 0; i < kWidth; ++i) to.at[i] += value.at[i];
  };
  // As one counts in binary: two sums of 2^i parts become one of 2^(i+1).
  Vector waiting[kLevels];
  for (u32 i = 0; i < parts; ++i) {
    Vector sum = load(i);
    bool carried = true;
    WT_UNROLL for (int level = 0; level < kLevels; ++level) {
      if (!carried) continue;
      if (i >> level & 1) {
        add(sum, waiting[level]);
      } else {
        waiting[level] = sum;
        carried = false;
      }
    }
  }
  Vector sum{};
  WT_UNROLL for (int level = 0; level < kLevels; ++level) {
    if (parts >> level & 1) add(sum, waiting[level]);
  }
  return sum;
}

}  // namespace wt
