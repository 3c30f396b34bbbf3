// SPDX-License-Identifier: Apache-2.0
// kernels/device/direct/sum.h - adds the partial sums of a depthwise weight gradient in a fixed order, then the
// epilogue.
//
//   workspace (splits, k, taps) fp32 --sum, epilogue--> dw
//
// dw is small and its splits are many, so the threads of a block share an element's splits, unlike
// kernels/beside/device/split_sum.h.
#pragma once

#include "kernels/beside/device/split_sum_arguments.h"
#include "kernels/device/direct/arguments.h"
#include "kernels/device/epilogue.h"
#include "kernels/device/gemm/storage.h"
#include "kernels/device/overlap.h"

namespace wt {

template <KernelConfig kConfig>
struct DirectSum {
  using Params = SplitSumArguments;
  static constexpr int kThreads = kDirectSumThreads;
  static constexpr int kMinBlocks = 1;

  WT_DEVICE static void run(const Params& p) {
    const i32 elements = direct_sum_elements(p.splits), slices = kThreads / elements;
    const i32 thread = device::thread_index(), lane = thread % elements, slice = thread / elements;
    const i64 at = static_cast<i64>(device::block_index().x) * elements + lane;
    wait_for_parts<kConfig>();
    float total = at < p.elements ? add_slice(p, at, slice, slices) : 0;
    const SharedAddress base = device::shared_base();
    // A tree, whose shape depends on nothing but the number of slices.
    for (i32 half = slices / 2; half > 0; half /= 2) {
      if (slice >= half && slice < 2 * half) device::store_shared(base + 4 * thread, total);
      device::sync_block();
      if (slice < half) total += device::load_shared<float>(base + 4 * (thread + half * elements));
    }
    if (slice > 0 || at >= p.elements) return;
    Epilogue<kConfig.epilogue, output_type(kConfig)> steps;
    using Element = typename decltype(steps)::Element;
    decltype(steps)::write(static_cast<Element*>(p.out) + at,
                           steps.apply(p.epilogue, total, at, at / p.channel_span % p.channels));
    steps.finish(p.epilogue);
  }

 private:
  static constexpr int kBatch = 4;  // loads in flight

  // Splits slice, slice + slices, ..
  WT_DEVICE static float add_slice(const Params& p, i64 at, i32 slice, i32 slices) {
    float total = 0;
    for (i32 first = slice; first < p.splits; first += slices * kBatch) {
      float part[kBatch];
      WT_UNROLL for (int i = 0; i < kBatch; ++i) {
        const i32 split = first + i * slices;
        part[i] = split < p.splits ? device::load_global(p.partials + split * p.elements + at) : 0;
      }
      WT_UNROLL for (int i = 0; i < kBatch; ++i) total += part[i];
    }
    return total;
  }
};

}  // namespace wt
