// SPDX-License-Identifier: Apache-2.0
// kernels/tcgen05_halo/kind.h - the parts of this kind, which kind.cc joins.
#pragma once

#include "kernels/kind.h"

namespace wt::tcgen05_halo_kind {

void propose(const KernelConfig& base, const TargetInfo& target, Breadth breadth, std::vector<KernelConfig>& configs);
std::span<const Constraint> target_rows();
std::span<const Constraint> problem_rows();
double predict(const KernelConfig& config, const View& asked, int splits);
Binding bind(const KernelConfig& config, const View& asked, const DeviceInfo& device, int splits);
Binding bind_gradient(const KernelConfig& config, const View& seen, const DeviceInfo& device, int splits);

}  // namespace wt::tcgen05_halo_kind
