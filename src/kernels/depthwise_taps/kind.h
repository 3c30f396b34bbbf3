// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_taps/kind.h - the parts of this kind, which kind.cc joins.
#pragma once

#include "kernels/kind.h"

namespace wt::depthwise_taps_kind {

void propose(const KernelConfig& base, const TargetInfo& target, Breadth breadth, std::vector<KernelConfig>& configs);
std::span<const Constraint> target_rows();
std::span<const Constraint> problem_rows();
bool may_serve(const ConvProblem& problem);
double predict(const KernelConfig& config, const View& view, int splits);
Binding bind(const KernelConfig& config, const View& view, const DeviceInfo& device, int splits);

}  // namespace wt::depthwise_taps_kind
