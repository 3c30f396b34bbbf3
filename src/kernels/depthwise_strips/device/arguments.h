// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_strips/device/arguments.h - a launch of kind strips as the host sees it.
//
// A strip is 8 neighbouring columns of output rows; a step multiplies the 16 columns of its window that begin
// `step_column` pixels from its first. A band is some output rows that meet the same rows of the filter one after the
// other. Freestanding: host and device compilers lay these structs out alike.
#pragma once

#include "kernels/device/direct/arguments.h"

namespace wt {

inline constexpr int kStripsMaxSteps = 16;
inline constexpr int kStripsMaxStride = 8;

// Rows of the filter that the rows of a band meet, one line of the tile after the other.
struct StripsPhase {
  i32 first, count;   // of the filter: the first row, how many
  i32 group, offset;  // of lines in the tile: which, and the one that the band's first row meets first
};

// Where things lie in a block's shared memory (shape.h), in bytes. WHY from the host: a kernel reads them in place, and
// has no registers left for them.
struct StripsShared {
  u32 zeros, weights, places, tasks, staged, buffers;
  u32 line_bytes, out_line_bytes, tile_bytes;
};

struct StripsArguments {
  DirectImage from, to;  // x and y; dy and dx in backward data
  const void* first;
  const void* second;
  void* out;
  i32 images;
  i32 channels, multiplier;  // input channels of the problem, and output channels of each
  i32 filter[3];
  i32 stride[3], dilation[3], pad[3];  // those of rows are in the phases

  // Output rows: row (class + classes * (residue + residues * i)) for i = 0, 1, .. The residue is a tile's.
  i32 classes, residues;
  i32 phases;               // of a class; phase `class` where there are several classes
  i32 row_scale, row_step;  // of the input, from one i to the next; of the filter, from one line to the next
  i32 groups;               // of lines: group g begins at input row group_first[g] of output row 0
  i32 group_first[kStripsMaxStride];
  StripsPhase phase[kStripsMaxStride];

  // Columns: strips of `strip_columns` outputs, `advance` pixels apart, the first of which begins at pixel `origin`.
  i32 strip_columns, advance, origin;
  i32 steps;
  i32 step_column[kStripsMaxSteps];

  // A tile: bands of rows of some images, a line of strips each.
  i32 tile_images, tile_bands, tile_strips, line_strips;  // strips of a line, and their places
  i32 band_rows;
  i32 image_tiles, row_tiles, column_tiles, tiles;
  i32 planes, lines, line_pixels;  // of the tile in shared memory: planes of an image, lines of a group, pixels
  i32 class_tiles;                 // matrices of 16 strips of a class
  i32 channel_blocks, workers;     // blocks that share the tiles of a channel block
  StripsShared shared;
  EpilogueArguments epilogue;
};

}  // namespace wt
