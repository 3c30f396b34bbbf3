// SPDX-License-Identifier: Apache-2.0
// kernels/taps/constraints.cc - the rows of Hopper's kernel for few output channels .
#include "config/enum_names.h"
#include "kernels/shared/constraint_rows.h"
#include "kernels/taps/device/arguments.h"
#include "kernels/taps/device/layout.h"
#include "kernels/taps/kind.h"
#include "kernels/taps/view.h"

namespace wt::taps_kind {
namespace {

constexpr Constraint kTargetRows[] = {
    {"taps-shape", "64 source pixels of 64 channels, four math warps and one that loads", nullptr,
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       const int groups = taps_layout::groups(at.config);
       const bool short_k = (gemm.tile.k == 16 || gemm.tile.k == 32) && !taps_layout::sums_rows(at.config);
       return gemm.tile.m == taps_layout::kPixels * groups && (gemm.tile.k == taps_layout::kDepth || short_k) &&
              gemm.warps.m == 4 * groups && groups >= 1 && groups <= (taps_layout::sums_rows(at.config) ? 3 : 1) &&
              gemm.warps.n == 1 && gemm.load_warps == 1 && gemm.swizzle_a == 128 && gemm.swizzle_b == 128 &&
              gemm.loader_a == Loader::kTmaTiled && gemm.loader_b == Loader::kGather;
     },
     [](const Case& at) {
       const GemmConfig& gemm = at.config.gemm;
       return fmt::format(
           "tile={}x{}x{} warps={}x{} load_warps={} swizzle_a={} swizzle_b={} loaders {} and {}: pipeline taps has "
           "tile.m=64, tile.k=64 or less of few channels, warps=4x1, up to three times as many rows and warps with "
           "filter_rows, load_warps=1, "
           "swizzles of 128 and loaders tma_tiled and gather",
           gemm.tile.m, gemm.tile.n, gemm.tile.k, gemm.warps.m, gemm.warps.n, gemm.load_warps, gemm.swizzle_a,
           gemm.swizzle_b, text_of(gemm.loader_a), text_of(gemm.loader_b));
     }},

    {"taps-rows", "a kernel that sums over the filter's rows is made for them, with unit strides",
     [](const Case& at) { return taps_layout::sums_rows(at.config); },
     [](const Case& at) {
       const FixedSizes& fixed = at.config.fixed;
       return fixed.filter_h == at.config.gemm.filter_rows && fixed.filter_h > 1 && fixed.filter_w > 0 &&
              fixed.stride_h == 1 && fixed.stride_w == 1;
     },
     [](const Case& at) {
       const FixedSizes& fixed = at.config.fixed;
       return fmt::format(
           "filter_rows={} with filter={}x{} stride={}x{}: pipeline taps sums over all rows of a known filter with "
           "unit strides",
           at.config.gemm.filter_rows, fixed.filter_h, fixed.filter_w, fixed.stride_h, fixed.stride_w);
     }},

