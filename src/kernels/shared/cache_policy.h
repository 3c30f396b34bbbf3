// SPDX-License-Identifier: Apache-2.0
// kernels/shared/cache_policy.h - how the L2 cache treats the images of a problem, for kernels whose copies say so.
#pragma once

#include "launch/device_info.h"
#include "problem/problem.h"
#include "target/cache_policy.h"

namespace wt {

// For the images that a kernel reads. Lines that go first leave the L2's other lines alone: most of those are dirty
// when a kernel starts, and writing them back takes as long as reading. But a line that is read again later is then
// read from memory again.
CachePolicy image_policy(const ConvProblem& problem, const DeviceInfo& device);

// The same of a kernel that reads images about once, whatever the filter.
CachePolicy walked_policy(const ConvProblem& problem, const DeviceInfo& device);

// For a filter that `row_tiles` rows of tiles read, each once.
CachePolicy filter_policy(const ConvProblem& problem, int64_t row_tiles, const DeviceInfo& device);

}  // namespace wt
