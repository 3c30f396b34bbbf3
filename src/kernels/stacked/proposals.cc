// SPDX-License-Identifier: Apache-2.0
// kernels/stacked/proposals.cc - small groups on wgmma: forward, and backward data of stride 1.
#include "kernels/stacked/device/shape.h"
#include "kernels/stacked/kind.h"
#include "problem/problem.h"

namespace wt::stacked_kind {
namespace {

struct Variant {
  unsigned char width, block;      // channels of a group, of a block
  unsigned char filter;            // rows and columns
  unsigned char stride, prefetch;  // rows on their way to each consumer
};
constexpr Variant kVariants[] = {
    {32, 64, 3, 1, 8}, {16, 64, 3, 1, 8}, {32, 64, 3, 2, 4}, {16, 64, 3, 2, 4}, {16, 128, 3, 2, 4},
    {32, 64, 3, 1, 4}, {16, 64, 3, 1, 4}, {16, 64, 5, 1, 7}, {32, 64, 5, 1, 4},
};
constexpr size_t kFewVariants = 2;  // that packs have, without an epilogue

}  // namespace

void propose(const KernelConfig& base, const TargetInfo&, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (base.dims != 2 || base.layout != Layout::kChannelsLast) return;
  if (base.direction == Direction::kBackwardWeight) return;
  if (size_of(base.x) != 2 || base.x != base.y || base.x != base.w) return;
  if (breadth == Breadth::kFew && base.epilogue != EpilogueConfig{}) return;
  size_t offered = 0;
  for (const Variant& variant : kVariants) {
    if (breadth == Breadth::kFew && offered == kFewVariants) break;
    if (base.direction == Direction::kBackwardData && variant.stride > 1) continue;
    ++offered;
    KernelConfig config = base;
    DirectConfig& direct = config.direct;
    config.fixed.filter_h = config.fixed.filter_w = variant.filter;
    config.fixed.stride_h = config.fixed.stride_w = variant.stride;
    config.fixed.dilation_h = config.fixed.dilation_w = 1;
    direct.group_channels = variant.width;
    direct.block_channels = variant.block;
    direct.block_size = stacked::kThreads;
    direct.prefetch = variant.prefetch;
    configs.push_back(config);
  }
}

bool may_serve(const ConvProblem& problem) {
  const int64_t width = problem.c_per_group();
  return problem.dims == 2 && width == problem.k_per_group() && (width == 16 || width == 32);
}

}  // namespace wt::stacked_kind
