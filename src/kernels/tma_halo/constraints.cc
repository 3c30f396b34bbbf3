// SPDX-License-Identifier: Apache-2.0
// kernels/tma_halo/constraints.cc - what the kernel with patches takes.
#include "base/integers.h"
#include "config/enum_names.h"
#include "kernels/tma/device/layout.h"
#include "kernels/tma/rows.h"
#include "kernels/tma_halo/kind.h"
#include "kernels/tma_halo/view.h"

namespace wt::tma_halo_kind {
namespace {

using namespace tma_rows;

constexpr int kMostPhased = 80;  // columns of 64 rows, in each of the four phases

constexpr Constraint kTargetRows[] = {
    {"tma-halo", "a patch with its halo serves 3x3 filters of 16-bit types in two or three dimensions, or 3x1 in any",
     [](const Case& at) { return at.config.gemm.loader_a == Loader::kTmaHalo; },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       const bool square = gemm.specialization == Specialization::kFilter3x3 && at.config.dims >= 2;
       const bool column = gemm.specialization == Specialization::kDefault && gemm.groups_per_tile == 1;
       return (square || column) && at.config.direction != Direction::kBackwardWeight &&
              size_of(operand_a(at.config)) == 2 && gemm.swizzle_a == 128 &&
              (gemm.staging == Staging::kDirect) == (gemm.split_k != SplitK::kNone) &&
              (gemm.tile.k == 32 || gemm.tile.k == 64 || gemm.tile.k == 3 * 32 || gemm.tile.k == 3 * 64);
     },
     [](const Case& at) {
       return fmt::format(
           "loader_a=tma_halo with dims={} direction={} specialization={} swizzle_a={} staging={} split_k={} "
           "tile.k={}: it takes forward or backward data of 16-bit types, filter3x3 in two or three dimensions or "
           "default, 128, shared or tma_store for whole sums and direct for divided ones, and 32, 64, 96 or 192",
           at.config.dims, text_of(at.config.direction), text_of(at.config.gemm.specialization),
           at.config.gemm.swizzle_a, text_of(at.config.gemm.staging), text_of(at.config.gemm.split_k),
           at.config.gemm.tile.k);
     }},

    {"tma-halo-groups", "two warpgroups take the taps of 64 rows in turns",
     [](const Case& at) { return tma_layout::is_halo(at.config) && at.config.gemm.warps.k != 1; },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return gemm.warps == Extent3{4, 1, 2} && gemm.tile.m == 64 && !gemm.ping_pong && gemm.filter_rows == 0 &&
              gemm.specialization == Specialization::kFilter3x3 &&
              gemm.stages >= tma_layout::halo_least_stages(at.config);
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "warps={}x{}x{} with tile.m={} ping_pong={} filter_rows={} specialization={} stages={}: loader_a=tma_halo "
           "has warps along k as 4x1x2, with 64, false, 0, filter3x3 and at least 3",
           gemm.warps.m, gemm.warps.n, gemm.warps.k, gemm.tile.m, gemm.ping_pong, gemm.filter_rows,
           text_of(gemm.specialization), gemm.stages);
     }},

    {"tma-halo-phases", "strides of two: backward data in two dimensions, three taps a stage, sums that fit the registers",
     [](const Case& at) {
       return tma_layout::is_halo(at.config) && (at.config.fixed.stride_h != 0 || at.config.fixed.stride_w != 0);
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return at.config.fixed.stride_h == 2 && at.config.fixed.stride_w == 2 && at.config.dims == 2 &&
              at.config.direction == Direction::kBackwardData && gemm.split_k == SplitK::kNone && gemm.warps.k == 1 &&
              gemm.specialization == Specialization::kFilter3x3 && gemm.staging == Staging::kShared &&
              gemm.tile.k % (3 * 32) == 0 && tma_layout::rows_of_consumer(at.config) / 64 * gemm.tile.n <= kMostPhased;
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "stride={}x{} with direction={} dims={} specialization={} split_k={} staging={} tile={}x{}x{} warps.k={}: "
           "loader_a=tma_halo takes 2x2 in bwd_data of two dimensions with filter3x3, none, shared, 96 or 192, 1 and "
           "64 rows of a consumer by up to {} columns, or so many together",
           at.config.fixed.stride_h, at.config.fixed.stride_w, text_of(at.config.direction), at.config.dims,
           text_of(gemm.specialization), text_of(gemm.split_k), text_of(gemm.staging), gemm.tile.m, gemm.tile.n,
           gemm.tile.k, gemm.warps.k, kMostPhased);
     }},

    {"tma-halo-keep", "a filter that stays has a stage for each of its rows, of whole sums",
     [](const Case& at) { return tma_layout::keeps_filter(at.config); },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return gemm.split_k == SplitK::kNone && gemm.warps.k == 1 && gemm.groups_per_tile == 1 &&
              gemm.specialization == Specialization::kFilter3x3 && tma_layout::halo_stage_taps(at.config) > 1 &&
              gemm.stages == gemm.filter_rows;
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "filter_rows={} with split_k={} warps.k={} groups_per_tile={} specialization={} tile.k={} stages={}: "
           "loader_a=tma_halo keeps a filter with none, 1, 1, filter3x3, 96 or 192, and as many stages",
           gemm.filter_rows, text_of(gemm.split_k), gemm.warps.k, gemm.groups_per_tile, text_of(gemm.specialization),
           gemm.tile.k, gemm.stages);
     }},
};


