// SPDX-License-Identifier: Apache-2.0
// kernel/direct/banded_rows.h - input rows into a ring in shared memory, output rows out of it, 16 bytes at a time.
//
//   global --cp.async--> ring of rows;  staged output row --> global
//
// A pixel's channels lie together, its 16-byte chunks permuted by the pixel, so that a warp's reads of eight pixels
// spread over the banks.
#pragma once

#include "kernel/direct/arguments.h"
#include "kernel/direct/banded_shape.h"
#include "kernel/direct/channels.h"

namespace wt {

// The rows that a block walks: output rows [at, end) over all groups, an item for each group that they touch, each
// item with the halo of its first row.
template <int kFilterRows>
struct BandedWalk {
  i32 at, end;            // not yet taken
  i32 group = 0;          // of the item
  i32 first = 0;          // output row of the item
  i32 row = 1, last = 0;  // input rows, counted from the padded edge: those of the item not yet taken

  // True where there is a row to take, which is then `row`.
  WT_DEVICE bool settle(i32 height) {
    if (row > last && at < end) {
      group = at / height;
      first = at % height;
      const i32 stop = first + end - at < height ? first + end - at : height;
      at += stop - first;
      row = first;
      last = stop - 1 + kFilterRows - 1;
    }
    return row <= last;
  }
};

template <KernelConfig kConfig>
struct BandedRows {
  using Element = Storage<kConfig.x>;
  static constexpr int kThreads = kConfig.direct.block_size;
  static constexpr int kPixelBytes = banded::pixel_bytes(kConfig);
  static constexpr int kChunks = kPixelBytes / 16;  // of a pixel
  static constexpr int kPixelsAtOnce = kThreads / kChunks;
  static constexpr int kReads = kBandedRows * 2 * kBandedPixels / kPixelsAtOnce;
  static constexpr int kWrites = kBandedRows * kBandedPixels / kPixelsAtOnce;
  static_assert(kThreads % kChunks == 0 && kReads * kPixelsAtOnce == kBandedRows * 2 * kBandedPixels);
  static constexpr i32 kZeros = -1, kNothing = -2;

  i32 chunk, pixel;  // of the thread's first copy
  i32 channel;       // of its chunk
  bool channels_exist;
  i32 source[kReads];   // of each copy: offset in row 0 of the input; kZeros, kNothing: no such pixel or segment
  i32 target[kWrites];  // the same of each store

  // Where chunk `chunk` of pixel `pixel` lies from the row's start. Forward, a warp reads neighbouring pixels of every
  // other strip; backward weight, it reads pixels of every fourth, so that these must differ too.
  WT_DEVICE static u32 place(i32 pixel, i32 chunk) {
    const i32 strips = kConfig.direction == Direction::kBackwardWeight ? pixel / (4 * kBandedPixels) : 0;
    const i32 turn = (pixel * kPixelBytes / 128 + strips) % kChunks;
    return static_cast<u32>(pixel * kPixelBytes + (chunk ^ turn) * 16);
  }

  WT_DEVICE void prepare(const BandedArguments& p, i32 channel_block) {
    chunk = device::thread_index() % kChunks;
    pixel = device::thread_index() / kChunks;
    channel = channel_block * banded::channels(kConfig) + chunk * 8;
    channels_exist = channel < p.channels;
  }

  // Before the first row of a group is read.
  WT_DEVICE void enter(const BandedArguments& p, i32 group) {
    const i32 window = banded::window(p.column_blocks);
    WT_UNROLL for (int i = 0; i < kReads; ++i) {
      const i32 at = pixel + i * kPixelsAtOnce;
      source[i] = at / window < p.group_segments
                      ? place_of(p, p.from, group * p.group_segments + at / window, at % window - p.pad_w)
                      : kNothing;
    }
  }
  // Before the first row of a group is written.
  WT_DEVICE void enter_out(const BandedArguments& p, i32 group) {
    const i32 width = p.column_blocks * kBandedPixels;
    WT_UNROLL for (int i = 0; i < kWrites; ++i) {
      const i32 at = pixel + i * kPixelsAtOnce;
      target[i] = at / width < p.group_segments ? place_of(p, p.to, group * p.group_segments + at / width, at % width)
                                                : kNothing;
    }
  }

  // One row of every segment of the group into the ring, from `to` on: of the input, counted from its padded edge.
  WT_DEVICE void read(const BandedArguments& p, i32 row, SharedAddress to) const {
    copy(p.from, p.first, row - p.pad_h, source, to);
  }
  // The same of dy, for backward weight.
  WT_DEVICE void read_out(const BandedArguments& p, i32 row, SharedAddress to) const {
    copy(p.to, p.second, row, target, to);
  }

  // One staged output row of every segment of the group to global memory.
  WT_DEVICE void write(const BandedArguments& p, i32 row, SharedAddress from) const {
    using Chunk = Vector<u32, 4>;
    auto* out = static_cast<Element*>(p.out) + row * p.to.spatial[1];
    WT_UNROLL for (int i = 0; i < kWrites; ++i) {
      if (target[i] < 0) continue;
      const Chunk held = device::load_shared<Chunk>(from + place(pixel + i * kPixelsAtOnce, chunk));
      device::store_global(reinterpret_cast<Chunk*>(out + target[i]), held);
    }
  }

 private:
  template <int kCount>
  WT_DEVICE void copy(const DirectImage& image, const void* data, i32 row, const i32 (&offset)[kCount],
                      SharedAddress to) const {
    const bool exists = row >= 0 && row < image.size[1];
    const auto* from = static_cast<const Element*>(data) + (exists ? row * image.spatial[1] : 0);
    WT_UNROLL for (int i = 0; i < kCount; ++i) {
      if (offset[i] == kNothing) continue;
      const bool copied = exists && offset[i] >= 0;
      device::copy_async<16>(to + place(pixel + i * kPixelsAtOnce, chunk), from + (copied ? offset[i] : 0),
                             copied ? 16 : 0);
    }
  }

  // The offset of the thread's chunk of a pixel of segment `index`, in row 0 of its image.
  WT_DEVICE i32 place_of(const BandedArguments& p, const DirectImage& image, i32 index, i32 column) const {
    column += index % p.segment_tiles * (kBandedRows * kBandedPixels);
    if (!channels_exist || index >= p.segments || column < 0 || column >= image.size[2]) return kZeros;
    return static_cast<i32>(index / p.segment_tiles * image.n + column * image.spatial[2]) + channel;
  }
};

}  // namespace wt
