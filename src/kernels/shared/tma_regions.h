// SPDX-License-Identifier: Apache-2.0
// kernels/shared/tma_regions.h - the output pixels of a forward or backward-data problem, in regions that see the same
// taps.
#pragma once

#include <vector>

#include "config/kernel_config.h"
#include "kernels/shared/tma_maps.h"
#include "kernels/tma/device/arguments.h"
#include "problem/problem.h"

namespace wt {

// A region on the host: what the parameter block holds; one without taps has no map.
struct HostRegion {
  TmaRegion region{};
  bool has_taps = true;
  Lattice seen;  // of the image that its taps walk over
};

// Long sums first, pixels without taps last. `asked`: before the kernel saw it as `problem`.
std::vector<HostRegion> tma_regions(const KernelConfig& config, const ConvProblem& problem, const ConvProblem& asked);

}  // namespace wt
