// SPDX-License-Identifier: Apache-2.0
// kernels/tcgen05_halo/constraints.cc - what Blackwell's kernels with patches take; the rows of tiles in tensor memory
// are those of kind tcgen05.
#include "base/integers.h"
#include "config/enum_names.h"
#include "kernels/tcgen05/device/layout.h"
#include "kernels/tcgen05/rows.h"
#include "kernels/tcgen05_halo/kind.h"
#include "kernels/tma/rows.h"
#include "kernels/tma_halo/view.h"

namespace wt::tcgen05_halo_kind {
namespace {

using namespace tma_rows;

// Whether one patch serves all nine taps; of weight gradients three do.
bool is_whole(const Case& at) { return !is_weight(at) && tcgen05_layout::patch_taps_w(at.config) > 1; }
// The filter as the kernel sees it: weight gradients see it as it is.
Spatial seen_filter(const Case& at) {
  return is_whole(at) || is_weight(at) ? at.problem->filter : column_filter(*at.problem);
}

constexpr Constraint kTargetRows[] = {
    {"tcgen05-halo", "a patch of pixels serves two to seven taps below each other, each with a box of channels",
     [](const Case& at) { return !is_weight(at); },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       const bool whole = is_whole(at);
       return gemm.loader_a == Loader::kTmaHalo && gemm.loader_b == Loader::kTmaTiled && gemm.filter_rows >= 2 &&
              gemm.filter_rows <= 7 && gemm.swizzle_a >= 64 && gemm.tile.k == tma_layout::box_k(at.config) &&
              gemm.cluster_m == 1 && gemm.cluster_n == 1 && !tma_layout::changes_tiles(at.config) &&
              !tma_layout::turns_filter(at.config) &&
              (whole ? gemm.filter_rows == 3 && at.config.dims > 1 : gemm.specialization == Specialization::kDefault);
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "loader_a={} loader_b={} filter_rows={} swizzle_a={} tile.k={} cluster of {}x{} specialization={} dims={} "
           "operands {} and {}: it takes tma_halo, tma_tiled, 2 to 7, 64 or 128, a box of channels, 1x1, default or in "
           "two "
           "and three dimensions filter3x3 with filter_rows=3, and types whose tiles are multiplied as they are loaded",
           text_of(gemm.loader_a), text_of(gemm.loader_b), gemm.filter_rows, gemm.swizzle_a, gemm.tile.k,
           gemm.cluster_m, gemm.cluster_n, text_of(gemm.specialization), at.config.dims, text_of(operand_a(at.config)),
           text_of(operand_b(at.config)));
     }},

    {"tcgen05-halo-weight",
     "weight gradients of one 16-bit type have the taps of a patch along the rows, in two or three dimensions",
     is_weight,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       const bool whole = gemm.specialization == Specialization::kFilter3x3;
       return gemm.loader_a == Loader::kTmaTiled && gemm.loader_b == Loader::kTmaHalo && at.config.dims > 1 &&
              size_of(operand_a(at.config)) == 2 && operand_a(at.config) == operand_b(at.config) &&
              gemm.filter_rows >= 2 && gemm.filter_rows <= 7 && (gemm.swizzle_a == 64 || gemm.swizzle_a == 128) &&
              gemm.tile.m == tcgen05_layout::kRows && gemm.tile.n % 16 == 0 && gemm.tile.k % 16 == 0 &&
              gemm.persistent && !gemm.double_buffer && gemm.staging == Staging::kDirect &&
              gemm.split_k != SplitK::kCluster && gemm.groups_per_tile == 1 && at.config.finite_only &&
              (whole ? gemm.filter_rows == 3 : gemm.specialization == Specialization::kDefault) &&
              tma_layout::sharing_blocks(at.config) == 1;
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "operands {} and {} loader_a={} loader_b={} filter_rows={} swizzle_a={} tile={}x{}x{} persistent={} "
           "double_buffer={} staging={} split_k={} specialization={} finite_only={} dims={}: it takes one 16-bit type, "
           "tma_tiled, tma_halo, 2 to 7, 64 or 128, 128 rows by multiples of 16 columns and pixels, true, false, "
           "direct, none or workspace, default or filter3x3 with filter_rows=3, true, and 2 or 3",
           text_of(operand_a(at.config)), text_of(operand_b(at.config)), text_of(gemm.loader_a), text_of(gemm.loader_b),
           gemm.filter_rows, gemm.swizzle_a, gemm.tile.m, gemm.tile.n, gemm.tile.k, gemm.persistent, gemm.double_buffer,
           text_of(gemm.staging), text_of(gemm.split_k), text_of(gemm.specialization), at.config.finite_only,
           at.config.dims);
     }},
};

constexpr Constraint kProblemRows[] = {
    {"tcgen05-halo-step", "a patch serves the taps of stride 1, and of dilation 1 below each other", nullptr,
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       const size_t down = at.config.dims == 1 ? 2 : p.filter[1] == 1 ? 0 : 1;
       return p.stride == Spatial{1, 1, 1} && p.dilation[down] == 1 && (!is_whole(at) || p.dilation[2] == 1);
     },
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       return fmt::format(
           "stride={}x{}x{} dilation={}x{}x{}: this kernel takes strides of 1, and dilation 1 along the taps that a "
           "patch serves; use tma_im2col",
           p.stride[0], p.stride[1], p.stride[2], p.dilation[0], p.dilation[1], p.dilation[2]);
     }},

    {"tcgen05-halo-box", "a narrower box serves channels that do not fill the wider one",
     [](const Case& at) { return !is_weight(at) && at.config.gemm.swizzle_a < 128; },
     [](const Case& at) { return depth(at) % (2 * tma_layout::box_k(at.config)) != 0; },
     [](const Case& at) {
       return fmt::format("{} channels fill boxes of {}, so that swizzle_a={} does the same work in more copies",
                          depth(at), 2 * tma_layout::box_k(at.config), at.config.gemm.swizzle_a);
     }},

    {"tcgen05-halo-taps", "the filter has as many taps below each other as a patch serves", nullptr,
     [](const Case& at) { return seen_filter(at)[1] == at.config.gemm.filter_rows; },
     [](const Case& at) {
       const Spatial& filter = at.problem->filter;
       return fmt::format(
           "filter={}x{}x{}: this kernel has {} taps below each other, of filters along d alone or in "
           "one dimension those along it",
           filter[0], filter[1], filter[2], at.config.gemm.filter_rows);
     }},
};

}  // namespace

std::span<const Constraint> target_rows() {
  static const std::vector<Constraint> rows = joined({staging(), tcgen05_rows::tiles(), kTargetRows});
  return rows;
}
std::span<const Constraint> problem_rows() {
  static const std::vector<Constraint> rows = joined({channels(), bulk_stores(), kProblemRows});
  return rows;
}

}  // namespace wt::tcgen05_halo_kind
