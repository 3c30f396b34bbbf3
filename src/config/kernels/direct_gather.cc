// SPDX-License-Identifier: Apache-2.0
// config/kernels/direct_gather.cc - the general depthwise kernel: every tap looked up, all sizes at run time.
#include "config/kernels.h"
#include "kernel/gemm/storage.h"

namespace wt {

namespace {

constexpr DirectDesign kDesigns[] = {DirectDesign::kGather};
constexpr Target kTargets[] = {Target::kSm80, Target::kSm90a};
constexpr std::string_view kReadFields[] = {"direct.design",    "direct.sub_w",      "direct.stride_h",
                                            "direct.stride_w",  "direct.dilation_h", "direct.dilation_w",
                                            "direct.vector_in", "direct.vector_out", "direct.block_size",
                                            "direct.prefetch",  "direct.history"};

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

// Large filters with rows in shared memory: 8 pixels x 4 channels a thread.
void propose_tile(const KernelConfig& base, std::vector<KernelConfig>& configs) {
  if (base.dims != 2 || base.layout != Layout::kChannelsLast || base.direction == Direction::kBackwardWeight) return;
  if (size_of(base.x) != 2 || size_of(base.y) != 2) return;
  KernelConfig config = base;
  DirectConfig& direct = config.direct;
  config.family = Family::kDirect;
  config.min_blocks = 2;
  direct.design = DirectDesign::kGather;
  direct.vector_in = direct.vector_out = 4;
  direct.sub_w = 8;
  direct.stride_h = direct.stride_w = direct.dilation_h = direct.dilation_w = 1;
  direct.block_size = 256;
  direct.prefetch = 2;
  configs.push_back(config);
}

void propose(const KernelConfig& base, const TargetInfo&, Breadth breadth, std::vector<KernelConfig>& configs) {
  const bool last = base.layout == Layout::kChannelsLast;
  for (const Variant& variant : last ? std::span(kLast) : std::span<const Variant>(kFirst)) {
    if (variant.sliding && base.direction == Direction::kBackwardWeight) continue;
    if (breadth == Breadth::kFew && !(variant.few && last && is_usual(base))) continue;
    KernelConfig config = base;
    config.family = Family::kDirect;
    config.direct.design = DirectDesign::kGather;
    config.direct.vector_in = variant.vector_in;
    config.direct.vector_out = variant.vector_out;
    config.direct.sub_w = variant.pixels;
    config.direct.block_size = 256;
    if (variant.sliding) config.direct.stride_w = config.direct.dilation_w = 1;
    config.min_blocks = variant.min_blocks;
    configs.push_back(config);
  }
  if (breadth == Breadth::kAll) propose_tile(base, configs);
}

}  // namespace

extern const KernelKind kDirectGather = {.id = "direct-gather",
                                         .header = "kernel/direct/select.h",
                                         .class_name = "wt::DirectKernel",
                                         .family = Family::kDirect,
                                         .pipelines = {},
                                         .designs = kDesigns,
                                         .targets = kTargets,
                                         .fields = kReadFields,
                                         .generic = false,
                                         .propose = propose};

}  // namespace wt
