// SPDX-License-Identifier: Apache-2.0
// kernels/groups/device/rows.h - rows of a block's channels into a ring in shared memory, and rows out of it.
//
//   global --cp.async, 16 bytes--> ring of rows;  staged output rows --> global
//
// Where a thread's chunks lie in an image is worked out once for each group of segments, not for each row.
#pragma once

#include "kernels/device/direct/arguments.h"
#include "kernels/device/direct/channels.h"
#include "kernels/device/direct/row_walk.h"
#include "kernels/device/reciprocal.h"
#include "kernels/groups/device/shape.h"

namespace wt {

template <KernelConfig kConfig>
struct GroupRows {
  using Element = Storage<kConfig.x>;
  static constexpr int kThreads = kConfig.direct.block_size;
  static constexpr int kChunks = groups::chunks(kConfig);
  static constexpr int kPixelsAtOnce = kThreads / kChunks;
  static constexpr int kInRows = groups::in_rows(kConfig), kInCols = groups::in_cols(kConfig);
  static constexpr int kOutRows = groups::out_rows(kConfig), kOutCols = groups::out_cols(kConfig);
  static constexpr int kReads = groups::ceil_div(groups::most_positions(kConfig) * kInCols, kPixelsAtOnce);
  static constexpr int kWrites = groups::ceil_div(kConfig.direct.tile_w * kOutCols, kPixelsAtOnce);
  static_assert(kThreads % kChunks == 0);

  // Pixels, and the bytes between them, from one of a thread's copies to the next.
  template <int kCols>
  static constexpr u32 kStep = kPixelsAtOnce / kCols* groups::pitch(kConfig, kCols);
  static_assert(kPixelsAtOnce % kInCols == 0 && kPixelsAtOnce % kOutCols == 0 && kReads <= 28 && kWrites <= 28);

  i32 chunk, pixel;  // of the thread's first copy
  i32 channel;       // of its chunk
  bool channels_exist;
  u32 source[kReads], target[kWrites];  // of each copy: offset in row 0 of the image; 0 where there is no such pixel
  // Bit i + 4: copy i has a place in the row; it has a pixel, too.
  u32 in_places, out_places, in_pixels, out_pixels;

  // Where a chunk of a pixel lies from its row's start.
  template <int kCols>
  WT_DEVICE static u32 place(i32 pixel, i32 chunk) {
    return static_cast<u32>(pixel / kCols * groups::pitch(kConfig, kCols) + (pixel % kCols * kChunks + chunk) * 16);
  }

  WT_DEVICE void prepare(const GroupsArguments& p, i32 channel_block) {
    chunk = device::thread_index() % kChunks;
    pixel = device::thread_index() / kChunks;
    channel = channel_block * groups::channels(kConfig) + chunk * kChunkChannels;
    channels_exist = channel < p.channels;
  }

  // Before the first row of a group of segments is read.
  WT_DEVICE void enter(const GroupsArguments& p, i32 group) {
    find(p, p.from, group, groups::window(kConfig, p.columns) * kInCols, p.window_reciprocal, p.columns * kInCols,
         p.in_column, source, in_places, in_pixels);
  }
  // Before the first row of a group of segments is written, or of dy read.
  WT_DEVICE void enter_out(const GroupsArguments& p, i32 group) {
    find(p, p.to, group, p.columns * kOutCols, p.width_reciprocal, p.columns * kOutCols, p.out_column, target,
         out_places, out_pixels);
  }

  // The rows of a step into the ring, from `to` on, `bytes` apart.
  WT_DEVICE void read(const GroupsArguments& p, i32 step, SharedAddress to, u32 bytes) const {
    WT_UNROLL for (int i = 0; i < kInRows; ++i) {
      copy<kInCols>(p.from, p.first, step * kInRows + i + p.in_row, source, in_places, in_pixels, to + i * bytes);
    }
  }
  // A row of dy, for backward weight.
  WT_DEVICE void read_out(const GroupsArguments& p, i32 row, SharedAddress to) const {
    copy<kOutCols>(p.to, p.second, row, target, out_places, out_pixels, to);
  }