// Stages of a block's filter, of all planes and channels.
int64_t filter_stages(const Case& at) {
  const int64_t of_patch = tma_layout::halo_taps(at.config) / tma_layout::halo_stage_taps(at.config);
  return of_patch * at.problem->filter[0] * ceil_div(depth(at), tma_layout::box_k(at.config));
}
int64_t filter_columns(const Case& at) {
  return at.problem->direction == Direction::kForward ? at.problem->k : at.problem->c;
}

constexpr Constraint kProblemRows[] = {
    {"tma-halo-step", "a patch serves the taps of stride 1, or of 2x2 by kernels for it, and dilation 1",
     [](const Case& at) { return at.config.gemm.loader_a == Loader::kTmaHalo; },
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       const Spatial stride = tma_layout::halo_phased(at.config) ? Spatial{1, 2, 2} : Spatial{1, 1, 1};
       return p.stride == stride && p.dilation == Spatial{1, 1, 1};
     },
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       return fmt::format(
           "stride={}x{}x{} dilation={}x{}x{}: this kernel with loader_a=tma_halo takes strides of {} and dilation 1; use "
           "tma_im2col",
           p.stride[0], p.stride[1], p.stride[2], p.dilation[0], p.dilation[1], p.dilation[2],
           tma_layout::halo_phased(at.config) ? "2x2" : "1");
     }},

    {"tma-halo-column", "without filter3x3, a patch serves three taps below each other",
     [](const Case& at) { return tma_layout::is_halo(at.config) && tma_layout::halo_filter_width(at.config) == 1; },
     [](const Case& at) {
       const Spatial filter = column_filter(*at.problem);
       return filter[1] == tma_layout::kHaloFilter && filter[2] == 1;
     },
     [](const Case& at) {
       const Spatial& filter = at.problem->filter;
       return fmt::format(
           "filter={}x{}x{}: loader_a=tma_halo with specialization=default takes 3 in one dimension, nx3x1 or 3x1x1 "
           "without padding beside it",
           filter[0], filter[1], filter[2]);
     }},

    {"tma-halo-half", "half a row of channels is all there is where half of it is multiplied",
     [](const Case& at) { return at.config.gemm.loader_a == Loader::kTmaHalo && at.config.gemm.tile.k % 64 != 0; },
     [](const Case& at) { return depth(at) <= 32; },
     [](const Case& at) {
       return fmt::format("{} channels are summed over; loader_a=tma_halo with tile.k={} takes 32", depth(at),
                          at.config.gemm.tile.k);
     }},

    {"tma-halo-whole", "a filter that stays is that of one group and one tile of columns, and has a slot for every stage",
     [](const Case& at) { return tma_layout::keeps_filter(at.config); },
     [](const Case& at) {
       return at.problem->g == 1 && filter_columns(at) <= at.config.gemm.tile.n &&
              filter_stages(at) <= at.config.gemm.stages;
     },
     [](const Case& at) {
       return fmt::format("{} groups, {} output channels and {} stages of the filter: filter_rows takes 1, {} and {}",
                          at.problem->g, filter_columns(at), filter_stages(at), at.config.gemm.tile.n,
                          at.config.gemm.stages);
     }},
};

}  // namespace

std::span<const Constraint> target_rows() {
  static const std::vector<Constraint> rows = joined({roles(), staging(), kTargetRows});
  return rows;
}
std::span<const Constraint> problem_rows() {
  static const std::vector<Constraint> rows = joined({channels(), bulk_stores(), kProblemRows});
  return rows;
}

}  // namespace wt::tma_halo_kind
