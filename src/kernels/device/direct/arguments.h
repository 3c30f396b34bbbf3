// SPDX-License-Identifier: Apache-2.0
// kernels/device/direct/arguments.h - launches of the direct kernels as the host sees them (dispatch/bind_direct*.cc).
//
// Freestanding: host and device compilers lay these structs out alike. `from` is what a kernel reads pixel by pixel and
// `to` what it writes: x and y forward, dy and dx backward. One-dimensional problems lie along h.
#pragma once

#include "kernels/device/arguments.h"

namespace wt {

inline constexpr int kDirectSumThreads = 256;

// Elements of dw that a block of the sum takes: fewer where each has many parts, which its threads then share.
constexpr int direct_sum_elements(long long splits) { return splits > 64 ? 8 : 32; }

// An image as a direct kernel sees it. Distances in elements.
struct DirectImage {
  i32 size[3];  // d, h, w
  i64 n, spatial[3];
  i64 channel;
};

// Which part of the work a block has: its threads are channel vectors x strips.
struct DirectBlocks {
  i32 lanes;           // channel vectors of a block
  i32 channel_blocks;  // blocks over the channels, the fastest index of the grid
};

// The pixels before the first, of kernels with direct.history (1D forward and backward weight). Distances in elements.
struct DirectHistory {
  const void* data;
  i32 length;  // pixels of an image
  i64 n, channel, pixel;
};

// Kind stream: a strip is `rows` rows of a few columns of one plane of one image.
struct StreamArguments {
  DirectImage from, to;
  const void* first;   // x; dy for backward data
  const void* second;  // w; dy for backward weight
  void* out;           // y, dx; fp32 partial sums of dw
  i32 channels;
  i32 pad[3];
  i32 stride_d, dilation_d, filter_d;
  DirectBlocks blocks;
  i32 rows, row_tiles, column_tiles;
  i64 strips;
  i32 splits;  // of backward weight: blocks that share the strips of one plane of taps
  DirectHistory history;
  EpilogueArguments epilogue;
};

// Kind gather. A column lattice is every stride-th pixel of a row: all of them forward.
struct GatherArguments {
  DirectImage from, to;
  const void* first;
  const void* second;
  void* out;
  i32 channels;    // of the output: k forward, c backward data, k backward weight
  i32 multiplier;  // output channels of an input channel
  i32 filter[3], stride[3], dilation[3], pad[3];
  i32 tap_step[3], position_step[3];  // of the taps that one pixel meets
  DirectBlocks blocks;
  i32 column_lanes;               // threads side by side along w
  i32 lattices, lattice_columns;  // of a row; pixels of the longest lattice, or of a part of a row in backward weight
  i32 column_tiles;               // of a lattice; parts of a row in backward weight
  i32 filter_rows;                // of the filter, whose weights are in shared memory at a time
  i32 tile_rows, row_tiles;       // of gather_tile.h: output rows of a block, blocks down an image
  i64 strips;
  i32 tap_runs;  // of backward weight: runs of taps that a row of the filter has
  i32 splits;
  i64 rows_per_split;
  DirectHistory history;
  EpilogueArguments epilogue;
};

// Kind banded. A column block is 8 neighbouring pixels of an output row; a segment is a row's blocks, 16 at
// most; a group of segments fills the 16 rows of a matrix instruction. In three dimensions an image is a plane of one,
// and its distances are those of planes.
struct BandedArguments {
  DirectImage from, to;
  const void* first;
  const void* second;
  void* out;
  i32 channels;
  i32 pad_h, pad_w;  // backward data: of the flipped filter
  i32 pad_d, from_planes, to_planes;
  i32 column_blocks;   // of a segment
  i32 block_rows;      // of the instruction that a segment takes: column_blocks rounded up to a power of two
  i32 group_segments;  // 16 / block_rows
  i32 segment_tiles;   // segments of one row of an image
  i32 segments;        // of all images
  i32 window_reciprocal, width_reciprocal;  // kernels/device/reciprocal.h: of a segment's input and output pixels
  i32 channel_blocks;
  i32 rows, rows_per_block;  // groups x output rows, over which the blocks of a channel block are spread
  i32 range_rows;            // of the blocks that differ in the grid's y alone
  EpilogueArguments epilogue;
};

// kernels/depthwise_banded/device/bulk.h: maps of the images, {channels, w, h, images} in boxes of a row of a group of
// segments. With a stride of 2, windows of even and odd columns have a map each.
struct BandedBulkArguments {
  TensorMap from[2], to;
  i32 origin[2];  // column of the map where the window of output column 0 begins
  BandedArguments rows;
};

// Kind groups. A segment is some columns of positions of one image; the segments of a group lie side by
// side in a block's row. Origins lead from positions to pixels, the padding included.
struct GroupsArguments {
  DirectImage from, to;
  const void* first;
  const void* second;
  void* out;
  i32 channels;
  i32 channels_per_group;
  i32 in_row, in_column, out_row, out_column;  // origins
  i32 columns;                                 // positions of a segment
  i32 group_segments;                          // side by side in a block
  i32 segment_tiles;                           // segments of one row of an image
  i32 segments;                                // of all images
  i32 height;                                  // rows of positions of an image
  i32 window_reciprocal, width_reciprocal;     // kernels/device/reciprocal.h: of a segment's input and output pixels
  i32 channel_blocks;
  i32 rows, rows_per_block;  // groups of segments x rows, over which the blocks of a channel block are spread
  i32 range_rows;            // of the blocks that differ in the grid's y alone
  EpilogueArguments epilogue;
};

}  // namespace wt
