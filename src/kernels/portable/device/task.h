// SPDX-License-Identifier: Apache-2.0
// kernels/portable/device/task.h - what one block computes: a tile of the output, and which part of the sum.
//
// Arguments, tiles and walks are those of the gathering kernels (kernels/wavelet/device/walk.h).
#pragma once

#include "kernels/portable/device/layout.h"
#include "kernels/wavelet/device/walk.h"
#include "kernels/wavelet/device/weight_arguments.h"

namespace wt {

struct PortableTask {
  WaveletTile tile;
  i32 first, count;  // k-blocks
  i32 split;
};

// Forward and backward data: rows are pixels (of one stride phase), columns output channels.
template <KernelConfig kConfig, Direction kDirection = kConfig.direction>
struct PortableProblem {
  using Arguments = WaveletArguments<wavelet_layout::phases(kConfig)>;

  WT_DEVICE static PortableTask task(const Arguments& p, u32 index) {
    const WaveletTile tile = wavelet_tile<kConfig>(p, index);
    return {tile, 0, tile.blocks, 0};
  }
  // A phase with fewer pixels than the largest leaves some tiles empty.
  WT_DEVICE static bool is_empty(const PortableTask& task) { return task.tile.row >= task.tile.rows; }
  WT_DEVICE static const Arguments& walk(const Arguments& p) { return p; }
};

// Backward weight: rows are output channels (the plain tensor's), columns numbers of the filter, k-blocks pixels.
template <KernelConfig kConfig>
struct PortableProblem<kConfig, Direction::kBackwardWeight> {
  using Arguments = WaveletWeightArguments;

  WT_DEVICE static PortableTask task(const Arguments& p, u32 index) {
    const i32 split = static_cast<i32>(quotient(index, p.tiles));
    const i32 first = split * p.blocks_per_split, left = p.pixel_blocks - first;
    PortableTask task = part(p, index - static_cast<u32>(split) * p.tiles.by, first,
                             left < p.blocks_per_split ? left : p.blocks_per_split);
    task.split = split;
    return task;
  }
  // `count` k-blocks of a tile from `first` on.
  WT_DEVICE static PortableTask part(const Arguments& p, u32 index, i32 first, i32 count) {
    PortableTask task;
    task.first = first;
    task.count = count;
    task.split = 0;
    const u32 group = quotient(index, p.tiles_a_group);
    index -= group * p.tiles_a_group.by;
    const u32 m = quotient(index, p.tiles_n);
    task.tile.group = static_cast<i32>(group);
    task.tile.column = static_cast<i32>(index - m * p.tiles_n.by) * kConfig.gemm.tile.n;
    task.tile.row = m * kConfig.gemm.tile.m;
    task.tile.rows = static_cast<u32>(p.pixels);  // of the walk
    WT_UNROLL for (int i = 0; i < 3; ++i) {
      task.tile.phase[i] = i;
      task.tile.taps[i] = p.walk.phases[i].taps;
    }
    return task;
  }
  WT_DEVICE static bool is_empty(const PortableTask&) { return false; }
  WT_DEVICE static const WaveletArguments<3>& walk(const Arguments& p) { return p.walk; }
};

}  // namespace wt
