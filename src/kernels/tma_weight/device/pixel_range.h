// SPDX-License-Identifier: Apache-2.0
// kernels/tma_weight/device/pixel_range.h - the blocks of pixels that a part of a weight gradient sums over.
#pragma once

#include "target/target.h"

namespace wt {

struct PixelRange {
  i32 first, count;
};

// Part `part` of `all` blocks, each of which has `of_part` of them: none without pixels, fewer than none of parts
// behind the last one.
WT_DEVICE PixelRange pixel_range(i32 part, i32 of_part, i32 all) {
  const i32 first = part * of_part, left = all - first;
  return {first, left < of_part ? left : of_part};
}

}  // namespace wt
