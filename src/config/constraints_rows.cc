// SPDX-License-Identifier: Apache-2.0
// config/constraints_rows.cc - the rows of Hopper's kernel for few channels to sum over (kernel/gemm/rows).
#include "config/constraint_rows.h"
#include "config/enum_names.h"
#include "config/rows_view.h"
#include "kernel/gemm/rows/layout.h"

namespace wt {

namespace {

bool is_rows(const Case& at) {
  return at.config.family == Family::kGemm && at.config.gemm.pipeline == Pipeline::kRows &&
         at.config.direction != Direction::kBackwardWeight;
}
bool is_sound_rows(const Case& at) {
  return is_rows(at) && at.config.gemm.filter_rows > 0 && at.config.gemm.tile.k >= 16 && at.config.gemm.warps.m >= 4;
}

constexpr Constraint kTargetRows[] = {
    {"rows-shape", "64 outputs for each math warpgroup, one load warp or four, k in whole octets of filter rows",
     is_rows,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       if (!is_sound_rows(at)) return false;
       const int octets = rows_layout::filter_rows(at.config) * rows_layout::octets_of_row(at.config);
       return gemm.tile.m == 16 * gemm.warps.m && gemm.warps.m % 4 == 0 && gemm.warps.n == 1 &&
              (gemm.load_warps == 1 || gemm.load_warps == 4) && gemm.persistent &&
              gemm.tile.k == (octets + 1) / 2 * 16 && gemm.loader_a == Loader::kRegister &&
              gemm.loader_b == Loader::kGather;
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "tile={}x{}x{} warps={}x{} load_warps={} filter_rows={} persistent={} loaders {} and {}: pipeline rows has "
           "16 of tile.m a warp, warps.m a multiple of 4, load_warps=1 or 4, persistent=true, loaders register and "
           "gather, and tile.k of the octets of filter_rows",
           gemm.tile.m, gemm.tile.n, gemm.tile.k, gemm.warps.m, gemm.warps.n, gemm.load_warps, gemm.filter_rows,
           gemm.persistent, text_of(gemm.loader_a), text_of(gemm.loader_b));
     }},

    {"rows-kind", "forward or backward data in two dimensions of one 16-bit type, channels-last", is_rows,
     [](const Case& at) {
       return at.config.dims == 2 && size_of(operand_a(at.config)) == 2 &&
              operand_a(at.config) == operand_b(at.config) && at.config.layout == Layout::kChannelsLast;
     },
     [](const Case& at) {
       return fmt::format(
           "dims={} direction={} operands {} and {}: pipeline rows takes two dimensions, channels-last, forward or "
           "backward data, one 16-bit type",
           at.config.dims, text_of(at.config.direction), text_of(operand_a(at.config)), text_of(operand_b(at.config)));
     }},

    {"rows-staging", "16-bit outputs leave by vectors, through shared memory or of 8 from registers", is_rows,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       if (rows_layout::stores_octets(at.config)) return size_of(output_type(at.config)) == 2 && gemm.tile.n % 32 == 0;
       if (gemm.staging == Staging::kDirect) return gemm.vector_c == 1;
       return gemm.staging == Staging::kShared && size_of(output_type(at.config)) == 2 &&
              (gemm.vector_c == 2 || gemm.vector_c == 4 || gemm.vector_c == 8);
     },
     [](const Case& at) {
       return fmt::format(
           "staging={} vector_c={} tile.n={} with output {}: pipeline rows has staging=direct with vector_c=1, or for "
           "16-bit outputs with 8 where tile.n is a multiple of 32, or staging=shared with vectors of 2, 4 or 8",
           text_of(at.config.gemm.staging), at.config.gemm.vector_c, at.config.gemm.tile.n,
           text_of(output_type(at.config)));
     }},
};

constexpr Constraint kProblemRows[] = {
    {"rows-channels",
     "one group of few channels to sum over, up to 16 or no whole vectors, unit dilation, backward data with unit "
     "strides",
     is_rows,
     [](const Case& at) {
       const ConvProblem p = rows_forward(*at.problem);
       const bool turned = at.problem->direction == Direction::kBackwardData;
       return p.g == 1 && rows_layout::takes_channels(p.c, p.filter[1], p.filter[2]) && p.dilation[1] == 1 &&
              p.dilation[2] == 1 && (!turned || (p.stride[1] == 1 && p.stride[2] == 1));
     },
     [](const Case& at) {
       const ConvProblem p = rows_forward(*at.problem);
       return fmt::format(
           "{} groups, {} channels, dilation={}x{} stride={}x{}: pipeline rows takes one group of at most 8 channels "
           "to sum over, or up to 16 or no vectors of them under up to 3 or under 5 filter rows, without dilation, in "
           "backward "
           "data without strides",
           p.g, p.c, p.dilation[1], p.dilation[2], p.stride[1], p.stride[2]);
     }},

    {"rows-filter", "the filter's rows are the kernel's, in number and in octets", is_sound_rows,
     [](const Case& at) {
       const int octets = rows_layout::octets_of_row(at.config);
       return at.problem->filter[1] == at.config.gemm.filter_rows && rows_runs(*at.problem).octets == octets;
     },
     [](const Case& at) {
       const RowsRuns runs = rows_runs(*at.problem);
       return fmt::format("{} filter rows of {} numbers, {} octets as they start; this kernel has filter_rows={} of {}",
                          at.problem->filter[1], runs.run, runs.octets, at.config.gemm.filter_rows,
                          rows_layout::octets_of_row(at.config));
     }},

    {"rows-pitch", "image rows that one thread copies in bulk are multiples of 16 bytes",
     [](const Case& at) { return is_sound_rows(at) && rows_layout::loads_in_bulk(at.config); },
     [](const Case& at) {
       const ConvProblem p = rows_forward(*at.problem);
       return p.in[2] * p.c % 8 == 0;
     },
     [](const Case& at) {
       const ConvProblem p = rows_forward(*at.problem);
       return fmt::format("{} pixels of {} channels are {} bytes, no multiple of 16; use load_warps=4", p.in[2], p.c,
                          p.in[2] * p.c * 2);
     }},

    {"rows-memory", "a patch of one row of outputs fits shared memory", is_sound_rows,
     [](const Case& at) { return rows_fit(at.config, *at.problem); },
     [](const Case& at) {
       return fmt::format(
           "stride={}x{} with filter={}x{}: no patch of image rows fits {} slots beside {} bytes of filter and "
           "staging; "
           "use fewer stages or a smaller tile.n",
           at.problem->stride[1], at.problem->stride[2], at.problem->filter[1], at.problem->filter[2],
           at.config.gemm.stages,
           rows_layout::shared_bytes(at.config, static_cast<int>(rows_runs(*at.problem).classes), 0));
     }},
};

}  // namespace

std::span<const Constraint> rows_rows() { return kTargetRows; }
std::span<const Constraint> rows_problem_rows() { return kProblemRows; }

}  // namespace wt
