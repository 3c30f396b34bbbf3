// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_banded/device/rows.h - input rows into a ring in shared memory, output rows out of it, 16 bytes at
// a time.
//
//   global --cp.async--> ring of rows;  staged output row --> global
//
// A pixel's channels lie together, its 16-byte chunks permuted by the pixel, so that a warp's reads of eight pixels
// spread over the banks.
#pragma once

#include "kernels/depthwise_banded/device/shape.h"
#include "kernels/device/direct/arguments.h"
#include "kernels/device/direct/channels.h"
#include "kernels/device/direct/row_walk.h"
#include "kernels/device/reciprocal.h"

namespace wt {

// Where each copy of a thread begins: its offset in row 0 of the image; 0 where there is no such pixel.
template <int kCount, int kThreads, bool kInShared>
struct CopyOffsets {
  u32 at[kCount];

  WT_DEVICE void place(SharedAddress) {}
  WT_DEVICE void set(int i, u32 offset) { at[i] = offset; }
  WT_DEVICE u32 get(int i) const { return at[i]; }
};
template <int kCount, int kThreads>
struct CopyOffsets<kCount, kThreads, true> {
  SharedAddress mine;  // the thread's, side by side with those of the others

  WT_DEVICE void place(SharedAddress table) { mine = table + 4 * device::thread_index(); }
  WT_DEVICE void set(int i, u32 offset) { device::store_shared(mine + 4 * kThreads * i, offset); }
  WT_DEVICE u32 get(int i) const { return device::load_shared<u32>(mine + 4 * kThreads * i); }
};

template <KernelConfig kConfig>
struct BandedRows {
  using Element = Storage<kConfig.x>;
  static constexpr int kThreads = kConfig.direct.block_size;
  static constexpr int kPixelBytes = banded::pixel_bytes(kConfig);
  static constexpr int kChunkBytes = banded::chunk_bytes(kConfig);
  static constexpr int kChunks = kPixelBytes / kChunkBytes;  // of a pixel
  static constexpr int kDepth = banded::depth(kConfig);
  static constexpr int kPixelsAtOnce = kThreads / kChunks;
  static constexpr int kReads = banded::reads(kConfig), kWrites = banded::writes(kConfig);
  static_assert(kReads <= 28 && kThreads % kChunks == 0 && kReads * kPixelsAtOnce == kBandedRows * 2 * kBandedPixels);

  i32 chunk, pixel;  // of the thread's first copy
  i32 channel;       // of its chunk
  bool channels_exist;
  u32 home;  // where the first copy lies from a row's start
  CopyOffsets<kReads, kThreads, banded::offsets_in_shared(kConfig)> source;
  CopyOffsets<kWrites, kThreads, banded::offsets_in_shared(kConfig)> target;
  // Bit i + 4: copy i has a place in the row; it has a pixel, too, in each plane that the filter reaches.
  u32 in_places, out_places, in_pixels[kDepth], out_pixels[1];

  // Where byte `byte` of pixel `pixel` lies from the row's start. Forward, a warp reads neighbouring pixels of every
  // other strip; backward weight, it reads pixels of every fourth, so that these must differ too.
  WT_DEVICE static u32 place(i32 pixel, i32 byte) {
    const i32 strips = kConfig.direction == Direction::kBackwardWeight ? pixel / (4 * kBandedPixels) : 0;
    const i32 turn = (pixel * kPixelBytes / 128 + strips) % (kPixelBytes / 16);
    return static_cast<u32>(pixel * kPixelBytes + (byte / 16 ^ turn) * 16 + byte % 16);
  }

  // `table` is the place of the offsets in shared memory, where they are there.
  WT_DEVICE void prepare(const BandedArguments& p, i32 channel_block, SharedAddress table) {
    source.place(table);
    target.place(table + 4 * kThreads * kReads);
    chunk = device::thread_index() % kChunks;
    pixel = device::thread_index() / kChunks;
    channel = channel_block * banded::channels(kConfig) + chunk * (kChunkBytes / 2);
    channels_exist = channel < p.channels;
    home = device::keep(place(pixel, chunk * kChunkBytes));
  }

  // Before the first row of a group is read.
  WT_DEVICE void enter(const BandedArguments& p, i32 group) {
    find(p, p.from, group, banded::window(p.column_blocks), p.window_reciprocal, -p.pad_w, source, in_places,
         in_pixels);
  }
  // Before the first row of a group is written.
  WT_DEVICE void enter_out(const BandedArguments& p, i32 group) {
    find(p, p.to, group, p.column_blocks * kBandedPixels, p.width_reciprocal, 0, target, out_places, out_pixels);
  }

