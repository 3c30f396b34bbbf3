// SPDX-License-Identifier: Apache-2.0
// kernels/stacked/kind.cc - small groups on wgmma: a row of pixels meets every row of the filter.
#include "kernels/stacked/kind.h"

#include "kernels/shared/small_sizes.h"

namespace wt::kinds {
namespace {

// WHY not sm_120a: ptxas spills the sums there.
constexpr Target kTargets[] = {Target::kSm90a, Target::kSm100a, Target::kSm103a, Target::kSm110a};
constexpr Direction kDirections[] = {Direction::kForward, Direction::kBackwardData};
constexpr std::string_view kReadFields[] = {
    "fixed.filter_h",   "fixed.filter_w",   "fixed.stride_h",        "fixed.stride_w",        "direct.prefetch",
    "fixed.dilation_h", "fixed.dilation_w", "direct.group_channels", "direct.block_channels", "direct.block_size"};

std::vector<std::string> small_sizes(const KernelConfig& config) {
  return small_groups(config, {.groups = 8, .channels = config.direct.group_channels / (config.finite_only ? 2 : 1)});
}

}  // namespace

extern const KernelKind kStacked = {.id = Kind::kStacked,
                                    .header = "kernels/stacked/device/kernel.h",
                                    .class_name = "wt::DirectStacked",
                                    .targets = kTargets,
                                    .directions = kDirections,
                                    .fields = kReadFields,
                                    .instruction = MmaPath::kWgmma,
                                    .propose = stacked_kind::propose,
                                    .may_serve = stacked_kind::may_serve,
                                    .target_rows = stacked_kind::target_rows,
                                    .problem_rows = stacked_kind::problem_rows,
                                    .predict = stacked_kind::predict,
                                    .bind = stacked_kind::bind,
                                    .small_sizes = small_sizes};

}  // namespace wt::kinds
