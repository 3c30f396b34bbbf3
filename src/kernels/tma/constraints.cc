// SPDX-License-Identifier: Apache-2.0
// kernels/tma/constraints.cc - what the plain Hopper kernel takes.
#include "config/enum_names.h"
#include "kernels/tma/device/layout.h"
#include "kernels/tma/kind.h"
#include "kernels/tma/rows.h"
#include "problem/patch_view.h"

namespace wt::tma_kind {
namespace {

using namespace tma_rows;

constexpr Constraint kTargetRows[] = {
    {"tma-swap",
     "tiles with A and B swapped have 64 output channels a warpgroup or a multiple of it, and are stored in bulk",
     [](const Case& at) { return tma_layout::crosswise(at.config); },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return at.config.direction != Direction::kBackwardWeight && !tma_layout::is_halo(at.config) &&
              gemm.warps.n % 4 == 0 && gemm.tile.n % (gemm.warps.n * 16) == 0 && gemm.mma.n == gemm.tile.m &&
              (!gemm.ping_pong || gemm.warps.n == 4) && gemm.staging == Staging::kTmaStore && gemm.swizzle_a == 128 &&
              !tma_layout::three_products(at.config) && gemm.split_k == SplitK::kNone;
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "direction={} tile={}x{} warps=1x{} mma.n={} staging={} swizzle_a={} split_k={}: warps.m=1 of pipeline tma "
           "takes forward and backward data without halo of all types but fp32, four warps for each 64 columns or "
           "multiple of it, mma.n=tile.m, tma_store, 128 and no split",
           text_of(at.config.direction), gemm.tile.m, gemm.tile.n, gemm.warps.n, gemm.mma.n, text_of(gemm.staging),
           gemm.swizzle_a, text_of(gemm.split_k));
     }},

    {"tma-raw-patch", "patches are read where they lie by kernels that are finite_only and store whole tiles in bulk",
     [](const Case& at) { return tma_layout::raw_patches(at.config); },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       const EpilogueConfig& steps = at.config.epilogue;
       return at.config.finite_only && tma_layout::copies_rows(at.config) && gemm.staging == Staging::kTmaStore &&
              !tma_layout::crosswise(at.config) && gemm.cluster_n == 1 && tma_layout::boxes(at.config) == 1 &&
              gemm.split_k == SplitK::kNone && !steps.placed() && !steps.amax;
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "specialization=patch with loader_a=tma_tiled finite_only={} aligned_copy={} staging={} warps.m={} "
           "cluster_n={} "
           "tile.k={} split_k={}: forward takes finite_only=true, 8, tma_store, four warps a warpgroup, 1, one box and "
           "no split, residual or amax; use loader_a=tma_im2col",
           at.config.finite_only, gemm.aligned_copy, text_of(gemm.staging), gemm.warps.m, gemm.cluster_n, gemm.tile.k,
           text_of(gemm.split_k));
     }},
};

constexpr Constraint kProblemRows[] = {
    {"tma-raw-rows", "rows of the image are whole 16 bytes where patches are read as they lie",
     [](const Case& at) { return tma_layout::raw_patches(at.config); },
     [](const Case& at) { return at.problem->in[2] * at.problem->c * size_of(at.config.x) % 16 == 0; },
     [](const Case& at) {
       return fmt::format("rows of {} numbers are no multiple of 16 bytes; use loader_a=tma_im2col",
                          at.problem->in[2] * at.problem->c);
     }},

    {"tma-patch-run", "a vector lies inside one run of a patch",
     [](const Case& at) { return tma_layout::stores_patches(at.config); },
     [](const Case& at) { return patch_runs(*at.asked).length % at.config.gemm.vector_c == 0; },
     [](const Case& at) {
       return fmt::format("runs of {} numbers are no multiple of vector_c={}; use a narrower vector",
                          patch_runs(*at.asked).length, at.config.gemm.vector_c);
     }},

    {"tma-narrow-box", "a narrower box serves channels that do not fill the wider one",
     [](const Case& at) { return at.config.direction != Direction::kBackwardWeight && at.config.gemm.swizzle_a < 128; },
     [](const Case& at) { return depth(at) % (2 * tma_layout::box_k(at.config)) != 0; },
     [](const Case& at) {
       return fmt::format("{} channels fill boxes of {}, so that swizzle_a={} does the same work in more copies",
                          depth(at), 2 * tma_layout::box_k(at.config), at.config.gemm.swizzle_a);
     }},
};

}  // namespace

std::span<const Constraint> target_rows() {
  static const std::vector<Constraint> rows = joined({roles(), staging(), features(), kTargetRows});
  return rows;
}
std::span<const Constraint> problem_rows() {
  static const std::vector<Constraint> rows = joined({channels(), bulk_stores(), kProblemRows});
  return rows;
}

}  // namespace wt::tma_kind
