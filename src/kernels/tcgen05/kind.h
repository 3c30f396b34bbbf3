// SPDX-License-Identifier: Apache-2.0
// kernels/tcgen05/kind.h - the parts of this kind, which kind.cc joins.
#pragma once

#include "kernels/kind.h"

namespace wt::tcgen05_kind {

void propose(const KernelConfig& base, const TargetInfo& target, Breadth breadth, std::vector<KernelConfig>& configs);
std::span<const Constraint> target_rows();
std::span<const Constraint> problem_rows();
double predict(const KernelConfig& config, const View& asked, int splits);
Binding bind(const KernelConfig& config, const View& asked, const DeviceInfo& device, int splits);
// Into how many parts the sums of a kernel with split_k go.
int64_t planned_splits(const KernelConfig& config, const View& seen, int asked);
// Over how many blocks of a cluster the sums of a weight gradient go.
int64_t planned_members(const KernelConfig& config, const View& seen, int asked);

}  // namespace wt::tcgen05_kind
