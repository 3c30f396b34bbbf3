// SPDX-License-Identifier: Apache-2.0
// kernel/direct/sum.h - adds the partial sums of a depthwise weight gradient in a fixed order, then the epilogue.
//
//   workspace (splits, k, taps) fp32 --sum, epilogue--> dw
//
// dw is small and its splits are many, so the threads of a block share an element's splits, unlike kernel/split_sum.h.
#pragma once

#include "kernel/direct/arguments.h"
#include "kernel/direct/overlap.h"
#include "kernel/epilogue.h"
#include "kernel/gemm/storage.h"
#include "kernel/split_sum_arguments.h"

namespace wt {

template <KernelConfig kConfig>
struct DirectSum {
  using Params = SplitSumArguments;
  static constexpr int kThreads = kDirectSumThreads;
  static constexpr int kMinBlocks = 1;

  WT_DEVICE static void run(const Params& p) {
    const i32 thread = device::thread_index(), lane = thread % kElements, slice = thread / kElements;
    const i64 at = static_cast<i64>(device::block_index().x) * kElements + lane;
    wait_for_parts<kConfig>();
    float total = at < p.elements ? add_slice(p, at, slice) : 0;
    const SharedAddress base = device::shared_base();
    device::store_shared(base + 4 * thread, total);
    device::sync_block();
    if (slice > 0 || at >= p.elements) return;
    for (int i = 1; i < kSlices; ++i) total += device::load_shared<float>(base + 4 * (i * kElements + lane));
    Epilogue<kConfig.epilogue, output_type(kConfig)> steps;
    using Element = typename decltype(steps)::Element;
    device::store_global(static_cast<Element*>(p.out) + at,
                         steps.apply(p.epilogue, total, at, at / p.channel_span % p.channels));
    steps.finish(p.epilogue);
  }

 private:
  static constexpr int kElements = kDirectSumElements;
  static constexpr int kSlices = kThreads / kElements;
  static constexpr int kBatch = 4;  // loads in flight

  // Splits slice, slice + kSlices, ..
  WT_DEVICE static float add_slice(const Params& p, i64 at, i32 slice) {
    float total = 0;
    for (i32 first = slice; first < p.splits; first += kSlices * kBatch) {
      float part[kBatch];
      WT_UNROLL for (int i = 0; i < kBatch; ++i) {
        const i32 split = first + i * kSlices;
        part[i] = split < p.splits ? device::load_global(p.partials + split * p.elements + at) : 0;
      }
      WT_UNROLL for (int i = 0; i < kBatch; ++i) total += part[i];
    }
    return total;
  }
};

}  // namespace wt
