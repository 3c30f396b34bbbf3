// SPDX-License-Identifier: Apache-2.0
// kernels/tma_weight_few/constraints.cc - the rows of weight gradients of few output channels .
#include "config/enum_names.h"
#include "kernels/shared/constraint_rows.h"
#include "kernels/tma_weight_few/device/layout.h"
#include "kernels/tma_weight_few/kind.h"

namespace wt::tma_weight_few_kind {
namespace {

constexpr Constraint kTargetRows[] = {
    {"weight-few-kind", "few output channels under 3x3 filters of one 16-bit type, finite_only, in parts", nullptr,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return at.config.dims == 2 && size_of(operand_a(at.config)) == 2 &&
              operand_a(at.config) == operand_b(at.config) && gemm.loader_b == Loader::kTmaTiled &&
              gemm.specialization == Specialization::kFilter3x3 && at.config.finite_only &&
              gemm.split_k == SplitK::kWorkspace && gemm.groups_per_tile == 1 && gemm.staging == Staging::kDirect &&
              gemm.stream_k == StreamK::kOff;
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "loader_a=async with dims={} operands {} and {} loader_b={} specialization={} finite_only={} split_k={} "
           "groups_per_tile={} staging={} stream_k={}: weight gradients of pipeline tma take it in two dimensions, "
           "with one 16-bit type, "
           "tma_tiled, filter3x3, true, workspace, 1, direct and off",
           at.config.dims, text_of(operand_a(at.config)), text_of(operand_b(at.config)), text_of(gemm.loader_b),
           text_of(gemm.specialization), at.config.finite_only, text_of(gemm.split_k), gemm.groups_per_tile,
           text_of(gemm.staging), text_of(gemm.stream_k));
     }},

    {"weight-few-tile", "a warpgroup for each 64 input channels, and sums of all taps in registers", nullptr,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       const bool taps = gemm.filter_rows == 1 || gemm.filter_rows == 3;
       return taps && gemm.warps == Extent3{1, 8, 1} && gemm.wave_groups == 1 && gemm.tile.n == 128 &&
              gemm.load_warps == 4 && gemm.mma == Extent3{64, gemm.tile.m, 16} && gemm.tile.m <= 64 &&
              gemm.tile.k >= 64 && gemm.tile.k % (gemm.filter_rows == 3 ? 64 : 32) == 0 &&
              weight_few::taps(at.config) * gemm.tile.m <= 360 && gemm.swizzle_a == 128 && gemm.swizzle_b == 128 &&
              (gemm.vector_a == 2 || gemm.vector_a == 4);
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "tile={}x{}x{} warps={}x{} load_warps={} filter_rows={} vector_a={} swizzles {} and {}: weight gradients "
           "with loader_a=async take up to 64 output channels by 128 by a multiple of 32 from 64 on, or 40 with "
           "filter_rows=3 by a multiple of 64, warps 1x8, 4, 1 or 3, 2 or 4 and 128",
           gemm.tile.m, gemm.tile.n, gemm.tile.k, gemm.warps.m, gemm.warps.n, gemm.load_warps, gemm.filter_rows,
           gemm.vector_a, gemm.swizzle_a, gemm.swizzle_b);
     }},
};

constexpr Constraint kProblemRows[] = {
    {"weight-few-step", "a patch of dy serves the taps of stride 1 and dilation 1 of one group", nullptr,
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       return p.stride == Spatial{1, 1, 1} && p.dilation == Spatial{1, 1, 1} && p.g == 1;
     },
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       return fmt::format("stride={}x{} dilation={}x{} g={}: a weight gradient with loader_a=async takes 1",
                          p.stride[1], p.stride[2], p.dilation[1], p.dilation[2], p.g);
     }},

    {"weight-few-channels", "output channels fit one tile, in whole vectors, and bulk copies read the image", nullptr,
     [](const Case& at) {
       return at.problem->c % 8 == 0 && at.problem->k <= at.config.gemm.tile.m &&
              at.problem->k % at.config.gemm.vector_a == 0;
     },
     [](const Case& at) {
       return fmt::format(
           "{} input and {} output channels; this kernel takes multiples of 8, and up to {} in multiples of {}",
           at.problem->c, at.problem->k, at.config.gemm.tile.m, at.config.gemm.vector_a);
     }},
};

}  // namespace

std::span<const Constraint> target_rows() { return kTargetRows; }
std::span<const Constraint> problem_rows() { return kProblemRows; }

}  // namespace wt::tma_weight_few_kind
