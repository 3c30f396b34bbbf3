// SPDX-License-Identifier: Apache-2.0
// kernels/tcgen05/bind.cc - launches: those of kernels/tma and kernels/tma_weight, whose arguments the kernels take.
#include "kernels/tma/bind.h"
#include "kernels/tcgen05/kind.h"
#include "kernels/tma/seen.h"

namespace wt {

Binding tcgen05_kind::bind(const KernelConfig& config, const View& asked, const DeviceInfo& device, int splits) {
  return bind_seen(config, asked, device, [&](const View& seen) {
    return config.direction == Direction::kBackwardWeight ? bind_gradient(config, seen, device, splits)
                                                          : bind_regions(config, seen, device, splits);
  });
}

}  // namespace wt
