// SPDX-License-Identifier: Apache-2.0
// kernels/four_wave_weight/kind.h - the parts of this kind, which kind.cc joins.
#pragma once

#include "kernels/kind.h"

namespace wt {

// The product: output channels by numbers of a filter, k-blocks of pixels, and how they are divided.
struct FourWaveParts {
  int64_t numbers = 0;  // of one output channel's filter
  int64_t tiles_m = 0, tiles_n = 0, tiles = 0, pixel_blocks = 0, splits = 1, blocks_per_split = 0;
};
FourWaveParts four_wave_parts(const KernelConfig& config, const View& seen, int asked);

namespace four_wave_weight_kind {

void propose(const KernelConfig& base, const TargetInfo& target, Breadth breadth, std::vector<KernelConfig>& configs);
std::span<const Constraint> target_rows();
std::span<const Constraint> problem_rows();
double predict(const KernelConfig& config, const View& seen, int splits);
Binding bind(const KernelConfig& config, const View& seen, const DeviceInfo& device, int splits);

}  // namespace four_wave_weight_kind
}  // namespace wt
