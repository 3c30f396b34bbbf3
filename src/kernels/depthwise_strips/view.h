// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_strips/view.h - how a strips kernel sees a problem: which lines its rows meet, which pixels its
// strips meet, and the tiles that its blocks take.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/depthwise_strips/device/arguments.h"
#include "kernels/depthwise_strips/device/shape.h"
#include "kernels/view.h"
#include "problem/problem.h"

namespace wt {

// Whether rows, columns and steps fit the launch's tables.
bool strips_can_count(const View& view);

// Whether the filter and the smallest tile fit; the problem can be counted.
bool strips_fit(const KernelConfig& config, const View& view);

struct StripsCut {
  StripsArguments arguments{};  // without pointers and epilogue
  int64_t shared_bytes = 0;
  int64_t resident = 1;  // blocks of a multiprocessor
  int64_t grid = 0;
  double busy_us = 0;  // predicted, between the first data and the last store
};
// The quickest of the tiles that fit shared memory; none where not even the smallest does. Worked out once per view.
const std::optional<StripsCut>& strips_cut(const KernelConfig& config, const View& view);

}  // namespace wt
