// SPDX-License-Identifier: Apache-2.0
// dispatch/tma_regions.h - the output pixels of a forward or backward-data problem, in regions that see the same taps.
#pragma once

#include <vector>

#include "config/kernel_config.h"
#include "dispatch/tma_maps.h"
#include "kernel/gemm/tma/arguments.h"
#include "problem/problem.h"

namespace wt {

// Taps that read one phase of a strided image (problem/image_phases.h).
struct HostPhase {
  TapWalk taps{};
  Lattice seen;
};

// A region on the host: what the parameter block holds; one without taps has no map.
struct HostRegion {
  TmaRegion region{};
  bool has_taps = true;
  Lattice seen;                   // of the image that its taps walk over
  std::vector<HostPhase> phases;  // of kernels that walk over one after the other; the region counts all their taps
};

// Long sums first, pixels without taps last. `asked`: before the kernel saw it as `problem`.
std::vector<HostRegion> tma_regions(const KernelConfig& config, const ConvProblem& problem, const ConvProblem& asked);

}  // namespace wt
