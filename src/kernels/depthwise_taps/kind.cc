// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_taps/kind.cc - depthwise weight gradients by matrix instructions whose sums are the taps.
#include "kernels/depthwise_taps/kind.h"
#include "kernels/beside/device/split_sum_arguments.h"

namespace wt::kinds {
namespace {

constexpr Target kTargets[] = {Target::kSm80,   Target::kSm90a,  Target::kSm100a, Target::kSm103a,
                               Target::kSm110a, Target::kSm120a, Target::kSm121a};
constexpr Direction kDirections[] = {Direction::kBackwardWeight};
constexpr std::string_view kReadFields[] = {"finite_only",      "fixed.stride_w",   "fixed.dilation_w",
                                            "direct.sub_h",     "direct.sub_w",     "direct.vector_in",
                                            "direct.vector_out", "direct.block_size", "direct.prefetch",
                                            "direct.block_channels"};

std::vector<LaunchEntry> entries(const KernelConfig&) { return {{kSumSuffix, "wt::DirectSum"}}; }

}  // namespace

extern const KernelKind kDepthwiseTaps = {.id = Kind::kDepthwiseTaps,
                                          .header = "kernels/depthwise_taps/device/entries.h",
                                          .class_name = "wt::DepthwiseTaps",
                                          .targets = kTargets,
                                          .directions = kDirections,
                                          .fields = kReadFields,
                                          .instruction = MmaPath::kMmaSync,
                                          .propose = depthwise_taps_kind::propose,
                                          .may_serve = depthwise_taps_kind::may_serve,
                                          .target_rows = depthwise_taps_kind::target_rows,
                                          .problem_rows = depthwise_taps_kind::problem_rows,
                                          .predict = depthwise_taps_kind::predict,
                                          .bind = depthwise_taps_kind::bind,
                                          .entries = entries};

}  // namespace wt::kinds
