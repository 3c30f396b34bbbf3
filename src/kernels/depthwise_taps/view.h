// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_taps/view.h - how a depthwise_taps kernel sees a problem: the columns of its matrices and the tiles
// that its blocks take.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/depthwise_taps/device/arguments.h"
#include "kernels/view.h"

namespace wt {

// Whether windows of later runs of taps begin at whole pixels of dy.
bool taps_runs_align(const KernelConfig& config, const View& view);
// Warps of a block that have other columns, so that all columns have one.
int64_t taps_warp_groups(const KernelConfig& config, const View& view);

struct TapsCut {
  DepthwiseTapsArguments arguments{};  // without pointers
  int64_t shared_bytes = 0;
  int64_t grid = 0;
  double busy_us = 0;  // predicted, between the first data and the last store
};
// The quickest of the tiles that fit shared memory; none where not even the smallest does. Worked out once per view.
const std::optional<TapsCut>& taps_cut(const KernelConfig& config, const View& view);

}  // namespace wt
