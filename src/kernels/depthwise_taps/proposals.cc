// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_taps/proposals.cc - blocks for few and many rows of the filter, and for narrow and wide ones.
#include "kernels/depthwise_taps/kind.h"
#include "kernels/shared/constraint_rows.h"

namespace wt::depthwise_taps_kind {
namespace {

struct Variant {
  short matrices, threads;
  unsigned char channels, min_blocks;
};
constexpr Variant kVariants[] = {{1, 256, 16, 2}, {1, 256, 32, 2}, {2, 256, 16, 1}, {2, 256, 32, 1}, {1, 128, 16, 4}};

}  // namespace

void propose(const KernelConfig& base, const TargetInfo&, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (breadth == Breadth::kFew || base.layout != Layout::kChannelsLast) return;
  if (!has_one_16_bit_type(base)) return;
  for (const bool shares : {true, false}) {
    for (const short halves : {1, 2}) {
      for (const Variant& variant : kVariants) {
        for (const unsigned char vector : {8, 4, 2}) {
          if (vector != 8 && variant.channels != 16) continue;
          KernelConfig config = base;
          DirectConfig& direct = config.direct;
          config.finite_only = true;
          config.min_blocks = variant.min_blocks;
          config.fixed.stride_w = config.fixed.dilation_w = shares ? 1 : 0;
          direct.sub_h = variant.matrices;
          direct.sub_w = halves;
          direct.block_size = variant.threads;
          direct.block_channels = variant.channels;
          direct.prefetch = 2;
          direct.vector_in = direct.vector_out = vector;
          configs.push_back(config);
        }
      }
    }
  }
}

}  // namespace wt::depthwise_taps_kind
