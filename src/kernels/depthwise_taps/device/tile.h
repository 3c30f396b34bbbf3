// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_taps/device/tile.h - a tile: which lines of x it has, which of dy these meet, and their copies.
//
//   x, dy --cp.async--> lines (image, row), (image, plane of the filter, row), with zeros where there is no pixel
#pragma once

#include "kernels/depthwise_taps/device/arguments.h"
#include "kernels/depthwise_taps/device/shape.h"
#include "kernels/device/gemm/storage.h"
#include "target/target.h"

namespace wt {

struct TapsTile {
  i32 image, images;
  i32 plane;              // of x
  i32 row, lines;         // of x: the first line's, how many
  i32 out_row, out_lines;  // of dy
  i32 met;                // stride 1: the line of dy that the first line of x meets by row 0 of the filter
  i32 column;             // of dy

  WT_DEVICE static TapsTile make(const DepthwiseTapsArguments& p, i32 index) {
    TapsTile tile;
    tile.column = index % p.column_tiles * p.tile_columns;
    index /= p.column_tiles;
    const i32 of_lines = index % p.line_tiles;
    index /= p.line_tiles;
    tile.plane = index % p.from.size[0];
    tile.image = index / p.from.size[0] * p.tile_images;
    tile.images = p.images - tile.image < p.tile_images ? p.images - tile.image : p.tile_images;
    tile.row = of_lines % p.residues + of_lines / p.residues * p.lines * p.residues;
    tile.lines = lines_from(p, tile.row, p.from.size[1], p.lines);
    const i32 last_row = tile.row + p.pad[1] - (p.filter[1] - 1) * p.dilation[1];
    tile.out_row = last_row;
    if (p.stride[1] > 1) tile.out_row = last_row > 0 ? (last_row + p.stride[1] - 1) / p.stride[1] : 0;
    if (tile.out_row < 0) tile.out_row += (p.residues - 1 - tile.out_row) / p.residues * p.residues;
    tile.out_lines = lines_from(p, tile.out_row, p.to.size[1], p.out_lines);
    tile.met = (tile.row + p.pad[1] - tile.out_row) / p.residues;
    return tile;
  }

  // The plane of dy that the tile meets by plane `tap` of the filter; -1: none.
  WT_DEVICE i32 out_plane(const DepthwiseTapsArguments& p, i32 tap) const {
    const i32 scaled = plane + p.pad[0] - tap * p.dilation[0];
    if (scaled < 0 || scaled % p.stride[0] != 0) return -1;
    return scaled / p.stride[0] < p.to.size[0] ? scaled / p.stride[0] : -1;
  }
  // The line of dy that line `line` of x meets by row `tap` of the filter; outside [0, out_lines): none.
  WT_DEVICE i32 out_line(const DepthwiseTapsArguments& p, i32 line, i32 tap) const {
    if (p.stride[1] == 1) return line + met - tap;
    const i32 scaled = row + line + p.pad[1] - tap * p.dilation[1];
    return scaled >= 0 && scaled % p.stride[1] == 0 ? scaled / p.stride[1] - out_row : -1;
  }

 private:
  WT_DEVICE static i32 lines_from(const DepthwiseTapsArguments& p, i32 first, i32 rows, i32 most) {
    const i32 left = rows > first ? (rows - first + p.residues - 1) / p.residues : 0;
    return left < most ? left : most;
  }
};

template <KernelConfig kConfig>
struct TapsCopies {
  using Element = Storage<kConfig.x>;
  static constexpr int kUnits = depthwise_taps::units(kConfig), kVector = kConfig.direct.vector_in;
  static constexpr int kChunks = depthwise_taps::channels(kConfig) / kVector;  // of a pixel
  static constexpr int kWarps = depthwise_taps::warps(kConfig);

  // By all threads: a tile's lines into a buffer.
  WT_DEVICE static void copy(const DepthwiseTapsArguments& p, const TapsTile& at, i32 channel, SharedAddress to) {
    const i32 warp = device::warp_index();
    for (i32 i = warp; i < at.images * at.lines; i += kWarps) {
      const i32 image = i / at.lines, line = i % at.lines, index = image * p.lines + line;
      const i64 from = (at.image + image) * p.from.n + at.plane * p.from.spatial[0] +
                       (at.row + line * p.residues) * p.from.spatial[1];
      const i32 column = at.column * p.stride[2] - p.pad[2];
      copy_line(static_cast<const Element*>(p.first) + from, p.from, column, 0, p.from.size[2], p.line_pixels,
                p.channels, channel, to + static_cast<u32>(index) * p.shared.line_bytes, index);
    }
    const i32 end = p.to.size[2] - at.column < p.tile_columns ? p.to.size[2] : at.column + p.tile_columns;
    for (i32 tap = 0; tap < p.filter[0]; ++tap) {
      const i32 plane = at.out_plane(p, tap);
      if (plane < 0) continue;
      for (i32 i = warp; i < at.images * at.out_lines; i += kWarps) {
        const i32 image = i / at.out_lines, line = i % at.out_lines;
        const i32 index = (image * p.filter[0] + tap) * p.out_lines + line;
        const i64 from = (at.image + image) * p.to.n + plane * p.to.spatial[0] +
                         (at.out_row + line * p.residues) * p.to.spatial[1];
        copy_line(static_cast<const Element*>(p.second) + from, p.to, at.column - p.margin, at.column, end,
                  p.out_pixels, p.channels, channel,
                  to + p.shared.out_lines + static_cast<u32>(index) * p.shared.out_line_bytes, index);
      }
    }
  }

 private:
  // `pixels` from column `column` on, of which those in [begin, end) exist.
  WT_DEVICE static void copy_line(const Element* row, const DirectImage& image, i32 column, i32 begin, i32 end,
                                  i32 pixels, i32 channels, i32 first_channel, SharedAddress to, i32 index) {
    constexpr int kStep = device::kWarpSize / kChunks;
    static_assert(kStep * kChunks == device::kWarpSize);
    // A lane has the same channels of every pixel that it copies.
    const i32 channel = device::lane_index() % kChunks * kVector, first = device::lane_index() / kChunks;
    if (first_channel + channel >= channels) end = begin;
    const Element* from = row + (column + first) * image.spatial[2] + first_channel + channel;
    for (i32 pixel = first; pixel < pixels; pixel += kStep, from += kStep * image.spatial[2]) {
      const bool exists = column + pixel >= begin && column + pixel < end;
      const u32 place = static_cast<u32>(depthwise_taps::turned_unit<kUnits>(pixel, channel / 8, index) * 16 +
                                         channel % 8 * 2);
      if constexpr (kVector == 8) {
        device::copy_async_line(to + place, exists ? from : row, exists ? 16 : 0);
      } else {
        device::copy_async<kVector * 2>(to + place, exists ? from : row, exists ? kVector * 2 : 0);
      }
    }
  }
};

}  // namespace wt
