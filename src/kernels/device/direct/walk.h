// SPDX-License-Identifier: Apache-2.0
// kernels/device/direct/walk.h - which taps meet an output coordinate, and where each reads.
//
//   tap = first + i * tap_step  reads  position = start + i * position_step,  i = 0, 1, .. while tap < filter
//
// Backward data meets only taps that fall on the stride's lattice; the steps come from the host
// (bind_direct_gather.cc).
#pragma once

#include "kernels/device/direct/arguments.h"
#include "target/target.h"

namespace wt {

struct TapWalk {
  i32 tap, position;
};

template <Direction kDirection>
WT_DEVICE TapWalk walk_of(const GatherArguments& p, int dim, i32 at) {
  if constexpr (kDirection == Direction::kBackwardData) {
    for (i32 tap = 0; tap < p.tap_step[dim]; ++tap) {
      const i32 scaled = at + p.pad[dim] - tap * p.dilation[dim];
      if (scaled % p.stride[dim] == 0) return {tap, scaled / p.stride[dim]};
    }
    return {p.filter[dim], 0};
  } else {
    return {0, at * p.stride[dim] - p.pad[dim]};
  }
}

}  // namespace wt
