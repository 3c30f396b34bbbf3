// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_step/proposals.cc - the usual short filters compiled in, any other at run time.
#include "kernels/depthwise_step/kind.h"
#include "kernels/device/gemm/storage.h"

namespace wt::depthwise_step_kind {

void propose(const KernelConfig& base, const TargetInfo&, Breadth, std::vector<KernelConfig>& configs) {
  constexpr int kVectorBytes = 16;
  if (!base.direct.history || base.dims != 1) return;
  const int most = base.layout == Layout::kChannelsLast ? kVectorBytes / size_of(base.x) : 1;
  // Narrower vectors have more threads, where images and channels are few; one takes any channel count.
  for (const int taps : {4, 3, 2, 0}) {
    for (const int width : {8, 4, 2, 1}) {
      if (width > most) continue;
      KernelConfig config = base;
      config.min_blocks = 4;
      config.direct.block_size = 128;
      config.direct.vector_in = config.direct.vector_out = static_cast<unsigned char>(width);
      config.fixed.filter_h = static_cast<unsigned char>(taps);
      config.fixed.dilation_h = taps > 0 ? 1 : 0;
      configs.push_back(config);
    }
  }
}

}  // namespace wt::depthwise_step_kind
