// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_strips/device/tile.h - a tile: which part of the output it is, and its input lines in shared
// memory.
//
//   rows of x or dy --cp.async--> lines (image, plane, group, row), with zeros where there is no pixel
//
// Only rows of the image have a line; the others are the one line of zeros.
#pragma once

#include "kernels/depthwise_strips/device/arguments.h"
#include "kernels/depthwise_strips/device/shape.h"
#include "target/target.h"

namespace wt {

struct StripsTile {
  i32 image, plane;
  i32 residue, first;  // of its rows: the first i
  i32 strip;           // the first of its lines

  WT_DEVICE static StripsTile make(const StripsArguments& p, i32 index) {
    StripsTile tile;
    tile.strip = index % p.column_tiles * p.tile_strips;
    index /= p.column_tiles;
    const i32 rows = index % p.row_tiles;
    index /= p.row_tiles;
    tile.residue = rows % p.residues;
    tile.first = rows / p.residues * (p.tile_bands * p.band_rows);
    tile.plane = index % p.to.size[0];
    tile.image = index / p.to.size[0] * p.tile_images;
    return tile;
  }

  // The output row of row i of the tile.
  WT_DEVICE i32 row(const StripsArguments& p, i32 of_class, i32 i) const {
    return of_class + p.classes * (residue + p.residues * (first + i));
  }

  // The lines of a group that are rows of the image: `skipped` rows before the first are not.
  struct Lines {
    i32 skipped, count;
    i32 row, step;  // of the image: where the first line is, and from one to the next
  };
  WT_DEVICE Lines lines(const StripsArguments& p, i32 group) const {
    Lines at;
    at.step = p.row_scale * p.residues;
    const i32 row = p.row_scale * (residue + p.residues * first) + p.group_first[group];
    at.skipped = row < 0 ? (at.step - 1 - row) / at.step : 0;
    at.row = row + at.skipped * at.step;
    const i32 left = p.from.size[1] - at.row;
    at.count = left > 0 ? (left + at.step - 1) / at.step : 0;
    if (at.count > p.lines) at.count = p.lines;
    return at;
  }

  // The plane of the input that plane `tap` of the filter meets; -1: none.
  template <Direction kDirection>
  WT_DEVICE i32 input_plane(const StripsArguments& p, i32 tap) const {
    i32 at;
    if constexpr (kDirection == Direction::kBackwardData) {
      const i32 scaled = plane + p.pad[0] - tap * p.dilation[0];
      if (scaled % p.stride[0] != 0) return -1;
      at = scaled / p.stride[0];
    } else {
      at = plane * p.stride[0] - p.pad[0] + tap * p.dilation[0];
    }
    return at >= 0 && at < p.from.size[0] ? at : -1;
  }
};

// Copies of one image's lines into shared memory. kApart: a pixel has `multiplier` times the block's channels.
template <KernelConfig kConfig, int kVector, bool kApart>
struct StripsLines {
  using Element = Storage<kConfig.x>;
  static constexpr int kUnits = strips::channels(kConfig) * 2 / 16;  // of a pixel that is turned

  WT_DEVICE static i32 pixel_channels(const StripsArguments& p) {
    return strips::channels(kConfig) * (kApart ? p.multiplier : 1);
  }
  // Where channel `channel` of pixel `pixel` lies from the line's start.
  WT_DEVICE static u32 place(const StripsArguments& p, i32 pixel, i32 channel) {
    if constexpr (kApart) return static_cast<u32>((pixel * pixel_channels(p) + channel) * 2);
    return static_cast<u32>(strips::turned_unit<kUnits>(pixel, channel / 8) * 16 + channel % 8 * 2);
  }

  // `pixels` of an image row from column `column` on; `row` is the row's first channel that the block has.
  WT_DEVICE static void copy(const StripsArguments& p, const Element* row, const DirectImage& image, i32 column,
                             i32 pixels, i32 channels_left, SharedAddress to) {
    const i32 chunks = pixel_channels(p) / kVector, all = pixels * chunks;
    if constexpr (kVector == 1) {
      for (i32 first = device::lane_index(); first < all; first += kBatch * device::kWarpSize) {
        Element held[kBatch];
        WT_UNROLL for (int b = 0; b < kBatch; ++b) {
          const Chunk at = Chunk::make(image, column, channels_left, first + b * device::kWarpSize, chunks);
          held[b] = Element{0};
          if (at.exists) held[b] = device::load_global(row + at.from(image));
        }
        WT_UNROLL for (int b = 0; b < kBatch; ++b) {
          const i32 i = first + b * device::kWarpSize;
          if (i < all) device::store_shared(to + place(p, i / chunks, i % chunks), held[b]);
        }
      }
    } else if constexpr (kApart) {
      for (i32 i = device::lane_index(); i < all; i += device::kWarpSize) {
        const Chunk at = Chunk::make(image, column, channels_left, i, chunks);
        copy_chunk(to + place(p, at.pixel, at.channel), at.exists ? row + at.from(image) : row, at.exists);
      }
    } else {
      // A lane has the same channels of every pixel that it copies.
      constexpr int kChunks = strips::channels(kConfig) / kVector, kStep = device::kWarpSize / kChunks;
      static_assert(kStep * kChunks == device::kWarpSize);
      const i32 channel = device::lane_index() % kChunks * kVector, first = device::lane_index() / kChunks;
      // Those that exist are one range of pixels; none where the block has no such channel.
      const i32 begin = column < 0 ? -column : 0;
      const i32 count = channel < channels_left ? image.size[2] - column - begin : 0;
      const Element* from = row + (column + first) * image.spatial[2] + channel;
      for (i32 pixel = first; pixel < pixels; pixel += kStep, from += kStep * image.spatial[2]) {
        const bool exists = pixel >= begin && pixel - begin < count;
        copy_chunk(to + place(p, pixel, channel), exists ? from : row, exists);
      }
    }
  }

 private:
  static constexpr int kBatch = 8;  // loads in flight

  WT_DEVICE static void copy_chunk(SharedAddress to, const Element* from, bool exists) {
    if constexpr (kVector == 8) {
      device::copy_async_line(to, from, exists ? 16 : 0);
    } else {
      device::copy_async<kVector * 2>(to, from, exists ? kVector * 2 : 0);
    }
  }

  struct Chunk {
    i32 pixel, channel, column;
    bool exists;

    WT_DEVICE static Chunk make(const DirectImage& image, i32 column, i32 channels_left, i32 i, i32 chunks) {
      Chunk at;
      at.pixel = i / chunks;
      at.channel = i % chunks * kVector;
      at.column = column + at.pixel;
      at.exists = at.column >= 0 && at.column < image.size[2] && at.channel < channels_left;
      return at;
    }
    WT_DEVICE i64 from(const DirectImage& image) const { return column * image.spatial[2] + channel; }
  };
};

}  // namespace wt
