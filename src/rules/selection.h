// SPDX-License-Identifier: Apache-2.0
// rules/selection.h - how the smaller rule sets are taken out of full. All keep the order of their input.
#pragma once

#include <cstddef>
#include <vector>

#include "config/kernel_config.h"

namespace wt {

inline constexpr size_t kMinTinyKernels = 10;
inline constexpr size_t kMaxTestKernels = 172;  // of NVIDIA's targets, as far as shapes go

// About a fifth: of each category (direction, input type, dimensions, family, pipeline, scheduler) the first and then
// every fifth; never fewer than kMinTinyKernels while there are as many.
std::vector<KernelConfig> stratified_fifth(const std::vector<KernelConfig>& configs);

// At least `count` (while there are as many): first one of each value of each coarse property, then from the start.
std::vector<KernelConfig> first_of_each(const std::vector<KernelConfig>& configs, size_t count);

// Greedily one for each pair of a property's values that no earlier one showed: of what must be shown however many
// there are, of the rest up to `limit` in all.
std::vector<KernelConfig> cover(const std::vector<KernelConfig>& configs, size_t limit);

}  // namespace wt
