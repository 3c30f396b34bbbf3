// SPDX-License-Identifier: Apache-2.0
// kernels/beside/device/split_sum.h - adds the partial sums of a split GEMM in a fixed order, then the epilogue.
//
//   workspace (splits, elements) fp32 --sum, epilogue--> output (elements)
//
// Where outputs are few and parts many, the threads of a block share the parts of their outputs.
// The second launch of every kernel with split_k=workspace, and of split_k=atomic with one part; partials lie in the
// output's own order, or in that of the filter of merged groups.
#pragma once

#include "kernels/beside/device/split_sum_arguments.h"
#include "kernels/device/epilogue.h"
#include "kernels/device/gemm/storage.h"
#include "kernels/device/overlap.h"
#include "kernels/portable/device/layout.h"
#include "target/target.h"

namespace wt {

template <KernelConfig kConfig>
struct SplitSum {
  using Params = SplitSumArguments;
  static constexpr int kThreads = kSplitSumThreads;
  static constexpr int kMinBlocks = 5;  // their loads together fill the way to the L2
  static constexpr int kWidth = kSplitSumWidth;

  WT_DEVICE static void run(const Params& p) {
    wait_for_parts<kConfig>();
    Epilogue<kConfig.epilogue, output_type(kConfig)> steps;
    if (p.lanes > 1) {
      sum_shared(p, steps);
      return steps.finish(p.epilogue);
    }
    const i64 step = static_cast<i64>(device::grid_size().x) * kThreads * kWidth;
    for (i64 at = (static_cast<i64>(device::block_index().x) * kThreads + device::thread_index()) * kWidth;
         at < p.elements; at += step) {
      // WHY the alignment test: rows of partials are `elements` apart, which need not be a multiple of four; nor need
      // the channels of a merged group.
      if (at + kWidth <= p.elements && p.elements % kWidth == 0 && (kMerged == 1 || p.group_channels % kWidth == 0)) {
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
  using Vector4 = Vector<float, kWidth>;
  static constexpr int kBatch = 8;  // parts on their way at the same time

  WT_DEVICE static Element finish(const Params& p, i64 at, float sum, Steps& steps) {
    return steps.apply(p.epilogue, sum, at, at / p.channel_span % p.channels);
  }
  // Where the sums of output element `at` lie in a part, and how long a part is.
  // The portable kernels leave the diagonal alone.
  static constexpr int kMerged = kConfig.kind == Kind::kPortable ? 1 : kConfig.gemm.groups_per_tile;
  WT_DEVICE static i64 place(const Params& p, i64 at) {
    if constexpr (kMerged == 1) return at;
    const i64 row = at / p.group_channels;  // of one output channel and tap
    return at + (row * (kMerged - 1) + row / p.taps / p.group_filters % kMerged) * p.group_channels;
  }
  WT_DEVICE static void sum_one(const Params& p, i64 at, Steps& steps) {
    const float sum = add_parts<float>(p, at, 0, p.splits);
    Steps::write(static_cast<Element*>(p.out) + at, finish(p, at, sum, steps));
  }
  WT_DEVICE static void sum_vector(const Params& p, i64 at, Steps& steps) {
    write_vector(p, at, add_parts<Vector4>(p, at, 0, p.splits), steps);
  }
  // Each lane adds consecutive parts, the first lane the lanes' sums.
  WT_DEVICE static void sum_shared(const Params& p, Steps& steps) {
    const int thread = device::thread_index(), vectors = kThreads / p.lanes, lane = thread / vectors;
    const i64 all = p.elements / kWidth, step = static_cast<i64>(device::grid_size().x) * vectors;
    const SharedAddress sums = device::shared_base() + thread * static_cast<int>(sizeof(Vector4));
    for (i64 first = static_cast<i64>(device::block_index().x) * vectors; first < all; first += step) {
      const i64 at = (first + thread - lane * vectors) * kWidth;
      const bool exists = at < p.elements;
      Vector4 sum{};
      if (exists) sum = add_parts<Vector4>(p, at, p.splits * lane / p.lanes, p.splits * (lane + 1) / p.lanes);
      device::store_shared(sums, sum);
      device::sync_block();
      if (lane == 0 && exists) {
        for (int other = 1; other < p.lanes; ++other) {
          add(sum, device::load_shared<Vector4>(sums + other * vectors * static_cast<int>(sizeof(Vector4))));
        }
        write_vector(p, at, sum, steps);
      }
      device::sync_block();
    }
  }

  WT_DEVICE static void add(float& sum, float part) { sum += part; }
  WT_DEVICE static void add(Vector4& sum, const Vector4& part) {
    WT_UNROLL for (int i = 0; i < kWidth; ++i) sum.at[i] += part.at[i];
  }
  // WHY by batches: a load comes back after half a microsecond, and left to the compiler, up to three parts that make
  // no whole batch of its own are waited for one after the other.
  template <class Value>
  WT_DEVICE static Value add_parts(const Params& p, i64 at, i32 first, i32 end) {
    const i64 pitch = p.elements * kMerged;
    const float* from = p.partials + place(p, at) + first * pitch;
    Value sum{};
    for (i32 left = end - first; left > 0; left -= kBatch) {
      Value part[kBatch];
      WT_UNROLL for (int i = 0; i < kBatch; ++i) {
        part[i] = i < left ? device::load_global(reinterpret_cast<const Value*>(from)) : Value{};
        from += pitch;
      }
      WT_UNROLL for (int i = 0; i < kBatch; ++i) {
        if (i < left) add(sum, part[i]);
      }
    }
    return sum;
  }
  WT_DEVICE static void write_vector(const Params& p, i64 at, const Vector4& sum, Steps& steps) {
    Vector<Element, kWidth> out;
    WT_UNROLL for (int i = 0; i < kWidth; ++i) out.at[i] = finish(p, at + i, sum.at[i], steps);
    Steps::write(reinterpret_cast<Vector<Element, kWidth>*>(static_cast<Element*>(p.out) + at), out);
  }
};

}  // namespace wt
