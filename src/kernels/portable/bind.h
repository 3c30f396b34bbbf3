// SPDX-License-Identifier: Apache-2.0
// kernels/portable/bind.h - launches of the portable pipelines.
#pragma once

#include "kernels/view.h"
#include "launch/binding.h"

namespace wt {

// With another limit of indices than portable_layout::kIndexLimit, for tests.
Binding bind_portable(const KernelConfig& config, const View& seen, const DeviceInfo& device, int splits,
                      int64_t index_limit);

}  // namespace wt
