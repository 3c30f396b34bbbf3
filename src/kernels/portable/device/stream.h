// SPDX-License-Identifier: Apache-2.0
// kernels/portable/device/stream.h - stream-K for weight gradients: blocks share the k-blocks of all tiles evenly.
//
//   tile          0         1         2              parts of tile 1: block 0's last, block 1's first
//   k-blocks  |---------|---------|---------|
//   blocks    |  0       |   1      |   2   |        a tile that one block has whole goes straight to dw
//
// The sums of a tile that blocks share wait in the workspace, and a second launch adds them in the order of the blocks
// (linear) or in pairs of pairs (tree). Both orders are fixed.
#pragma once

#include "kernels/device/gemm/tree_sum.h"
#include "kernels/portable/device/output.h"
#include "kernels/portable/device/stream_arguments.h"

namespace wt {

// The k-blocks of one tile that one block has.
struct StreamSegment {
  i64 tile;          // of the streamed ones
  i32 first, count;  // k-blocks
};

WT_DEVICE StreamSegment segment_at(const PortableStreamArguments& p, i64 from, i64 end) {
  const i64 tile = from / p.weight.pixel_blocks;
  const i64 first = from - tile * p.weight.pixel_blocks;
  const i64 left = p.weight.pixel_blocks - first, wanted = end - from;
  return {tile, static_cast<i32>(first), static_cast<i32>(wanted < left ? wanted : left)};
}

// Where a block keeps its part of a tile: it starts at most one that it does not end, and ends one that it did not
// start.
template <KernelConfig kConfig>
WT_DEVICE float* part_of(const PortableStreamArguments& p, i64 block, bool starts_tile) {
  return p.parts + (2 * block + (starts_tile ? 1 : 0)) * portable_layout::part_elements(kConfig);
}

// The second launch: a block a streamed tile.
template <KernelConfig kConfig>
struct PortableStreamSum {
  using Params = PortableStreamArguments;
  using Output = PortableOutput<kConfig>;
  static constexpr int kThreads = kStreamSumThreads;
  static constexpr int kMinBlocks = 1;

  WT_DEVICE static void run(const Params& p) {
    const i64 tile = device::block_index().x, begin = tile * p.weight.pixel_blocks;
    const i64 first = begin / p.share, last = (begin + p.weight.pixel_blocks - 1) / p.share;
    if (first == last) return;  // one block had it whole
    const PortableTask task =
        PortableProblem<kConfig>::part(p.weight, p.whole_tiles + static_cast<u32>(tile), 0, p.weight.pixel_blocks);
    typename Output::Steps steps;
    constexpr int kAcross = kConfig.gemm.tile.n / Output::kChunk;
    for (int index = device::thread_index(); index < kConfig.gemm.tile.m * kAcross; index += kThreads) {
      const int row = index / kAcross, column = index % kAcross * Output::kChunk;
      float sum[Output::kChunk];
      WT_UNROLL for (int i = 0; i < Output::kChunk; i += 4) {
        const Four four = add_parts(p, first, last, row * kConfig.gemm.tile.n + column + i);
        WT_UNROLL for (int j = 0; j < 4; ++j) sum[i + j] = four.at[j];
      }
      Output::store_columns(p.weight, task, Output::Lines::line(p.weight, task, row), column, sum, steps);
    }
    steps.finish(p.weight.walk.epilogue);
  }

 private:
  using Four = Vector<float, 4>;

  WT_DEVICE static Four load(const Params& p, i64 first, i64 block, int element) {
    return device::load_global(reinterpret_cast<const Four*>(part_of<kConfig>(p, block, block == first) + element));
  }

  WT_DEVICE static Four add_parts(const Params& p, i64 first, i64 last, int element) {
    if constexpr (kConfig.gemm.stream_k == StreamK::kLinear) {
      Four sum = load(p, first, first, element);
      for (i64 block = first + 1; block <= last; ++block) {
        const Four part = load(p, first, block, element);
        WT_UNROLL for (int i = 0; i < 4; ++i) sum.at[i] += part.at[i];
      }
      return sum;
    } else {
      return add_in_tree<Four, 4, kStreamTreeLevels>(static_cast<u32>(last - first + 1),
                                                     [&](u32 i) { return load(p, first, first + i, element); });
    }
  }
};

}  // namespace wt
