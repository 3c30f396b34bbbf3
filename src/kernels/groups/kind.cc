// SPDX-License-Identifier: Apache-2.0
// kernels/groups/kind.cc - small groups by matrix instructions, the halo in shared memory.
#include "kernels/groups/kind.h"

#include "kernels/beside/device/split_sum_arguments.h"
#include "kernels/shared/small_sizes.h"

namespace wt::kinds {
namespace {

constexpr Target kTargets[] = {Target::kSm80,         Target::kSm90a,       Target::kSm100a,  Target::kSm103a,
                               Target::kSm110a,       Target::kSm120a,      Target::kSm121a,  Target::kGfx90a,
                               Target::kGfx942,       Target::kGfx950,      Target::kGfx1100, Target::kGfx1201,
                               Target::kGfx11Generic, Target::kGfx12Generic};
constexpr std::string_view kReadFields[] = {"finite_only",       "direct.tile_w",     "fixed.filter_h",
                                            "fixed.filter_w",    "fixed.stride_h",    "fixed.stride_w",
                                            "fixed.dilation_h",  "fixed.dilation_w",  "direct.vector_in",
                                            "direct.vector_out", "direct.block_size", "direct.prefetch"};

std::vector<LaunchEntry> entries(const KernelConfig& config) {
  if (config.direction != Direction::kBackwardWeight) return {};
  return {{kSumSuffix, "wt::DirectSum"}};
}

// A group fills a bundle; in finite_only kernels two share it.
std::vector<std::string> small_sizes(const KernelConfig& config) {
  return small_groups(
      config,
      {.groups = 8, .channels = config.direct.vector_in / (config.finite_only ? 2 : 1), .one_row_when_1d = true});
}

}  // namespace

extern const KernelKind kGroups = {.id = Kind::kGroups,
                                   .header = "kernels/groups/device/entries.h",
                                   .class_name = "wt::GroupsKernel",
                                   .targets = kTargets,
                                   .fields = kReadFields,
                                   .instruction = MmaPath::kMmaSync,
                                   .propose = groups_kind::propose,
                                   .target_rows = groups_kind::target_rows,
                                   .problem_rows = groups_kind::problem_rows,
                                   .predict = groups_kind::predict,
                                   .bind = groups_kind::bind,
                                   .entries = entries,
                                   .small_sizes = small_sizes};

}  // namespace wt::kinds
