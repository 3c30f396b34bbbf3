// SPDX-License-Identifier: Apache-2.0
// kernels/stacked/constraints.cc - what a kernel of stacked filter rows takes.
#include <algorithm>

#include "config/enum_names.h"
#include "kernels/shared/constraint_rows.h"
#include "kernels/stacked/device/shape.h"
#include "kernels/stacked/kind.h"

namespace wt::stacked_kind {
namespace {

bool stacked_filter(const KernelConfig& config) {
  const FixedSizes& f = config.fixed;
  const int most = config.direction == Direction::kForward ? 2 : 1;
  return f.filter_h > 0 && f.filter_w > 0 && f.stride_h > 0 && f.stride_h <= most && f.stride_w == f.stride_h &&
         f.dilation_h == 1 && f.dilation_w == 1 && stacked::sums(config) <= stacked::kMaxSums;
}
bool stacked_shape(const Case& at) {
  const KernelConfig& c = at.config;
  const DirectConfig& d = c.direct;
  const FixedSizes& f = c.fixed;
  return c.dims == 2 && c.layout == Layout::kChannelsLast && size_of(c.x) == 2 && c.x == c.w && c.x == c.y &&
         c.direction != Direction::kBackwardWeight && stacked_filter(c) &&
         (d.block_channels == 64 || d.block_channels == 128) && (d.group_channels == 16 || d.group_channels == 32) &&
         d.block_size == stacked::kThreads && c.min_blocks == 1 && d.prefetch > f.stride_h;
}

constexpr Constraint kTargetRows[] = {
    {"direct-stacked-shape", "a row of pixels meets stacked rows of an undilated filter, of one group a product",
     nullptr, stacked_shape,
     [](const Case& at) {
       const DirectConfig& d = at.config.direct;
       const FixedSizes& f = at.config.fixed;
       return fmt::format(
           "direction={} filter={}x{} stride={}x{} dilation={}x{} group_channels={} block_channels={} block_size={} "
           "prefetch={}: this kind "
           "takes forward with stride 1 or 2 and backward data with 1, output rows of at most {} filter rows "
           "in the making, dilation 1, groups of 16 or 32 channels, 64 or 128 per block, {} threads, min_blocks 1, "
           "prefetch of a step and more, one 16-bit type, 2D channels-last",
           text_of(at.config.direction), f.filter_h, f.filter_w, f.stride_h, f.stride_w, f.dilation_h, f.dilation_w,
           d.group_channels, d.block_channels, d.block_size, d.prefetch, 2 * stacked::kMaxSums / stacked::kChannels,
           stacked::kThreads);
     }},

    {"direct-stacked-memory", "filter, rings and staged rows fit the shared memory of a block",
     [](const Case& at) { return stacked_shape(at); },
     [](const Case& at) { return stacked::shared_bytes(at.config) <= at.target.shared_per_block; },
     [](const Case& at) {
       const DirectConfig& d = at.config.direct;
       const FixedSizes& f = at.config.fixed;
       return fmt::format(
           "filter={}x{} group_channels={} prefetch={} take {} bytes of shared memory; {} has {} a block", f.filter_h,
           f.filter_w, d.group_channels, d.prefetch, stacked::shared_bytes(at.config), at.target.name,
           at.target.shared_per_block);
     }},
};

constexpr Constraint kProblemRows[] = {
    {"direct-stacked-width", "a group is as wide as the kernel's products", nullptr,
     [](const Case& at) {
       return at.problem->c_per_group() == at.config.direct.group_channels &&
              at.problem->k_per_group() == at.config.direct.group_channels;
     },
     [](const Case& at) {
       return fmt::format("{} input and {} output channels per group; the kernel is made for {}; use kind groups",
                          at.problem->c_per_group(), at.problem->k_per_group(), at.config.direct.group_channels);
     }},
};

}  // namespace

std::span<const Constraint> target_rows() {
  static const std::vector<Constraint> rows = joined({direct_rows(), kTargetRows});
  return rows;
}
std::span<const Constraint> problem_rows() {
  static const std::vector<Constraint> rows = joined({direct_problem_rows(), kProblemRows});
  return rows;
}

}  // namespace wt::stacked_kind
