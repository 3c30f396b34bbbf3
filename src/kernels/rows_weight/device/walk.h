// SPDX-License-Identifier: Apache-2.0
// kernels/rows_weight/device/walk.h - the units of a part, and where their image rows lie in the ring.
//
//   part --> units, down a strip and on to the next --> rows of outputs, chunks of the ring
#pragma once

#include "kernels/rows_weight/device/arguments.h"
#include "target/hopper.h"

namespace wt {

// Which outputs a unit has.
struct RowsUnit {
  i32 image, row, column;
  i32 rows, columns;  // that exist
};

struct RowsWalk {
  u32 index, end;
  i32 image, strip;
  i32 in_walk;  // units since the top of the image
  i32 newest;   // chunk of the ring
  bool starts;  // at the top of the image, or first of the part

  WT_DEVICE RowsWalk(const RowsWeightArguments& p, u32 part) {
    index = part * p.units_of_part + (part < p.longer_parts ? part : p.longer_parts);
    end = index + p.units_of_part + (part < p.longer_parts ? 1 : 0);
    const u32 line = quotient(index, p.walk_units);
    in_walk = static_cast<i32>(index - line * p.walk_units.by);
    image = static_cast<i32>(quotient(line, p.strips));
    strip = static_cast<i32>(line) - image * static_cast<i32>(p.strips.by);
    newest = p.chunks - 1;
    starts = true;
  }
  WT_DEVICE void next(const RowsWeightArguments& p) {
    ++index;
    starts = ++in_walk == static_cast<i32>(p.walk_units.by);
    newest += starts ? p.chunks : 1;
    if (newest >= p.ring_chunks) newest -= p.ring_chunks;
    if (!starts) return;
    in_walk = 0;
    if (++strip < static_cast<i32>(p.strips.by)) return;
    strip = 0;
    ++image;
  }
  WT_DEVICE bool is_over() const { return index >= end; }

  WT_DEVICE RowsUnit unit(const RowsWeightArguments& p) const {
    RowsUnit unit;
    unit.image = image;
    unit.row = in_walk * p.tile_rows;
    unit.column = strip * p.strip;
    unit.rows = p.out[0] - unit.row < p.tile_rows ? p.out[0] - unit.row : p.tile_rows;
    unit.columns = p.out[1] - unit.column < p.strip ? p.out[1] - unit.column : p.strip;
    return unit;
  }
  // The ring's row that holds the first image row of the unit's windows.
  WT_DEVICE i32 first_row(const RowsWeightArguments& p) const {
    const i32 oldest = newest - (p.chunks - 1);
    return (oldest < 0 ? oldest + p.ring_chunks : oldest) * p.chunk_rows;
  }
  // The first chunk that the unit brings, counted from its windows' first.
  WT_DEVICE i32 first_chunk(const RowsWeightArguments& p) const { return starts ? 0 : p.chunks - 1; }
};

}  // namespace wt
