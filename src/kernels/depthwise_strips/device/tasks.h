// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_strips/device/tasks.h - a tile's tables in shared memory: where each strip begins, and what is to
// be done with each plane, phase and step. WHY tables: the products have no registers left for what they are made of.
#pragma once

#include "kernels/depthwise_strips/device/tile.h"

namespace wt {

// A strip of the tile: where it begins in the output and in the tile.
struct StripPlace {
  u32 offset;         // of the first output, in elements of a channel
  u32 extent;         // columns that exist, and in the upper half rows of the band
  i32 image;          // the image's first line
  u32 row_and_pixel;  // the band's first row i, and in the upper half the pixel of the line where its window begins

  WT_DEVICE i32 columns() const { return static_cast<i32>(extent & 0xffff); }
  WT_DEVICE i32 rows() const { return static_cast<i32>(extent >> 16); }
  WT_DEVICE i32 row() const { return static_cast<i32>(row_and_pixel & 0xffff); }
  WT_DEVICE i32 pixel() const { return static_cast<i32>(row_and_pixel >> 16); }

  WT_DEVICE static StripPlace at(SharedAddress places, i32 strip) {
    const auto words = device::load_shared<Vector<u32, 4>>(places + strip * strips::kPlaceBytes);
    return {words.at[0], words.at[1], static_cast<i32>(words.at[2]), words.at[3]};
  }

  // Strip `index` of a class. Those that do not exist have no columns and read what the first strip reads.
  WT_DEVICE static StripPlace make(const StripsArguments& p, const StripsTile& tile, i32 of_class, i32 index) {
    const i32 slot = index % p.line_strips, band = index / p.line_strips % p.tile_bands;
    const i32 image = index / p.line_strips / p.tile_bands;
    const i32 column = (tile.strip + slot) * p.strip_columns, row = tile.row(p, of_class, band * p.band_rows);
    i32 columns = p.to.size[2] - column;
    if (columns > p.strip_columns) columns = p.strip_columns;
    const i32 apart = p.classes * p.residues;
    i32 rows = p.to.size[1] > row ? (p.to.size[1] - row + apart - 1) / apart : 0;
    if (rows > p.band_rows) rows = p.band_rows;
    const bool exists =
        slot < p.tile_strips && image < p.tile_images && tile.image + image < p.images && columns > 0 && rows > 0;
    if (!exists) return {0, 0, 0, 0};
    const i64 offset =
        (tile.image + image) * p.to.n + tile.plane * p.to.spatial[0] + row * p.to.spatial[1] + column * p.to.spatial[2];
    return {static_cast<u32>(offset), static_cast<u32>(columns) | static_cast<u32>(rows) << 16,
            image * p.planes * p.groups * p.lines,
            static_cast<u32>(band * p.band_rows) | static_cast<u32>(slot * p.advance) << 16};
  }
  WT_DEVICE void store(SharedAddress places, i32 strip) const {
    device::store_shared(places + strip * strips::kPlaceBytes,
                         Vector<u32, 4>{{offset, extent, static_cast<u32>(image), row_and_pixel}});
  }
};

// The lines that the bands of a class meet by one plane, phase and step.
struct StripsTask {
  i32 lines;       // that exist
  i32 first_line;  // of an image
  i32 skip;        // to the line that the first row of the tile meets first: before the image where it is negative
  i32 row, rows;   // of the filter: the first, and how many
  i32 column, step;

  WT_DEVICE static StripsTask at(SharedAddress tasks, i32 index) {
    const SharedAddress from = tasks + index * strips::kTaskBytes;
    const auto one = device::load_shared<Vector<i32, 4>>(from), two = device::load_shared<Vector<i32, 4>>(from + 16);
    return {one.at[0], one.at[1], one.at[2], one.at[3], two.at[0], two.at[1], two.at[2]};
  }
  WT_DEVICE void store(SharedAddress tasks, i32 index) const {
    const SharedAddress to = tasks + index * strips::kTaskBytes;
    device::store_shared(to, Vector<i32, 4>{{lines, first_line, skip, row}});
    device::store_shared(to + 16, Vector<i32, 4>{{rows, column, step, 0}});
  }

  // Task `index` of a tile: of a class, a plane of the filter, a phase and a step, the last of which is the quickest.
  template <Direction kDirection>
  WT_DEVICE static StripsTask make(const StripsArguments& p, const StripsTile& tile, i32 index) {
    StripsTask task;
    task.step = index % p.steps;
    index /= p.steps;
    const i32 of_phase = index % p.phases, tap = index / p.phases % p.filter[0];
    const StripsPhase phase = p.phase[index / p.phases / p.filter[0] + of_phase];
    const StripsTile::Lines lines = tile.lines(p, phase.group);
    i32 plane = 0;  // of those that the tile has
    for (i32 before = 0; before < tap; ++before) plane += tile.input_plane<kDirection>(p, before) >= 0;
    const bool met = phase.count > 0 && tile.input_plane<kDirection>(p, tap) >= 0;
    task.lines = met ? lines.count : 0;
    task.first_line = (plane * p.groups + phase.group) * p.lines;
    task.skip = phase.offset - lines.skipped;
    task.row = tap * p.filter[1] + phase.first;
    task.rows = phase.count;
    task.column = p.step_column[task.step];
    return task;
  }
};

}  // namespace wt