  // One row of every segment of the group into the ring, from `to` on: of the input, counted from its padded edge. Rows
  // of further planes follow, `bytes` apart.
  WT_DEVICE void read(const BandedArguments& p, i32 row, SharedAddress to, u32 bytes) const {
    WT_UNROLL for (int z = 0; z < kDepth; ++z) {
      copy(p.from, p.first, row - p.pad_h, source, z, in_places, in_pixels[z], to + z * bytes);
    }
  }
  // The same of dy, for backward weight.
  WT_DEVICE void read_out(const BandedArguments& p, i32 row, SharedAddress to) const {
    copy(p.to, p.second, row, target, 0, out_places, out_pixels[0], to);
  }

  // One staged output row of every segment of the group to global memory.
  WT_DEVICE void write(const BandedArguments& p, i32 row, SharedAddress from) const {
    using Chunk = Vector<u32, kChunkBytes / 4>;
    auto* out = device::keep(static_cast<Element*>(p.out) + row * p.to.spatial[1]);
    WT_UNROLL for (int i = 0; i < kWrites; ++i) {
      if (!(out_pixels[0] >> (i + 4) & 1)) continue;
      const Chunk held = device::load_shared<Chunk>(from + place_of_copy(i));
      device::store_global(reinterpret_cast<Chunk*>(out + target.get(i)), held);
    }
  }

 private:
  // Where the thread's copy i lies from the row's start. Forward, its pixels are turned alike.
  WT_DEVICE u32 place_of_copy(int i) const {
    if constexpr (kConfig.direction == Direction::kBackwardWeight)
      return place(pixel + i * kPixelsAtOnce, chunk * kChunkBytes);
    return home + i * (kPixelsAtOnce * kPixelBytes);
  }

  // WHY bits: on every row they cost two instructions a copy, where comparisons with two special offsets cost six.
  template <int kCount, bool kInShared>
  WT_DEVICE void copy(const DirectImage& image, const void* data, i32 row,
                      const CopyOffsets<kCount, kThreads, kInShared>& offset, int plane, u32 places, u32 pixels,
                      SharedAddress to) const {
    const bool exists = row >= 0 && row < image.size[1];
    const auto* from = device::keep(static_cast<const Element*>(data) + (exists ? row * image.spatial[1] : 0));
    if (!exists) pixels = 0;
    WT_UNROLL for (int i = 0; i < kCount; ++i) {
      if (!(places >> (i + 4) & 1)) continue;
      if constexpr (kDepth == 1) {
        device::copy_async_line(to + place_of_copy(i), from + offset.get(i), static_cast<int>(pixels >> i & 16));
      } else {
        const bool there = (pixels >> (i + 4) & 1) != 0;
        device::copy_async<kChunkBytes>(to + place_of_copy(i),
                                        from + (there ? offset.get(i) + static_cast<u32>(plane * image.n) : 0),
                                        there ? kChunkBytes : 0);
      }
    }
  }

  // The offset of the thread's chunk of each of its pixels, in row 0 of their images; a segment has `columns`.
  template <int kPlanes, int kCount, bool kInShared>
  WT_DEVICE void find(const BandedArguments& p, const DirectImage& image, i32 group, i32 columns, i32 reciprocal,
                      i32 origin, CopyOffsets<kCount, kThreads, kInShared>& offset, u32& places,
                      u32 (&pixels)[kPlanes]) const {
    places = 0;
    WT_UNROLL for (int z = 0; z < kPlanes; ++z) pixels[z] = 0;
    const auto find_one = [&](int i) {
      const i32 at = pixel + i * kPixelsAtOnce, segment = quotient(at, reciprocal);
      const i32 index = group * p.group_segments + segment;
      i32 n = p.segment_tiles == 1 ? index : index / p.segment_tiles;
      const i32 column =
          at - segment * columns + origin + (index - n * p.segment_tiles) * (kBandedRows * kBandedPixels);
      const bool placed = segment < p.group_segments;
      const bool exists = placed && channels_exist && index < p.segments && column >= 0 && column < image.size[2];
      i32 plane = 0, planes = 1;  // the first that the filter reaches, which may lie before the image
      if constexpr (kPlanes > 1) {
        plane = n % p.to_planes - p.pad_d;
        planes = p.from_planes;
        n = n / p.to_planes * planes + plane;
      }
      // In 32 bits, where what lies before the first plane comes back when a plane is added.
      offset.set(i, exists ? static_cast<u32>(n * image.n + column * image.spatial[2]) + channel : 0);
      if (placed) places |= 16u << i;
      WT_UNROLL for (int z = 0; z < kPlanes; ++z) {
        if (exists && plane + z >= 0 && plane + z < planes) pixels[z] |= 16u << i;
      }
    };
    // WHY rolled where it can be: eight times this code is long, and a cold kernel waits for it.
    if constexpr (kInShared) {
      WT_ROLLED for (int i = 0; i < kCount; ++i) find_one(i);
    } else {
      WT_UNROLL for (int i = 0; i < kCount; ++i) find_one(i);
    }
  }
};

}  // namespace wt
