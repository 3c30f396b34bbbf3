// SPDX-License-Identifier: Apache-2.0
// kernel/split_sum.h - adds the partial sums of a split GEMM in a fixed order, then the epilogue.
//
//   workspace (splits, elements) fp32 --sum, epilogue--> output (elements)
//
// The second launch of every kernel with split_k=workspace; partials lie in the output's own order.
#pragma once

#include "kernel/epilogue.h"
#include "kernel/gemm/storage.h"
#include "kernel/split_sum_arguments.h"
#include "target/target.h"

namespace wt {

template <KernelConfig kConfig>
struct SplitSum {
  using Params = SplitSumArguments;
  static constexpr int kThreads = kSplitSumThreads;
  static constexpr int kMinBlocks = 1;
  static constexpr int kWidth = kSplitSumWidth;

  WT_DEVICE static void run(const Params& p) {
    Epilogue<kConfig.epilogue, output_type(kConfig)> steps;
    const i64 step = static_cast<i64>(device::grid_size().x) * kThreads * kWidth;
    for (i64 at = (static_cast<i64>(device::block_index().x) * kThreads + device::thread_index()) * kWidth;
         at < p.elements; at += step) {
      // WHY the alignment test: rows of partials are `elements` apart, which need not be a multiple of four.
      if (at + kWidth <= p.elements && p.elements % kWidth == 0) {
        sum_vector(p, at, steps);
      } else {
        for (i64 i = at; i < at + kWidth && i < p.elements; ++i) sum_one(p, i, steps);
      }
    }
    steps.finish(p.epilogue);
  }

 private:
  using Steps = Epilogue<kConfig.epilogue, output_type(kConfig)>;
  using Element = typename Steps::Element;

  WT_DEVICE static void finish_one(const Params& p, i64 at, float sum, Steps& steps) {
    device::store_global(static_cast<Element*>(p.out) + at,
                         steps.apply(p.epilogue, sum, at, at / p.channel_span % p.channels));
  }
  WT_DEVICE static void sum_one(const Params& p, i64 at, Steps& steps) {
    float sum = 0;
    for (i32 split = 0; split < p.splits; ++split) sum += device::load_global(p.partials + split * p.elements + at);
    finish_one(p, at, sum, steps);
  }
  WT_DEVICE static void sum_vector(const Params& p, i64 at, Steps& steps) {
    using Vector4 = Vector<float, kWidth>;
    Vector4 sum{};
    for (i32 split = 0; split < p.splits; ++split) {
      const Vector4 part = device::load_global(reinterpret_cast<const Vector4*>(p.partials + split * p.elements + at));
      WT_UNROLL for (int i = 0; i < kWidth; ++i) sum.at[i] += part.at[i];
    }
    WT_UNROLL for (int i = 0; i < kWidth; ++i) finish_one(p, at + i, sum.at[i], steps);
  }
};

}  // namespace wt
