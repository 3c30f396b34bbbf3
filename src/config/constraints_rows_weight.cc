// SPDX-License-Identifier: Apache-2.0
// config/constraints_rows_weight.cc - the rows of weight gradients with few channels (kernel/gemm/rows).
#include "config/constraint_rows.h"
#include "config/enum_names.h"
#include "config/rows_weight_view.h"
#include "kernel/gemm/rows/weight_layout.h"

namespace wt {

namespace {

bool serves(const Case& at) { return rows_weight_layout::serves(at.config); }
bool is_sound(const Case& at) {
  const GemmConfig& gemm = at.config.gemm;
  return serves(at) && gemm.warps.m >= 4 && gemm.warps.k >= 1 && gemm.tile.m >= 64 && gemm.tile.n >= 32;
}

constexpr Constraint kTargetRows[] = {
    {"rows-weight-shape",
     "fragments of 64 positions for each math warpgroup, 32, 64 or 128 columns, 16 of tile.k for each group along k",
     serves,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       if (!is_sound(at)) return false;
       return gemm.warps.m % 4 == 0 && gemm.tile.m % (16 * gemm.warps.m) == 0 && gemm.warps.n == 1 &&
              (gemm.tile.n == 32 || gemm.tile.n == 64 || gemm.tile.n == 128) && gemm.mma.n == gemm.tile.n &&
              gemm.tile.k == 16 * gemm.warps.k && (gemm.load_warps == 1 || gemm.load_warps == 4);
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "tile={}x{}x{} warps={}x{}x{} load_warps={}: weight gradients of pipeline rows have warps.m a "
           "multiple of 4, tile.m a multiple of 16 a warp, tile.n=32, 64 or 128, tile.k=16 for each of warps.k, "
           "load_warps=1 or 4",
           gemm.tile.m, gemm.tile.n, gemm.tile.k, gemm.warps.m, gemm.warps.n, gemm.warps.k, gemm.load_warps);
     }},

    {"rows-weight-kind", "two dimensions of one 16-bit type, channels-last, through partial sums", serves,
     [](const Case& at) {
       return at.config.dims == 2 && size_of(operand_a(at.config)) == 2 &&
              operand_a(at.config) == operand_b(at.config) && at.config.layout == Layout::kChannelsLast &&
              at.config.gemm.split_k == SplitK::kWorkspace && at.config.gemm.loader_a == Loader::kRegister &&
              at.config.gemm.staging == Staging::kDirect;
     },
     [](const Case& at) {
       return fmt::format(
           "dims={} operands {} and {} split_k={} loader_a={} staging={}: weight gradients of pipeline rows take two "
           "dimensions, channels-last, one 16-bit type, split_k=workspace, loader_a=register, staging=direct",
           at.config.dims, text_of(operand_a(at.config)), text_of(operand_b(at.config)),
           text_of(at.config.gemm.split_k), text_of(at.config.gemm.loader_a), text_of(at.config.gemm.staging));
     }},
};

constexpr Constraint kProblemRows[] = {
    {"rows-weight-channels",
     "one group of at most 16 input channels and output channels in eights, or the other way round with unit strides; "
     "unit dilation",
     serves,
     [](const Case& at) {
       const ConvProblem &p = *at.problem, source = rows_weight_source(p);
       return p.g == 1 && source.c <= rows_weight_layout::kMostChannels && source.k % 8 == 0 && p.dilation[1] == 1 &&
              p.dilation[2] == 1 && (!rows_weight_turns(p) || (p.stride[1] == 1 && p.stride[2] == 1));
     },
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       return fmt::format(
           "{} groups, {} to {} channels, stride={}x{} dilation={}x{}: weight gradients of pipeline rows take one "
           "group "
           "of at most 16 input channels and a multiple of 8 output channels, or the other way round with unit "
           "strides, and no dilation",
           p.g, p.c, p.k, p.stride[1], p.stride[2], p.dilation[1], p.dilation[2]);
     }},

    {"rows-weight-pitch", "image rows that one thread copies in bulk are multiples of 16 bytes",
     [](const Case& at) { return serves(at) && rows_weight_layout::loads_in_bulk(at.config); },
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

std::span<const Constraint> rows_weight_rows() { return kTargetRows; }
std::span<const Constraint> rows_weight_problem_rows() { return kProblemRows; }

}  // namespace wt
