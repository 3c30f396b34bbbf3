// SPDX-License-Identifier: Apache-2.0
// kernels/tma/device/warm.h - consumers that have nothing to do yet bring the operands of small problems into the L2.
//
//   memory, line after line, divided over all blocks --> L2, while barriers are set up and tensor maps are fetched
//
// WHY: the first copy waits for its map and then for memory, and the boxes of a filter are rows of 128 bytes that lie
// far apart, which memory serves at half its rate.
#pragma once

#include "kernels/tma/device/layout.h"
#include "kernels/tma/device/warm_arguments.h"
#include "target/hopper.h"

namespace wt {

template <KernelConfig kConfig>
WT_DEVICE void warm_l2(const WarmArguments& warm) {
  // Larger tiles are for larger problems.
  if constexpr (kConfig.gemm.tile.m * kConfig.gemm.tile.n > 128 * 128) return;
  constexpr u32 kThreads = 128 * tma_layout::groups(kConfig);  // the producers are in a hurry
  const auto thread = static_cast<u32>(device::thread_index());
  if (thread >= kThreads) return;
  const u32 first = static_cast<u32>(device::block_index().x) * kThreads + thread;
  const u32 step = static_cast<u32>(device::grid_size().x) * kThreads;
  const auto of_first = static_cast<u32>(warm.lines[0]), all = of_first + static_cast<u32>(warm.lines[1]);
  // WHY not unrolled: it runs once, and instructions come from memory too.
  WT_ROLLED for (u32 line = first; line < all; line += step) {
    const bool second = line >= of_first;
    const auto* operand = static_cast<const char*>(warm.operand[second ? 1 : 0]);
    device::prefetch_l2(operand + static_cast<i64>(second ? line - of_first : line) * kWarmLine);
  }
}

}  // namespace wt
