// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_strips/kind.cc - depthwise of any filter, stride, dilation and multiplier by matrix instructions.
#include "kernels/depthwise_strips/kind.h"
#include "kernels/beside/device/split_sum_arguments.h"

namespace wt::kinds {
namespace {

constexpr Target kTargets[] = {Target::kSm80,   Target::kSm90a,  Target::kSm100a, Target::kSm103a,
                               Target::kSm110a, Target::kSm120a, Target::kSm121a};
constexpr std::string_view kReadFields[] = {"finite_only",      "fixed.stride_w",        "direct.sub_h",
                                            "direct.vector_in", "direct.vector_out",     "direct.block_size",
                                            "direct.prefetch",  "direct.group_channels", "direct.block_channels"};

std::vector<LaunchEntry> entries(const KernelConfig& config) {
  if (config.direction != Direction::kBackwardWeight) return {};
  return {{kSumSuffix, "wt::DirectSum"}};
}

}  // namespace

extern const KernelKind kDepthwiseStrips = {.id = Kind::kDepthwiseStrips,
                                            .header = "kernels/depthwise_strips/device/entries.h",
                                            .class_name = "wt::StripsKernel",
                                            .targets = kTargets,
                                            .fields = kReadFields,
                                            .instruction = MmaPath::kMmaSync,
                                            .propose = depthwise_strips_kind::propose,
                                            .may_serve = depthwise_strips_kind::may_serve,
                                            .target_rows = depthwise_strips_kind::target_rows,
                                            .problem_rows = depthwise_strips_kind::problem_rows,
                                            .predict = depthwise_strips_kind::predict,
                                            .bind = depthwise_strips_kind::bind,
                                            .entries = entries};

}  // namespace wt::kinds
