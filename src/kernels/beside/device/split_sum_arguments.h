// SPDX-License-Identifier: Apache-2.0
// kernels/beside/device/split_sum_arguments.h - the launch of split_sum.h as the host sees it.
#pragma once

#include "kernels/device/arguments.h"

namespace wt {

inline constexpr int kSplitSumThreads = 256;
inline constexpr int kSplitSumWidth = 4;           // elements per thread
inline constexpr int kSplitSumLanes = 8;           // that share an element's parts, at most
inline constexpr const char* kSumSuffix = "_sum";  // of the entry's name, after that of the kernel whose parts it adds

struct SplitSumArguments {
  const float* partials;
  void* out;
  i64 elements;
  i32 splits;
  i32 lanes;         // threads that share an element's parts: 1, or a divisor of a block's threads for whole vectors
  i64 channel_span;  // elements of the output that share a channel before the next one begins
  i64 channels;
  // Where groups were merged, parts are those of the merged filter, of which only each group's own block is wanted.
  i32 taps;
  i32 group_channels, group_filters;  // input and output channels of one group
  EpilogueArguments epilogue;
};

}  // namespace wt
