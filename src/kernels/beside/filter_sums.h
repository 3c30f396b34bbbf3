// SPDX-License-Identifier: Apache-2.0
// kernels/beside/filter_sums.h - the launch that sums filters for x's zero point (kernels/beside/device/filter_sums.h).
#pragma once

#include <vector>

#include "kernels/kind.h"
#include "launch/binding.h"

namespace wt {

// Puts that launch before `binding`, whose workspace becomes the table that its epilogues read. A problem whose x has
// no zero point is left as it is.
Binding with_filter_sums(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device,
                         Binding binding);

// Its entry, where the config needs one.
void add_filter_sums_entry(const KernelConfig& config, std::vector<LaunchEntry>& list);

}  // namespace wt