    {"taps-kind", "16-bit types, forward or backward data, sums over filter rows in two dimensions alone", nullptr,
     [](const Case& at) {
       return (at.config.dims == 2 || !taps_layout::sums_rows(at.config)) &&
              at.config.direction != Direction::kBackwardWeight && size_of(operand_a(at.config)) == 2 &&
              operand_a(at.config) == operand_b(at.config) && at.config.layout == Layout::kChannelsLast;
     },
     [](const Case& at) {
       return fmt::format(
           "dims={} filter_rows={} direction={} operands {} and {}: pipeline taps takes channels-last, forward or "
           "backward data, one 16-bit type, and filter_rows in two dimensions alone",
           at.config.dims, at.config.gemm.filter_rows, text_of(at.config.direction), text_of(operand_a(at.config)),
           text_of(operand_b(at.config)));
     }},
};

constexpr Constraint kProblemRows[] = {
    {"taps-columns", "output channels times taps fit the tile's columns, one group", nullptr,
     [](const Case& at) {
       return at.problem->g == 1 && taps_columns(at.config, taps_view(*at.problem)) <= at.config.gemm.tile.n;
     },
     [](const Case& at) {
       const TapsView view = taps_view(*at.problem);
       return fmt::format("{} groups, {} output channels times {}x{} taps: pipeline taps has one group and tile.n={}",
                          at.problem->g, view.channels, view.h.taps, view.w.taps, at.config.gemm.tile.n);
     }},

    {"taps-depth", "channels that are summed over fit tile.k where that is less than a copy's 64",
     [](const Case& at) { return at.config.gemm.tile.k < taps_layout::kDepth; },
     [](const Case& at) { return taps_view(*at.problem).depth <= at.config.gemm.tile.k; },
     [](const Case& at) {
       return fmt::format("{} channels are summed over; this kernel has tile.k={}; use tile.k=64",
                          taps_view(*at.problem).depth, at.config.gemm.tile.k);
     }},

    {"taps-stride", "forward has unit stride, backward data at most 4 and 1 along d", nullptr,
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       const int64_t most = p.direction == Direction::kForward ? 1 : kTapsMaxStride;
       return p.stride[0] == 1 && p.stride[1] <= most && p.stride[2] <= most;
     },
     [](const Case& at) {
       return fmt::format(
           "stride={}x{}x{}: pipeline taps multiplies every source pixel, so that forward takes stride 1 only, and "
           "backward data up to {}, along d 1",
           at.problem->stride[0], at.problem->stride[1], at.problem->stride[2], kTapsMaxStride);
     }},

    {"taps-filter", "a filter and a stride that the config names are the problem's, without dilation",
     [](const Case& at) { return taps_layout::in_registers(at.config); },
     [](const Case& at) {
       const TapsView view = taps_view(*at.problem);
       const FixedSizes& fixed = at.config.fixed;
       return view.h.taps == fixed.filter_h && view.w.taps == fixed.filter_w && view.h.stride == fixed.stride_h &&
              view.w.stride == fixed.stride_w && view.h.dilation == 1 && view.w.dilation == 1;
     },
     [](const Case& at) {
       const TapsView view = taps_view(*at.problem);
       const FixedSizes& fixed = at.config.fixed;
       return fmt::format(
           "filter={}x{} stride={}x{} dilation={}x{}: the kernel is made for {}x{}, stride {}x{}, no dilation",
           view.h.taps, view.w.taps, view.h.stride, view.w.stride, view.h.dilation, view.w.dilation, fixed.filter_h,
           fixed.filter_w, fixed.stride_h, fixed.stride_w);
     }},

    {"taps-ring", "the ring holds as many source rows as the filter has, and one more for each warpgroup",
     [](const Case& at) { return taps_layout::sums_rows(at.config); },
     [](const Case& at) {
       const int64_t rows = at.config.gemm.filter_rows + taps_layout::groups(at.config);
       return rows * taps_view(*at.problem).depth_blocks <= at.config.gemm.stages;
     },
     [](const Case& at) {
       return fmt::format("{} channels are {} blocks of 64; with filter_rows={} they do not fit stages={}",
                          taps_view(*at.problem).depth, taps_view(*at.problem).depth_blocks, at.config.gemm.filter_rows,
                          at.config.gemm.stages);
     }},

    {"taps-width", "a row of taps fits 64 pixels with room for outputs", nullptr,
     [](const Case& at) { return taps_view(*at.problem).w.reach <= taps_layout::kPixels / 2; },
     [](const Case& at) {
       return fmt::format("filter={} with dilation={} along w reaches over {} of 64 pixels; pipeline taps takes half",
                          at.problem->filter[2], at.problem->dilation[2], taps_view(*at.problem).w.reach);
     }},

    {"taps-memory", "filter, products and unfinished output rows fit shared memory", nullptr,
     [](const Case& at) { return taps_shared_bytes(at.config, taps_view(*at.problem)) <= at.target.shared_per_block; },
     [](const Case& at) {
       return fmt::format("{} bytes of shared memory for {} channels and {} output rows in the making; there are {}",
                          taps_shared_bytes(at.config, taps_view(*at.problem)), taps_view(*at.problem).depth,
                          taps_view(*at.problem).window, at.target.shared_per_block);
     }},
};

}  // namespace

std::span<const Constraint> target_rows() { return kTargetRows; }
std::span<const Constraint> problem_rows() { return kProblemRows; }

}  // namespace wt::taps_kind
