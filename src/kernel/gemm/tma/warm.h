// SPDX-License-Identifier: Apache-2.0
// kernel/gemm/tma/warm.h - consumers that have nothing to do yet bring the operands of small problems into the L2.
//
//   memory, line after line, divided over all blocks --> L2, while barriers are set up and tensor maps are fetched
//
// WHY: the first copy waits for its map and then for memory, and the boxes of a filter are rows of 128 bytes that lie
// far apart, which memory serves at half its rate.
#pragma once

#include "kernel/gemm/tma/layout.h"
#include "kernel/gemm/tma/warm_arguments.h"
#include "target/hopper.h"

namespace wt {

template <KernelConfig kConfig>
WT_DEVICE void warm_l2(const WarmArguments& warm) {
  constexpr u32 kThreads = 128 * tma_layout::groups(kConfig);  // the producers are in a hurry
  const auto thread = static_cast<u32>(device::thread_index());
  if (thread >= kThreads) return;
  const u32 first = static_cast<u32>(device::block_index().x) * kThreads + thread;
  const u32 step = static_cast<u32>(device::grid_size().x) * kThreads;
  for (int i = 0; i < 2; ++i) {
    for (u32 line = first; line < static_cast<u32>(warm.lines[i]); line += step) {
      device::prefetch_l2(static_cast<const char*>(warm.operand[i]) + static_cast<i64>(line) * kWarmLine);
    }
  }
}

}  // namespace wt
