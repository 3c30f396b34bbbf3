// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_banded/kind.cc - depthwise by matrix instructions over a banded filter.
#include "kernels/depthwise_banded/kind.h"

#include "kernels/beside/device/split_sum_arguments.h"
#include "kernels/shared/small_sizes.h"

namespace wt::kinds {
namespace {

constexpr Target kTargets[] = {Target::kSm80,   Target::kSm90a,  Target::kSm100a, Target::kSm103a,
                               Target::kSm110a, Target::kSm120a, Target::kSm121a};
constexpr std::string_view kReadFields[] = {
    "finite_only",      "fixed.filter_h",   "fixed.filter_w",   "fixed.stride_h",    "fixed.stride_w",
    "fixed.dilation_h", "fixed.dilation_w", "direct.vector_in", "direct.vector_out", "direct.block_size",
    "direct.images",    "direct.prefetch",  "direct.bulk_rows", "direct.read_ahead"};

std::vector<LaunchEntry> entries(const KernelConfig& config) {
  if (config.direction != Direction::kBackwardWeight) return {};
  return {{kSumSuffix, "wt::DirectSum"}};
}

std::vector<std::string> small_sizes(const KernelConfig& config) {
  return small_groups(config, {.image = config.fixed.stride_w});
}

}  // namespace

extern const KernelKind kDepthwiseBanded = {.id = Kind::kDepthwiseBanded,
                                            .header = "kernels/depthwise_banded/device/entries.h",
                                            .class_name = "wt::BandedKernel",
                                            .targets = kTargets,
                                            .fields = kReadFields,
                                            .instruction = MmaPath::kMmaSync,
                                            .propose = depthwise_banded_kind::propose,
                                            .target_rows = depthwise_banded_kind::target_rows,
                                            .problem_rows = depthwise_banded_kind::problem_rows,
                                            .predict = depthwise_banded_kind::predict,
                                            .bind = depthwise_banded_kind::bind,
                                            .entries = entries,
                                            .small_sizes = small_sizes};

}  // namespace wt::kinds
