// SPDX-License-Identifier: Apache-2.0
// kernels/tma/seen.h - a problem as a kernel with bulk tensor copies sees it: patches, merged groups, aligned copies.
#pragma once

#include <functional>

#include "kernels/kind.h"

namespace wt {

// `inner` binds the problem as the kernel sees it; the launches that make it so (merged filters, copies with aligned
// rows) come before.
using BindSeen = std::function<Binding(const View& seen)>;
Binding bind_seen(const KernelConfig& config, const View& asked, const DeviceInfo& device, const BindSeen& inner);

// The launches that do so, as a source holds them.
std::vector<LaunchEntry> seen_entries(const KernelConfig& config);

// What of a prediction the copies add, in cycles, to the `cycles` of the kernel.
double with_aligned_copy(const KernelConfig& config, const View& seen, double cycles);

}  // namespace wt
