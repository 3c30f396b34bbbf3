// SPDX-License-Identifier: Apache-2.0
// kernels/beside/device/merge_groups_arguments.h - the launch of merge_groups.h as the host sees it.
#pragma once

#include "kernels/device/arguments.h"

namespace wt {

inline constexpr int kMergeThreads = 256;
inline constexpr const char* kMergeSuffix = "_merge";  // of the entry's name, after that of the kernel it prepares for

struct MergeGroupsArguments {
  const void* w;
  void* merged;
  i64 elements;  // of the merged filter
  i32 taps;
  i32 channels;    // input channels of one group
  i32 filters;     // output channels of one group
  i32 per_merged;  // groups that become one
};

}  // namespace wt
