// SPDX-License-Identifier: Apache-2.0
// kernels/rows_weight/constraints.cc - the rows of weight gradients with few channels .
#include "config/enum_names.h"
#include "kernels/rows_weight/device/layout.h"
#include "kernels/rows_weight/kind.h"
#include "kernels/rows_weight/view.h"
#include "kernels/shared/constraint_rows.h"
#include "kernels/shared/warpgroup.h"

namespace wt::rows_weight_kind {
namespace {

constexpr Spatial kUnit = {1, 1, 1};

bool is_sound(const Case& at) {
  const GemmConfig& gemm = at.config.gemm;
  return gemm.warps.m >= 4 && gemm.warps.k >= 1 && gemm.tile.m >= 64 && gemm.tile.n >= 32;
}

constexpr Constraint kTargetRows[] = {
    {"rows-weight-shape",
     "fragments of 64 positions for each math warpgroup, 32, 64 or 128 columns, 16 of tile.k for each group along k",
     nullptr,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       if (!is_sound(at)) return false;
       return gemm.warps.m % 4 == 0 && gemm.tile.m % (16 * gemm.warps.m) == 0 && gemm.warps.n == 1 &&
              (gemm.tile.n == 32 || gemm.tile.n == 64 || gemm.tile.n == 128) &&
              gemm.mma == warpgroup_mma(at.target.target, gemm.tile.n, 16) && gemm.tile.k == 16 * gemm.warps.k &&
              (gemm.load_warps == 1 || gemm.load_warps == 4) &&
              (gemm.loader_b == Loader::kGather || (gemm.loader_b == Loader::kVector && gemm.load_warps == 4));
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "tile={}x{}x{} warps={}x{}x{} load_warps={}: weight gradients of pipeline rows have warps.m a "
           "multiple of 4, tile.m a multiple of 16 per warp, tile.n=32, 64 or 128, tile.k=16 for each of warps.k, "
           "load_warps=1 or 4, loader_b=gather or with 4 vector, not {}",
           gemm.tile.m, gemm.tile.n, gemm.tile.k, gemm.warps.m, gemm.warps.n, gemm.warps.k, gemm.load_warps,
           text_of(gemm.loader_b));
     }},

    {"rows-weight-kind", "one 16-bit type, channels-last, through partial sums", nullptr,
     [](const Case& at) {
       return size_of(operand_a(at.config)) == 2 && operand_a(at.config) == operand_b(at.config) &&
              at.config.layout == Layout::kChannelsLast && at.config.gemm.split_k == SplitK::kWorkspace &&
              at.config.gemm.loader_a == Loader::kRegister && at.config.gemm.staging == Staging::kDirect;
     },
     [](const Case& at) {
       return fmt::format(
           "operands {} and {} split_k={} loader_a={} staging={}: weight gradients of pipeline rows take "
           "channels-last, "
           "one 16-bit type, split_k=workspace, loader_a=register, staging=direct",
           text_of(operand_a(at.config)), text_of(operand_b(at.config)), text_of(at.config.gemm.split_k),
           text_of(at.config.gemm.loader_a), text_of(at.config.gemm.staging));
     }},
};

constexpr Constraint kProblemRows[] = {
    {"rows-weight-channels",
     "one group of few input channels and output channels in eights or any with loader_b=vector, or the other way "
     "round with unit strides; unit dilation",
     nullptr,
     [](const Case& at) {
       const ConvProblem &p = *at.problem, source = rows_weight_source(p);
       const bool whole = source.k % 8 == 0 || rows_weight_layout::loads_gradient_words(at.config);
       return p.g == 1 && rows_weight_layout::takes_channels(source.c) && whole && p.dilation == kUnit &&
              (!rows_weight_turns(p) || p.stride == kUnit);
     },
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       return fmt::format(
           "{} groups, {} to {} channels, stride={}x{}x{} dilation={}x{}x{}: weight gradients of pipeline rows take "
           "one "
           "group of at most 16 input channels, or up to 64 that are no multiple of 8, and a multiple of 8 output "
           "channels or with loader_b=vector any, or the other way round with unit strides, and no dilation",
           p.g, p.c, p.k, p.stride[0], p.stride[1], p.stride[2], p.dilation[0], p.dilation[1], p.dilation[2]);
     }},

    {"rows-weight-pitch", "image rows that one thread copies in bulk are multiples of 16 bytes",
     [](const Case& at) { return rows_weight_layout::loads_in_bulk(at.config); },
     [](const Case& at) {
       const ConvProblem source = rows_weight_source(*at.problem);
       return source.in[2] * source.c % 8 == 0;
     },
     [](const Case& at) {
       const ConvProblem source = rows_weight_source(*at.problem);
       return fmt::format("{} pixels of {} channels are {} bytes, no multiple of 16; use load_warps=4", source.in[2],
                          source.c, source.in[2] * source.c * 2);
     }},

    {"rows-weight-memory", "two rows of eight outputs and their image rows fit shared memory", is_sound,
     [](const Case& at) { return rows_weight_fits(at.config, *at.problem); },
     [](const Case& at) {
       return fmt::format(
           "stride={}x{} with filter={}x{}: image rows under two rows of eight outputs do not fit beside {} slots of "
           "dy; use fewer stages",
           at.problem->stride[1], at.problem->stride[2], at.problem->filter[1], at.problem->filter[2],
           at.config.gemm.stages);
     }},
};

}  // namespace

std::span<const Constraint> target_rows() { return kTargetRows; }
std::span<const Constraint> problem_rows() { return kProblemRows; }

}  // namespace wt::rows_weight_kind
