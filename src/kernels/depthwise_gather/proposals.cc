// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_gather/proposals.cc - the general depthwise kernel: every tap looked up, all sizes at run time.
#include "kernels/depthwise_gather/kind.h"
#include "kernels/device/gemm/storage.h"

namespace wt::depthwise_gather_kind {
namespace {

struct Variant {
  unsigned char vector_in, vector_out;
  short pixels;  // of a thread; taps in backward weight
  bool few;
  bool sliding = false;  // along rows without stride and dilation; forward and backward data
  unsigned char min_blocks = 2;
};

// Channels-last. Input vectors are for a multiplier of one; 1 and 1 takes any channel count.
constexpr Variant kLast[] = {
    {4, 4, 4, false},       {8, 8, 4, false},       {8, 8, 2, false},          {4, 4, 8, false},
    {1, 4, 4, false},       {1, 1, 4, true},        {1, 1, 8, false},          {2, 2, 4, false},
    {4, 4, 4, false, true}, {8, 8, 2, false, true}, {4, 4, 8, false, true, 1}, {2, 2, 8, false, true},
    {1, 4, 4, false, true}, {1, 1, 8, false, true},
};
constexpr Variant kFirst[] = {
    {1, 1, 4, true}, {1, 1, 2, false}, {1, 1, 8, false}, {1, 1, 8, false, true}, {1, 1, 4, false, true}};

bool is_usual(const KernelConfig& base) { return base.dims == 2 && size_of(base.x) == 2 && base.x == base.y; }

// Large filters with rows in shared memory: 8 pixels x 4 channels per thread.
void propose_tile(const KernelConfig& base, std::vector<KernelConfig>& configs) {
  if (base.dims != 2 || base.layout != Layout::kChannelsLast || base.direction == Direction::kBackwardWeight) return;
  if (size_of(base.x) != 2 || size_of(base.y) != 2) return;
  KernelConfig config = base;
  DirectConfig& direct = config.direct;
  config.min_blocks = 2;
  direct.vector_in = direct.vector_out = 4;
  direct.sub_w = 8;
  config.fixed.stride_h = config.fixed.stride_w = config.fixed.dilation_h = config.fixed.dilation_w = 1;
  direct.block_size = 256;
  direct.prefetch = 2;
  configs.push_back(config);
}

}  // namespace

void propose(const KernelConfig& base, const TargetInfo&, Breadth breadth, std::vector<KernelConfig>& configs) {
  const bool last = base.layout == Layout::kChannelsLast;
  for (const Variant& variant : last ? std::span(kLast) : std::span<const Variant>(kFirst)) {
    if (variant.sliding && base.direction == Direction::kBackwardWeight) continue;
    if (breadth == Breadth::kFew && !(variant.few && last && is_usual(base))) continue;
    KernelConfig config = base;
    config.direct.vector_in = variant.vector_in;
    config.direct.vector_out = variant.vector_out;
    config.direct.sub_w = variant.pixels;
    config.direct.block_size = 256;
    if (variant.sliding) config.fixed.stride_w = config.fixed.dilation_w = 1;
    config.min_blocks = variant.min_blocks;
    configs.push_back(config);
  }
  if (breadth == Breadth::kAll && !is_amd(base.target)) propose_tile(base, configs);
}

}  // namespace wt::depthwise_gather_kind
