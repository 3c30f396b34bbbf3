// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_strips/device/block.h - what a block of either strips kernel has: its channels, its tiles and its
// shared memory.
#pragma once

#include "kernels/depthwise_strips/device/tasks.h"
#include "kernels/depthwise_strips/device/tile.h"

namespace wt {

template <KernelConfig kConfig>
struct StripsBlock {
  using Element = Storage<kConfig.x>;
  static constexpr int kThreads = kConfig.direct.block_size, kWarps = kThreads / device::kWarpSize;
  static constexpr bool kApart = strips::reads_apart(kConfig), kWeight = strips::is_weight(kConfig);
  using Lines = StripsLines<kConfig, kConfig.direct.vector_in, kApart>;
  using OutLines = StripsLines<kConfig, kConfig.direct.vector_out, kWeight && !strips::single(kConfig)>;

  i32 channel;  // the block's first
  i32 tile;     // the next of the block's

  WT_DEVICE static StripsBlock make(const StripsArguments& p) {
    const i32 index = device::block_index().x;
    return {index % p.channel_blocks * strips::channels(kConfig), index / p.channel_blocks};
  }
  WT_DEVICE static SharedAddress table() { return device::shared_base(); }
  WT_DEVICE static SharedAddress zeros(const StripsArguments& p) { return device::shared_base() + p.shared.zeros; }
  WT_DEVICE static SharedAddress weights(const StripsArguments& p) { return device::shared_base() + p.shared.weights; }
  WT_DEVICE static SharedAddress places(const StripsArguments& p) { return device::shared_base() + p.shared.places; }
  WT_DEVICE static SharedAddress tasks(const StripsArguments& p) { return device::shared_base() + p.shared.tasks; }
  WT_DEVICE static SharedAddress staged(const StripsArguments& p) { return device::shared_base() + p.shared.staged; }
  WT_DEVICE static SharedAddress buffer(const StripsArguments& p, int index) {
    return device::shared_base() + p.shared.buffers + static_cast<u32>(index) * p.shared.tile_bytes;
  }

  WT_DEVICE static void clear_zeros(const StripsArguments& p) {
    for (u32 i = device::thread_index() * 16; i < p.shared.line_bytes; i += kThreads * 16) {
      device::store_shared(zeros(p) + i, Vector<u32, 4>{{0, 0, 0, 0}});
    }
  }

  // The block's next tile into buffer `index`, and dy beside it in backward weight: a group of copies, whether there
  // is a tile or not.
  WT_DEVICE void copy_next(const StripsArguments& p, int index) {
    if (tile < p.tiles) copy(p, StripsTile::make(p, tile), buffer(p, index));
    tile += p.workers;
    device::copy_async_commit();
  }

  // By all threads: where the strips of a tile begin, and what is to be done with it.
  WT_DEVICE static void enter(const StripsArguments& p, const StripsTile& at) {
    const i32 strips_of_class = p.class_tiles * strips::kRows;
    for (i32 i = device::thread_index(); i < p.classes * strips_of_class; i += kThreads) {
      StripPlace::make(p, at, i / strips_of_class, i % strips_of_class).store(places(p), i);
    }
    for (i32 i = device::thread_index(); i < p.classes * class_tasks(p); i += kThreads) {
      StripsTask::make<kConfig.direction>(p, at, i).store(tasks(p), i);
    }
  }
  WT_DEVICE static i32 class_tasks(const StripsArguments& p) { return p.filter[0] * p.phases * p.steps; }

 private:
  WT_DEVICE void copy(const StripsArguments& p, const StripsTile& at, SharedAddress to) const {
    const i32 warp = device::warp_index(), column = at.strip * p.advance + p.origin;
    const i32 first_channel = kApart ? channel * p.multiplier : channel;
    const i32 left = (kApart ? p.channels * p.multiplier : p.channels) - first_channel;
    const auto* from = static_cast<const Element*>(p.first) + first_channel;
    i32 turn = 0;  // of the warps, which take lines one after the other
    for (i32 i = 0; i < p.tile_images && at.image + i < p.images; ++i) {
      i32 plane = 0;
      for (i32 tap = 0; tap < p.filter[0]; ++tap) {
        const i32 z = at.input_plane<kConfig.direction>(p, tap);
        if (z < 0) continue;
        for (i32 group = 0; group < p.groups; ++group) {
          const StripsTile::Lines lines = at.lines(p, group);
          const i32 first = ((i * p.planes + plane) * p.groups + group) * p.lines;
          for (i32 line = (warp + turn) % kWarps; line < lines.count; line += kWarps) {
            const Element* row = from + (at.image + i) * p.from.n + z * p.from.spatial[0] +
                                 static_cast<i64>(lines.row + line * lines.step) * p.from.spatial[1];
            Lines::copy(p, row, p.from, column, p.line_pixels, left,
                        to + static_cast<u32>(first + line) * p.shared.line_bytes);
          }
          turn += kWarps - lines.count % kWarps;
        }
        ++plane;
      }
      if constexpr (kWeight) copy_out(p, at, i, to + static_cast<u32>(tile_lines(p)) * p.shared.line_bytes);
    }
  }
  WT_DEVICE static i32 tile_lines(const StripsArguments& p) { return p.tile_images * p.planes * p.groups * p.lines; }

  // The rows of dy of image `i` of the tile.
  WT_DEVICE void copy_out(const StripsArguments& p, const StripsTile& at, i32 i, SharedAddress to) const {
    const i32 rows = p.tile_bands * p.band_rows, first_channel = channel * p.multiplier;
    const auto* from =
        static_cast<const Element*>(p.second) + first_channel + (at.image + i) * p.to.n + at.plane * p.to.spatial[0];
    for (i32 line = device::warp_index(); line < rows; line += kWarps) {
      const i32 row = at.row(p, 0, line);
      if (row >= p.to.size[1]) break;
      OutLines::copy(p, from + row * p.to.spatial[1], p.to, at.strip * strips::kColumns,
                     p.line_strips * strips::kColumns, p.channels * p.multiplier - first_channel,
                     to + static_cast<u32>(i * rows + line) * p.shared.out_line_bytes);
    }
  }
};

}  // namespace wt
