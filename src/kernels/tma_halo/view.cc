// SPDX-License-Identifier: Apache-2.0
#include "kernels/tma_halo/view.h"

#include "kernels/tma/device/layout.h"

namespace wt {

namespace {

// Whether the filter reaches over planes alone.
bool stands(const ConvProblem& problem) {
  const auto bare = [&](size_t i) {
    return problem.filter[i] == 1 && problem.pad_lower[i] == 0 && problem.pad_upper[i] == 0;
  };
  return problem.filter[0] != 1 && bare(1) && bare(2);
}

}  // namespace

ConvProblem flattened(const ConvProblem& asked) {
  ConvProblem problem = asked;
  if (!stands(asked)) return problem;
  problem.in = {1, asked.in[0], asked.in[1] * asked.in[2]};
  problem.filter = {1, asked.filter[0], 1};
  problem.pad_lower = {0, asked.pad_lower[0], 0};
  problem.pad_upper = {0, asked.pad_upper[0], 0};
  return problem;
}

Spatial column_filter(const ConvProblem& asked) {
  if (asked.dims == 1) return {1, asked.filter[2], 1};
  return stands(asked) ? Spatial{1, asked.filter[0], 1} : asked.filter;
}

HaloView halo_view(const KernelConfig& config, const ConvProblem& asked) {
  if (tma_layout::halo_filter_width(config) > 1) return {asked};
  if (asked.dims > 1) return {flattened(asked)};
  HaloView view{asked, true};
  ConvProblem& problem = view.problem;
  problem.n = 1;
  problem.in = {1, asked.in[2], asked.n};
  problem.filter = {1, asked.filter[2], 1};
  problem.pad_lower = {0, asked.pad_lower[2], 0};
  problem.pad_upper = {0, asked.pad_upper[2], 0};
  return view;
}

}  // namespace wt
