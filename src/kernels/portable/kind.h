// SPDX-License-Identifier: Apache-2.0
// kernels/portable/kind.h - the parts of this kind, which kind.cc joins.
#pragma once

#include "kernels/kind.h"

namespace wt::portable_kind {

void propose(const KernelConfig& base, const TargetInfo& target, Breadth breadth, std::vector<KernelConfig>& configs);
std::span<const Constraint> target_rows();
std::span<const Constraint> problem_rows();
int registers(const KernelConfig& config);
int register_limit(const KernelConfig& config);
double predict(const KernelConfig& config, const View& seen, int splits);
Binding bind(const KernelConfig& config, const View& seen, const DeviceInfo& device, int splits);

}  // namespace wt::portable_kind
