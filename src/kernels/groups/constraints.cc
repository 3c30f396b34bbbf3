// SPDX-License-Identifier: Apache-2.0
// kernels/groups/constraints.cc - what a kernel for small groups takes.
#include <algorithm>

#include "config/enum_names.h"
#include "kernels/groups/device/shape.h"
#include "kernels/groups/kind.h"
#include "kernels/shared/constraint_rows.h"

namespace wt::groups_kind {
namespace {

bool groups_fill_warps(const Case& at) {
  const DirectConfig& d = at.config.direct;
  const int outputs = groups::instruction_outputs(at.config);
  if (d.vector_in < outputs || d.vector_in > 32 || d.vector_in % outputs != 0) return false;
  if (d.vector_out < outputs || d.vector_in % d.vector_out != 0 || d.vector_out % outputs != 0) return false;
  const int warps = d.block_size / at.target.warp_size, lanes = groups::channel_warps(at.config);
  if (warps < lanes || warps % lanes != 0 || d.block_size % groups::chunks(at.config) != 0) return false;
  const int span = kTilePositions * groups::position_warps(at.config);
  if (d.tile_w < span || d.tile_w % span != 0) return false;
  return at.config.direction != Direction::kBackwardWeight ||
         (groups::position_warps(at.config) == 1 && d.vector_out == outputs && !at.config.finite_only);
}
int groups_bytes(const Case& at) { return groups::shared_bytes(at.config, groups::most_positions(at.config)); }

constexpr Constraint kTargetRows[] = {
    {"direct-groups-shape", "a kernel for small groups multiplies 16-bit channels-last images with undilated filters",
     nullptr,
     [](const Case& at) {
       const KernelConfig& c = at.config;
       const DirectConfig& d = c.direct;
       const FixedSizes& f = c.fixed;
       const bool line = c.dims == 1 && f.filter_h == 1 && f.stride_h == 1;
       return (line || c.dims == 2) && c.layout == Layout::kChannelsLast && has_one_16_bit_type(c) && f.filter_h > 0 &&
              f.filter_w > 0 && f.stride_h > 0 && f.stride_w > 0 && f.dilation_h == 1 && f.dilation_w == 1 &&
              (is_amd(c.target) ? d.prefetch == 2 : d.prefetch >= 2);
     },
     [](const Case& at) {
       const DirectConfig& d = at.config.direct;
       const FixedSizes& f = at.config.fixed;
       return fmt::format(
           "filter={}x{} stride={}x{} dilation={}x{} prefetch={}: this kind needs filter and stride above 0, "
           "dilation 1, prefetch of at least 2 (2 on AMD), one 16-bit type (dw may be fp32), channels-last in 2D or in "
           "lines",
           f.filter_h, f.filter_w, f.stride_h, f.stride_w, f.dilation_h, f.dilation_w, d.prefetch);
     }},

    {"direct-groups-warps", "warps share the channels and positions of a block evenly", nullptr, groups_fill_warps,
     [](const Case& at) {
       const DirectConfig& d = at.config.direct;
       return fmt::format(
           "vectors={}/{} block_size={} tile_w={} finite_only={}: bundles are {} channels, whole warps of "
           "outputs and of {} positions, for backward weight {} outputs of all positions and finite_only=false",
           d.vector_in, d.vector_out, d.block_size, d.tile_w, at.config.finite_only,
           is_amd(at.config.target) ? "16 or 32" : "8, 16, 24 or 32", kTilePositions,
           groups::instruction_outputs(at.config));
     }},

    {"direct-groups-memory", "filter, ring and staged rows fit the shared memory of a block",
     [](const Case& at) { return groups_fill_warps(at) && at.config.fixed.stride_w > 0; },
     [](const Case& at) { return groups_bytes(at) <= at.target.shared_per_block; },
     [](const Case& at) {
       return fmt::format("tile_w={} with prefetch={} takes {} bytes of shared memory; {} has {} a block",
                          at.config.direct.tile_w, at.config.direct.prefetch, groups_bytes(at), at.target.name,
                          at.target.shared_per_block);
     }},
};

constexpr Constraint kProblemRows[] = {
    {"direct-bundle", "a bundle is one group, or whole narrower ones where the kernel is finite_only", nullptr,
     [](const Case& at) {
       const int64_t channels = at.problem->c_per_group(), bundle = at.config.direct.vector_in;
       if (channels < 2 || channels != at.problem->k_per_group() || bundle % channels != 0) return false;
       return at.config.direction == Direction::kBackwardWeight || at.config.finite_only == (channels < bundle);
     },
     [](const Case& at) {
       return fmt::format(
           "{} input and {} output channels per group in bundles of {} with finite_only={}; they must be equal, at "
           "least "
           "2 and divide the bundle, and fill it unless the kernel is finite_only; use another kind",
           at.problem->c_per_group(), at.problem->k_per_group(), at.config.direct.vector_in, at.config.finite_only);
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

}  // namespace wt::groups_kind
