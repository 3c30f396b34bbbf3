// SPDX-License-Identifier: Apache-2.0
// config/kernels/direct_stacked.cc - small groups on wgmma: forward, and backward data of stride 1.
#include "config/kernels.h"
#include "kernel/direct/stacked_shape.h"
#include "problem/problem.h"

namespace wt {

namespace {

constexpr DirectDesign kDesigns[] = {DirectDesign::kStacked};
constexpr Target kTargets[] = {Target::kSm90a};
constexpr Direction kDirections[] = {Direction::kForward, Direction::kBackwardData};
constexpr std::string_view kReadFields[] = {"direct.design",     "direct.filter_h",   "direct.filter_w",
                                            "direct.stride_h",   "direct.stride_w",   "direct.prefetch",
                                            "direct.dilation_h", "direct.dilation_w", "direct.vector_in",
                                            "direct.vector_out", "direct.block_size"};

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
    config.family = Family::kDirect;
    direct.design = DirectDesign::kStacked;
    direct.filter_h = direct.filter_w = variant.filter;
    direct.stride_h = direct.stride_w = variant.stride;
    direct.dilation_h = direct.dilation_w = 1;
    direct.vector_in = variant.width;
    direct.vector_out = variant.block;
    direct.block_size = stacked::kThreads;
    direct.prefetch = variant.prefetch;
    configs.push_back(config);
  }
}

bool may_serve(const ConvProblem& problem) {
  const int64_t width = problem.c_per_group();
  return problem.dims == 2 && width == problem.k_per_group() && (width == 16 || width == 32);
}

}  // namespace

extern const KernelKind kDirectStacked = {.id = "direct-stacked",
                                          .header = "kernel/direct/stacked.h",
                                          .class_name = "wt::DirectStacked",
                                          .family = Family::kDirect,
                                          .pipelines = {},
                                          .designs = kDesigns,
                                          .targets = kTargets,
                                          .directions = kDirections,
                                          .fields = kReadFields,
                                          .generic = false,
                                          .propose = propose,
                                          .may_serve = may_serve};

}  // namespace wt
