// SPDX-License-Identifier: Apache-2.0
// kernels/tma_weight_halo/constraints.cc - the rows of weight gradients that load patches of x .
#include "config/enum_names.h"
#include "kernels/shared/constraint_rows.h"
#include "kernels/tma/rows.h"
#include "kernels/tma_weight_halo/device/layout.h"
#include "kernels/tma_weight_halo/kind.h"

namespace wt::tma_weight_halo_kind {
namespace {

constexpr Constraint kTargetRows[] = {
    {"weight-halo-kind", "patches of operand B serve weight gradients of one 16-bit type, which are finite_only",
     nullptr,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return size_of(operand_a(at.config)) == 2 && operand_a(at.config) == operand_b(at.config) &&
              gemm.loader_a == Loader::kTmaTiled && gemm.specialization == Specialization::kDefault &&
              at.config.finite_only;
     },
     [](const Case& at) {
       return fmt::format(
           "loader_b=tma_halo with direction={} operands {} and {} loader_a={} specialization={} finite_only={}: it "
           "takes bwd_weight of one 16-bit type (others are not read across their channels), tma_tiled, default and "
           "true",
           text_of(at.config.direction), text_of(operand_a(at.config)), text_of(operand_b(at.config)),
           text_of(at.config.gemm.loader_a), text_of(at.config.gemm.specialization), at.config.finite_only);
     }},

    {"weight-halo-tile", "three taps of 32 or 64 channels for each warpgroup along n, and whole steps of pixels",
     nullptr,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       const int columns = weight_halo::kTaps * weight_halo::channels(at.config);
       const bool rows = gemm.swizzle_a == 128 || (gemm.swizzle_a == 64 && gemm.tile.m == 64 && at.config.dims == 3);
       return rows && (gemm.swizzle_b == 64 || gemm.swizzle_b == 128) && (gemm.warps.n == 1 || gemm.warps.n == 3) &&
              gemm.warps.m % 4 == 0 && gemm.mma.n == columns && gemm.tile.n == gemm.warps.n * columns &&
              gemm.tile.k % 16 == 0 && weight_halo::steps(at.config) <= weight_halo::kMaxSteps &&
              tma_layout::consumers(at.config) <= 3;
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "tile={}x{}x{} warps={}x{} mma.n={} swizzle_a={} swizzle_b={}: loader_b=tma_halo takes swizzle_a=128 (or 64 "
           "in "
           "three dimensions with tile.m=64), swizzle_b=64 or 128, mma.n=96 or 192 for it, at most three warpgroups, "
           "one or three of them along n with "
           "mma.n columns each, and tile.k a multiple of 16 up to {}",
           gemm.tile.m, gemm.tile.n, gemm.tile.k, gemm.warps.m, gemm.warps.n, gemm.mma.n, gemm.swizzle_a,
           gemm.swizzle_b, 16 * weight_halo::kMaxSteps);
     }},

    {"weight-halo-store", "the gradient leaves the registers in pairs, whole or in parts of the workspace", nullptr,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return gemm.staging == Staging::kDirect && gemm.stream_k == StreamK::kOff && gemm.groups_per_tile == 1 &&
              (gemm.split_k == SplitK::kNone || gemm.split_k == SplitK::kWorkspace);
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "staging={} stream_k={} groups_per_tile={} split_k={}: loader_b=tma_halo takes direct, off, 1 and none or "
           "workspace",
           text_of(gemm.staging), text_of(gemm.stream_k), gemm.groups_per_tile, text_of(gemm.split_k));
     }},
};

constexpr Constraint kProblemRows[] = {
    {"weight-halo-step", "a patch serves the taps of stride 1 and dilation 1", nullptr,
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       return p.stride == Spatial{1, 1, 1} && p.dilation == Spatial{1, 1, 1};
     },
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       return fmt::format("stride={}x{}x{} dilation={}x{}x{}: loader_b=tma_halo takes 1; use tma_im2col", p.stride[0],
                          p.stride[1], p.stride[2], p.dilation[0], p.dilation[1], p.dilation[2]);
     }},
};

}  // namespace

std::span<const Constraint> target_rows() {
  static const std::vector<Constraint> rows = joined({tma_rows::roles(), kTargetRows});
  return rows;
}
std::span<const Constraint> problem_rows() {
  static const std::vector<Constraint> rows = joined({tma_rows::channels(), kProblemRows});
  return rows;
}

}  // namespace wt::tma_weight_halo_kind
