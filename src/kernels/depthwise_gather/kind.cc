// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_gather/kind.cc - depthwise of any filter, stride, dilation, multiplier and layout.
#include "kernels/depthwise_gather/kind.h"

#include "kernels/beside/device/split_sum_arguments.h"
#include "kernels/beside/filter_sums.h"

namespace wt::kinds {
namespace {

constexpr Target kTargets[] = {Target::kSm80,    Target::kSm90a,        Target::kSm100a,      Target::kSm103a,
                               Target::kSm110a,  Target::kSm120a,       Target::kSm121a,      Target::kGfx90a,
                               Target::kGfx942,  Target::kGfx950,       Target::kGfx1100,     Target::kGfx1201,
                               Target::kGfx1250, Target::kGfx11Generic, Target::kGfx12Generic};
constexpr std::string_view kReadFields[] = {
    "direct.sub_w",     "fixed.stride_h",    "fixed.stride_w",    "fixed.dilation_h", "fixed.dilation_w",
    "direct.vector_in", "direct.vector_out", "direct.block_size", "direct.prefetch",  "direct.history"};

std::vector<LaunchEntry> entries(const KernelConfig& config) {
  std::vector<LaunchEntry> list;
  if (config.direction == Direction::kBackwardWeight) list.push_back({kSumSuffix, "wt::DirectSum"});
  add_filter_sums_entry(config, list);
  return list;
}

}  // namespace

extern const KernelKind kDepthwiseGather = {.id = Kind::kDepthwiseGather,
                                            .header = "kernels/depthwise_gather/device/entries.h",
                                            .class_name = "wt::DepthwiseGather",
                                            .targets = kTargets,
                                            .fields = kReadFields,
                                            .propose = depthwise_gather_kind::propose,
                                            .target_rows = depthwise_gather_kind::target_rows,
                                            .problem_rows = depthwise_gather_kind::problem_rows,
                                            .predict = depthwise_gather_kind::predict,
                                            .bind = depthwise_gather_kind::bind,
                                            .entries = entries};

}  // namespace wt::kinds
