// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_step/constraints.cc - what a step kernel takes.
#include "config/enum_names.h"
#include "kernels/depthwise_step/kind.h"
#include "kernels/shared/constraint_rows.h"

namespace wt::depthwise_step_kind {
namespace {

constexpr Constraint kTargetRows[] = {
    {"step-history", "a step kernel goes on from a history", nullptr,
     [](const Case& at) { return at.config.direct.history && at.config.dims == 1; },
     [](const Case& at) {
       return fmt::format("history={} and {} dimensions; a step has history=true and one dimension",
                          at.config.direct.history, at.config.dims);
     }},
    {"step-dilation", "a filter that is compiled in has no holes", nullptr,
     [](const Case& at) { return (at.config.fixed.filter_h > 0) == (at.config.fixed.dilation_h == 1); },
     [](const Case& at) {
       return fmt::format("filter_h={} with dilation_h={}; use a dilation of 1 with a filter, or 0 for both",
                          at.config.fixed.filter_h, at.config.fixed.dilation_h);
     }},
};

constexpr Constraint kProblemRows[] = {
    {"step-size", "distances within an image are counted in 64 bits, pixels in 32", nullptr,
     [](const Case& at) {
       const ConvProblem& p = *at.problem;
       return p.in[2] + p.history_length() < int64_t{1} << 31 && p.c < int64_t{1} << 31;
     },
     [](const Case& at) {
       return fmt::format("{} pixels and {} channels; this kernel counts each to 2147483647; use another kind",
                          at.problem->in[2] + at.problem->history_length(), at.problem->c);
     }},
};

}  // namespace

std::span<const Constraint> target_rows() {
  static const std::vector<Constraint> rows = joined({direct_rows(), kTargetRows});
  return rows;
}
std::span<const Constraint> problem_rows() {
  static const std::vector<Constraint> rows = joined({direct_problem_rows(), kProblemRows});
  return rows;
}

}  // namespace wt::depthwise_step_kind