  // Backward weight: zeros behind every row of the ring, which no copy touches.
  WT_DEVICE static void clear_tails(SharedAddress ring, i32 positions, u32 row_bytes, u32 stage_bytes) {
    constexpr int kStages = kConfig.direct.prefetch;
    constexpr int kInPitch = groups::pitch(kConfig, kInCols), kOutPitch = groups::pitch(kConfig, 1);
    constexpr int kInWords = groups::reach_cols(kConfig) * kInPitch / 4, kOutWords = kOutPitch / 4;
    constexpr int kWords = kInRows * kInWords + kOutWords;
    for (i32 i = device::thread_index(); i < kStages * kWords; i += kThreads) {
      const SharedAddress stage = ring + i / kWords * stage_bytes;
      const i32 word = i % kWords, row = word / kInWords;
      const u32 at = row < kInRows
                         ? row * row_bytes + positions * kInPitch + word % kInWords * 4
                         : kInRows * row_bytes + kConfig.direct.tile_w * kOutPitch + (word - kInRows * kInWords) * 4;
      device::store_shared(stage + at, u32{0});
    }
  }

  // The staged output rows of a step to global memory.
  WT_DEVICE void write(const GroupsArguments& p, i32 step, SharedAddress from) const {
    using Chunk = Vector<u32, 4>;
    WT_UNROLL for (int o = 0; o < kOutRows; ++o) {
      const i32 row = step * kOutRows + o + p.out_row;
      if (row < 0 || row >= p.to.size[1]) continue;
      auto* out = static_cast<Element*>(p.out) + row * p.to.spatial[1];
      const SharedAddress staged = from + o * groups::out_row_bytes(kConfig) + place<kOutCols>(pixel, chunk);
      WT_UNROLL for (int i = 0; i < kWrites; ++i) {
        if (!(out_pixels >> (i + 4) & 1)) continue;
        const Chunk held = device::load_shared<Chunk>(staged + i * kStep<kOutCols>);
        device::store_global(reinterpret_cast<Chunk*>(out + target[i]), held);
      }
    }
  }

 private:
  // The offset of the thread's chunk of each of its pixels, in row 0 of their images. A segment has `width` pixels in
  // the block's row, and begins `apart` pixels after its neighbour to the left.
  template <int kCount>
  WT_DEVICE void find(const GroupsArguments& p, const DirectImage& image, i32 group, i32 width, i32 reciprocal,
                      i32 apart, i32 origin, u32 (&offset)[kCount], u32& places, u32& pixels) const {
    places = pixels = 0;
    WT_UNROLL for (int i = 0; i < kCount; ++i) {
      const i32 at = pixel + i * kPixelsAtOnce, segment = quotient(at, reciprocal);
      const i32 index = group * p.group_segments + segment;
      const i32 n = p.segment_tiles == 1 ? index : index / p.segment_tiles;
      const i32 column = (index - n * p.segment_tiles) * apart + at - segment * width + origin;
      const bool placed = segment < p.group_segments;
      const bool exists = placed && channels_exist && index < p.segments && column >= 0 && column < image.size[2];
      offset[i] = exists ? static_cast<u32>(n * image.n + column * image.spatial[2]) + channel : 0;
      if (placed) places |= 16u << i;
      if (exists) pixels |= 16u << i;
    }
  }

  // WHY bits: on every row they cost two instructions a copy, where comparisons with two special offsets cost six.
  template <int kCols, int kCount>
  WT_DEVICE void copy(const DirectImage& image, const void* data, i32 row, const u32 (&offset)[kCount], u32 places,
                      u32 pixels, SharedAddress to) const {
    const bool exists = row >= 0 && row < image.size[1];
    const auto* from = device::keep(static_cast<const Element*>(data) + (exists ? row * image.spatial[1] : 0));
    if (!exists) pixels = 0;
    to += place<kCols>(pixel, chunk);
    WT_UNROLL for (int i = 0; i < kCount; ++i) {
      if (places >> (i + 4) & 1)
        device::copy_async_line(to + i * kStep<kCols>, from + offset[i], static_cast<int>(pixels >> i & 16));
    }
  }
};

}  // namespace wt
