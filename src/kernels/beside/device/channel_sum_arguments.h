// SPDX-License-Identifier: Apache-2.0
// kernels/beside/device/channel_sum_arguments.h - launches of channel_sum.h as the host sees them
// (dispatch/channel_sum.cc).
#pragma once

#include "target/types.h"

namespace wt {

inline constexpr int kChannelSumThreads = 256;
inline constexpr int kChannelSumBytes = 16;  // of one load

// The first launch. Channels-last: the tensor is rows of `row_vectors` loads, the least after which channels come round
// again, so that a thread that walks down the rows always meets the same channels: any channel count gets whole
// 16-byte loads. Channels-first: lines of one channel of one image, cut into segments.
struct ChannelPartsArguments {
  const void* in;
  float* parts;  // (rows of blocks, width)
  i64 elements;  // of the tensor
  i64 width;     // of a row of parts: elements of a row, or channels
  // Channels-last:
  i64 rows;
  i32 row_vectors;
  i32 lanes, slots;  // threads of a block: vectors of a row x rows
  i32 column_blocks;
  // Channels-first; lanes share a segment, slots take different ones:
  i64 channels, pixels;
  i64 segments;          // of one line
  i64 segment_elements;  // of all but the last
  i64 items;             // segments of all images of one channel
  i32 row_blocks;
};

// The second launch: parts of each channel, and the rows that fill no whole row of loads.
struct ChannelTotalsArguments {
  const float* parts;
  const void* in;
  float* out;
  i64 channels;
  i64 row_blocks, width;
  i64 tail_first, tail_rows;  // element where they begin; rows of `channels`
  i32 elements;               // channels of a block; its threads share the parts of each
};

}  // namespace wt
