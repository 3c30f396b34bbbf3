// SPDX-License-Identifier: Apache-2.0
// config/constraints_taps.cc - the rows of Hopper's kernel for few output channels (kernel/gemm/taps).
#include "config/constraint_rows.h"
#include "config/enum_names.h"
#include "config/taps_view.h"
#include "kernel/gemm/taps/arguments.h"
#include "kernel/gemm/taps/layout.h"

namespace wt {

namespace {

bool is_taps(const Case& at) { return at.config.family == Family::kGemm && at.config.gemm.pipeline == Pipeline::kTaps; }

constexpr Constraint kTargetRows[] = {
    {"taps-shape", "64 source pixels of 64 channels, four math warps and one that loads", is_taps,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       const int groups = taps_layout::groups(at.config);
       return gemm.tile.m == taps_layout::kPixels * groups && gemm.tile.k == taps_layout::kDepth &&
              gemm.warps.m == 4 * groups && groups >= 1 && groups <= (taps_layout::sums_rows(at.config) ? 3 : 1) &&
              gemm.warps.n == 1 && gemm.load_warps == 1 && gemm.swizzle_a == 128 && gemm.swizzle_b == 128 &&
              gemm.loader_a == Loader::kTmaTiled && gemm.loader_b == Loader::kGather;
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "tile={}x{}x{} warps={}x{} load_warps={} swizzle_a={} swizzle_b={} loaders {} and {}: pipeline taps has "
           "tile.m=64, tile.k=64, warps=4x1, up to three times as many rows and warps with filter_rows, load_warps=1, "
           "swizzles of 128 and loaders tma_tiled and gather",
           gemm.tile.m, gemm.tile.n, gemm.tile.k, gemm.warps.m, gemm.warps.n, gemm.load_warps, gemm.swizzle_a,
           gemm.swizzle_b, text_of(gemm.loader_a), text_of(gemm.loader_b));
     }},

    {"taps-rows", "a kernel that sums over the filter's rows is made for them, with unit strides",
     [](const Case& at) { return is_taps(at) && taps_layout::sums_rows(at.config); },
     [](const Case& at) {
       const DirectConfig& fixed = at.config.direct;
       return fixed.filter_h == at.config.gemm.filter_rows && fixed.filter_h > 1 && fixed.filter_w > 0 &&
              fixed.stride_h == 1 && fixed.stride_w == 1;
     },
     [](const Case& at) {
       const DirectConfig& fixed = at.config.direct;
       return fmt::format(
           "filter_rows={} with filter={}x{} stride={}x{}: pipeline taps sums over all rows of a known filter with "
           "unit strides",
           at.config.gemm.filter_rows, fixed.filter_h, fixed.filter_w, fixed.stride_h, fixed.stride_w);
     }},

    {"taps-kind", "two dimensions of 16-bit types, forward or backward data", is_taps,
     [](const Case& at) {
       return at.config.dims == 2 && at.config.direction != Direction::kBackwardWeight &&
              size_of(operand_a(at.config)) == 2 && operand_a(at.config) == operand_b(at.config) &&
              at.config.layout == Layout::kChannelsLast;
     },
     [](const Case& at) {
       return fmt::format(
           "dims={} direction={} operands {} and {}: pipeline taps takes two dimensions, channels-last, forward or "
           "backward data, one 16-bit type",
           at.config.dims, text_of(at.config.direction), text_of(operand_a(at.config)), text_of(operand_b(at.config)));
     }},
};

constexpr Constraint kProblemRows[] = {
    {"taps-columns", "output channels times taps fit the tile's columns, one group", is_taps,
     [](const Case& at) {
       return at.problem->g == 1 && taps_columns(at.config, taps_view(*at.problem)) <= at.config.gemm.tile.n;
     },
     [](const Case& at) {
       const TapsView view = taps_view(*at.problem);
       return fmt::format("{} groups, {} output channels times {}x{} taps: pipeline taps has one group and tile.n={}",
                          at.problem->g, view.channels, view.h.taps, view.w.taps, at.config.gemm.tile.n);
     }},

    {"taps-stride", "forward has unit stride, backward data at most 4", is_taps,
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       const int64_t most = p.direction == Direction::kForward ? 1 : kTapsMaxStride;
       return p.stride[1] <= most && p.stride[2] <= most;
     },
     [](const Case& at) {
       return fmt::format(
           "stride={}x{}: pipeline taps multiplies every source pixel, so that forward takes stride 1 only, and "
           "backward data up to {}",
           at.problem->stride[1], at.problem->stride[2], kTapsMaxStride);
     }},

    {"taps-filter", "a filter and a stride that the config names are the problem's, without dilation",
     [](const Case& at) { return is_taps(at) && taps_layout::in_registers(at.config); },
     [](const Case& at) {
       const TapsView view = taps_view(*at.problem);
       const DirectConfig& fixed = at.config.direct;
       return view.h.taps == fixed.filter_h && view.w.taps == fixed.filter_w && view.h.stride == fixed.stride_h &&
              view.w.stride == fixed.stride_w && view.h.dilation == 1 && view.w.dilation == 1;
     },
     [](const Case& at) {
       const TapsView view = taps_view(*at.problem);
       const DirectConfig& fixed = at.config.direct;
       return fmt::format(
           "filter={}x{} stride={}x{} dilation={}x{}: the kernel is made for {}x{}, stride {}x{}, no dilation",
           view.h.taps, view.w.taps, view.h.stride, view.w.stride, view.h.dilation, view.w.dilation, fixed.filter_h,
           fixed.filter_w, fixed.stride_h, fixed.stride_w);
     }},

    {"taps-ring", "the ring holds as many source rows as the filter has, and one more for each warpgroup",
     [](const Case& at) { return is_taps(at) && taps_layout::sums_rows(at.config); },
     [](const Case& at) {
       const int64_t rows = at.config.gemm.filter_rows + taps_layout::groups(at.config);
       return rows * taps_view(*at.problem).depth_blocks <= at.config.gemm.stages;
     },
     [](const Case& at) {
       return fmt::format("{} channels are {} blocks of 64; with filter_rows={} they do not fit stages={}",
                          taps_view(*at.problem).depth, taps_view(*at.problem).depth_blocks, at.config.gemm.filter_rows,
                          at.config.gemm.stages);
     }},

    {"taps-width", "a row of taps fits 64 pixels with room for outputs", is_taps,
     [](const Case& at) { return taps_view(*at.problem).w.reach <= taps_layout::kPixels / 2; },
     [](const Case& at) {
       return fmt::format("filter={} with dilation={} along w reaches over {} of 64 pixels; pipeline taps takes half",
                          at.problem->filter[2], at.problem->dilation[2], taps_view(*at.problem).w.reach);
     }},

    {"taps-memory", "filter, products and unfinished output rows fit shared memory", is_taps,
     [](const Case& at) { return taps_shared_bytes(at.config, taps_view(*at.problem)) <= at.target.shared_per_block; },
     [](const Case& at) {
       return fmt::format("{} bytes of shared memory for {} channels and {} output rows in the making; there are {}",
                          taps_shared_bytes(at.config, taps_view(*at.problem)), taps_view(*at.problem).depth,
                          taps_view(*at.problem).window, at.target.shared_per_block);
     }},
};

}  // namespace

std::span<const Constraint> taps_rows() { return kTargetRows; }
std::span<const Constraint> taps_problem_rows() { return kProblemRows; }

}  // namespace wt
