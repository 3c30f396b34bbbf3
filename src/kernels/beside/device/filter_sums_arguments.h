// SPDX-License-Identifier: Apache-2.0
// kernels/beside/device/filter_sums_arguments.h - the launch of filter_sums.h as the host sees it.
#pragma once

#include "kernels/device/arguments.h"

namespace wt {

inline constexpr int kFilterSumsThreads = 128;
inline constexpr const char* kFilterSumsSuffix = "_filter_sums";  // of the entry's name, after that of the kernel

struct FilterSumsArguments {
  const void* w;
  i32* table;
  Correction correction;  // its classes
  i32 classes[3];
  i32 x_zero;
  i32 channels;  // of a filter
  i32 outputs;   // output channels of all groups
  i32 in[3], out[3], filter[3], stride[3], dilation[3], pad[3];
  i64 filter_step, channel_step, tap_step[3];  // distances in w
};

}  // namespace wt
