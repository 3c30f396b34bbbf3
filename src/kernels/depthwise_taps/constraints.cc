// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_taps/constraints.cc - what a depthwise_taps kernel takes.
#include "config/enum_names.h"
#include "kernels/depthwise_taps/device/shape.h"
#include "kernels/depthwise_taps/kind.h"
#include "kernels/depthwise_taps/view.h"
#include "kernels/shared/constraint_rows.h"

namespace wt::depthwise_taps_kind {
namespace {

int64_t warp_groups(const Case& at) { return taps_warp_groups(at.config, *at.view); }
int64_t most_groups(const KernelConfig& config) {
  return depthwise_taps::warps(config) / depthwise_taps::units(config);
}

constexpr Constraint kTargetRows[] = {
    {"direct-taps", "a depthwise_taps kernel multiplies 16-bit channels-last images, eight channels of them in each warp",
     nullptr,
     [](const Case& at) {
       const KernelConfig& c = at.config;
       const DirectConfig& d = c.direct;
       if (!c.finite_only || c.layout != Layout::kChannelsLast || !has_one_16_bit_type(c)) return false;
       if ((d.block_channels != 16 && d.block_channels != 32) || d.block_size <= 0 || d.block_size % 32 != 0)
         return false;
       return depthwise_taps::warps(c) % depthwise_taps::units(c) == 0 && (d.sub_h == 1 || d.sub_h == 2) &&
              (d.sub_w == 1 || d.sub_w == 2) && d.prefetch >= 1 && d.prefetch <= 3 && d.vector_in >= 2 &&
              d.vector_in == d.vector_out && c.fixed.stride_w <= 1 && c.fixed.dilation_w == c.fixed.stride_w;
     },
     [](const Case& at) {
       const DirectConfig& d = at.config.direct;
       return fmt::format(
           "sub_h={} sub_w={} block_size={} block_channels={} prefetch={} vectors={}/{} stride_w={} dilation_w={} "
           "finite_only={}: this kind has sub_h and sub_w 1 or 2, a warp or several for each 8 of 16 or 32 "
           "block_channels, prefetch 1 to 3, equal vectors of 2 to 8, stride_w and dilation_w both 0 or both 1, one "
           "16-bit type (dw may be fp32), channels-last, finite_only=true",
           d.sub_h, d.sub_w, d.block_size, d.block_channels, d.prefetch, d.vector_in, d.vector_out,
           at.config.fixed.stride_w, at.config.fixed.dilation_w, at.config.finite_only);
     }},
};

constexpr Constraint kProblemRows[] = {
    {"direct-taps-multiplier", "each input channel has one output channel", nullptr,
     [](const Case& at) { return at.problem->k_per_group() == 1; },
     [](const Case& at) {
       return fmt::format("{} output channels per group; use kind depthwise_strips", at.problem->k_per_group());
     }},

    {"direct-taps-runs", "windows of later taps begin at whole pixels of dy", nullptr,
     [](const Case& at) { return taps_runs_align(at.config, *at.view); },
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       return fmt::format("filter={} stride={} dilation={}: runs of {} taps are no whole steps of the stride; use kind "
                          "depthwise_strips",
                          text(p, p.filter), text(p, p.stride), text(p, p.dilation),
                          depthwise_taps::run_taps(at.config));
     }},

    {"direct-taps-columns", "each column of the matrices has a warp", nullptr,
     [](const Case& at) { return warp_groups(at) <= most_groups(at.config); },
     [](const Case& at) {
       return fmt::format("filter={} takes {} warps for each 8 channels and block_size={} with block_channels={} has {}; "
                          "use sub_h=2, a larger block or kind depthwise_strips",
                          text(*at.problem, at.problem->filter), warp_groups(at), at.config.direct.block_size,
                          at.config.direct.block_channels, most_groups(at.config));
     }},

    {"direct-taps-memory", "the smallest tile and the gradient fit shared memory", nullptr,
     [](const Case& at) {
       // Said by the rows before.
       if (at.problem->k_per_group() != 1 || warp_groups(at) > most_groups(at.config)) return true;
       return at.problem->output_elements() == 0 || taps_cut(at.config, *at.view).has_value();
     },
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       return fmt::format("filter={} dilation={} with block_channels={} prefetch={} does not fit the {} bytes of shared "
                          "memory of {}; use kind depthwise_strips",
                          text(p, p.filter), text(p, p.dilation), at.config.direct.block_channels,
                          at.config.direct.prefetch, at.view->rates().shared_per_block, at.view->rates().gpu);
     }},
};

}  // namespace

// Quick: the choice asks this of every problem.
bool may_serve(const ConvProblem& problem) {
  return problem.c_per_group() == 1 && problem.k_per_group() == 1 && problem.layout == Layout::kChannelsLast &&
         problem.direction == Direction::kBackwardWeight;
}

std::span<const Constraint> target_rows() {
  static const std::vector<Constraint> rows = joined({direct_rows(), kTargetRows});
  return rows;
}
std::span<const Constraint> problem_rows() {
  static const std::vector<Constraint> rows = joined({direct_problem_rows(), kProblemRows});
  return rows;
}

}  // namespace wt::depthwise_taps_kind
