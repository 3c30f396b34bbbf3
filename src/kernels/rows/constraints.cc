// SPDX-License-Identifier: Apache-2.0
// kernels/rows/constraints.cc - the rows of Hopper's kernel for few channels to sum over .
#include "config/enum_names.h"
#include "kernels/rows/device/arguments.h"
#include "kernels/rows/device/layout.h"
#include "kernels/rows/kind.h"
#include "kernels/rows/view.h"
#include "kernels/shared/constraint_rows.h"

namespace wt::rows_kind {
namespace {

constexpr Spatial kUnit = {1, 1, 1};

bool is_sound_rows(const Case& at) {
  return at.config.gemm.filter_rows > 0 && at.config.gemm.tile.k >= 16 && at.config.gemm.warps.m >= 4;
}

constexpr Constraint kTargetRows[] = {
    {"rows-shape", "64 outputs for each math warpgroup, one load warp or four, k in whole octets of filter rows",
     nullptr,
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

    {"rows-kind", "forward or backward data of one 16-bit type, channels-last", nullptr,
     [](const Case& at) {
       return size_of(operand_a(at.config)) == 2 && operand_a(at.config) == operand_b(at.config) &&
              at.config.layout == Layout::kChannelsLast;
     },
     [](const Case& at) {
       return fmt::format(
           "direction={} operands {} and {}: pipeline rows takes channels-last, forward or backward data, one 16-bit "
           "type",
           text_of(at.config.direction), text_of(operand_a(at.config)), text_of(operand_b(at.config)));
     }},

    {"rows-staging", "16-bit outputs leave through shared memory, or by vectors of 8 from registers", nullptr,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       if (rows_layout::stores_octets(at.config)) return size_of(output_type(at.config)) == 2 && gemm.tile.n % 32 == 0;
       if (gemm.staging == Staging::kDirect) return gemm.vector_c == 1;
       return gemm.staging == Staging::kShared && size_of(output_type(at.config)) == 2;
     },
     [](const Case& at) {
       return fmt::format(
           "staging={} vector_c={} tile.n={} with output {}: pipeline rows has staging=direct with vector_c=1, or for "
           "16-bit outputs with 8 where tile.n is a multiple of 32, or staging=shared of 16-bit outputs",
           text_of(at.config.gemm.staging), at.config.gemm.vector_c, at.config.gemm.tile.n,
           text_of(output_type(at.config)));
     }},
};

constexpr Constraint kProblemRows[] = {
    {"rows-channels",
     "one group of few channels to sum over, up to 16 or no whole vectors, or 240 under a unit filter, unit dilation, "
     "backward data with unit strides",
     nullptr,
     [](const Case& at) {
       const ConvProblem p = rows_forward(*at.problem);
       const bool turned = at.problem->direction == Direction::kBackwardData;
       return p.g == 1 && rows_take_channels(*at.problem) && p.dilation == kUnit &&
              (!turned || p.stride == kUnit);
     },
     [](const Case& at) {
       const ConvProblem p = rows_forward(*at.problem);
       return fmt::format(
           "{} groups, {} channels, dilation={}x{}x{} stride={}x{}x{}: pipeline rows takes one group of at most 8 "
           "channels "
           "to sum over, or up to 16 or no vectors of them under a few filter rows, or 240 under a unit filter without "
           "strides or padding, without dilation, in backward data without strides",
           p.g, p.c, p.dilation[0], p.dilation[1], p.dilation[2], p.stride[0], p.stride[1], p.stride[2]);
     }},

    {"rows-filter", "the filter's rows are the kernel's, in number and in octets", is_sound_rows,
     [](const Case& at) {
       const int octets = rows_layout::octets_of_row(at.config);
       return rows_filter_rows(*at.problem) == at.config.gemm.filter_rows &&
              (at.config.dims < 3 || at.config.gemm.filter_rows <= kRowsMostRuns) &&
              rows_runs(*at.view).octets == octets;
     },
     [](const Case& at) {
       const RowsRuns runs = rows_runs(*at.view);
       return fmt::format("{} filter rows of {} numbers, {} octets as they start; this kernel has filter_rows={} of {}",
                          rows_filter_rows(*at.problem), runs.run, runs.octets, at.config.gemm.filter_rows,
                          rows_layout::octets_of_row(at.config));
     }},

    {"rows-pitch", "image rows that one thread copies in bulk are multiples of 16 bytes",
     [](const Case& at) { return is_sound_rows(at) && rows_layout::loads_in_bulk(at.config); },
     [](const Case& at) {
       const ConvProblem p = rows_seen(*at.problem);
       return p.in[2] * p.c % 8 == 0;
     },
     [](const Case& at) {
       const ConvProblem p = rows_seen(*at.problem);
       return fmt::format("{} pixels of {} channels are {} bytes, no multiple of 16; use load_warps=4", p.in[2], p.c,
                          p.in[2] * p.c * 2);
     }},

    {"rows-memory", "a patch of one row of outputs fits shared memory", is_sound_rows,
     [](const Case& at) { return rows_fit(at.config, *at.view); },
     [](const Case& at) {
       return fmt::format(
           "stride={}x{} with filter={}x{}x{}: no patch of image rows fits {} slots beside {} bytes of filter and "
           "staging; "
           "use fewer stages or a smaller tile.n",
           at.problem->stride[1], at.problem->stride[2], at.problem->filter[0], at.problem->filter[1],
           at.problem->filter[2], at.config.gemm.stages,
           rows_layout::shared_bytes(at.config, static_cast<int>(rows_runs(*at.view).classes), 0));
     }},
};

}  // namespace

std::span<const Constraint> target_rows() { return kTargetRows; }
std::span<const Constraint> problem_rows() { return kProblemRows; }

}  // namespace wt::rows_kind
