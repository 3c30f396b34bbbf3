// SPDX-License-Identifier: Apache-2.0
#include "kernels/beside/transpose_filter.h"

#include <cstddef>
#include <numeric>

#include "base/check.h"
#include "base/integers.h"
#include "config/fields.h"
#include "kernels/shared/conv_arguments.h"

namespace wt {
namespace {

// Taps so far apart are of one phase (problem/gemm_view.h).
void set_order(const ConvProblem& problem, i32 (&filter)[3], i32 (&step)[3]) {
  for (size_t i = 0; i < 3; ++i) {
    filter[i] = static_cast<i32>(problem.filter[i]);
    step[i] = static_cast<i32>(problem.stride[i] / std::gcd(problem.stride[i], problem.dilation[i]));
  }
}

}  // namespace

int64_t first_tap(const ConvProblem& problem, const StridePhase& phase) {
  i32 filter[3], step[3], remainder[3];
  set_order(problem, filter, step);
  for (size_t i = 0; i < 3; ++i) remainder[i] = static_cast<i32>(phase.dim[i].tap_first);
  return phase_start(filter, step, remainder);
}

Binding with_transposed_filter(const KernelConfig& config, const ConvProblem& problem, Binding binding) {
  if (binding.launches.empty()) return binding;
  WT_CHECK(binding.workspace_bytes == 0, "{} needs the workspace for more than its filter", name_of(config));
  TransposeFilterArguments arguments{};
  arguments.channels = static_cast<i32>(problem.c_per_group());
  arguments.filters = static_cast<i32>(problem.k_per_group());
  set_order(problem, arguments.filter, arguments.step);
  arguments.tiles_c = static_cast<u32>(ceil_div(problem.c_per_group(), kTransposeTile));
  arguments.tiles_k = static_cast<u32>(ceil_div(problem.k_per_group(), kTransposeTile));
  arguments.taps = static_cast<u32>(problem.filter_taps());

  Launch turn;
  turn.kernel = name_of(config) + kTransposeSuffix;
  turn.shape.threads = kTransposeThreads;
  turn.shape.grid[0] = arguments.tiles_c * arguments.tiles_k * arguments.taps * static_cast<uint32_t>(problem.g);
  turn.shape.shared_bytes = kTransposeTile * (kTransposeTile * static_cast<uint32_t>(size_of(problem.w)) + 4);
  set_params(turn, arguments);
  turn.pointers.push_back({offsetof(TransposeFilterArguments, w), Tensor::kW, 0});
  turn.pointers.push_back({offsetof(TransposeFilterArguments, turned), Tensor::kWorkspace, 0});

  for (Launch& launch : binding.launches) {
    for (Launch::Pointer& pointer : launch.pointers) {
      if (pointer.tensor == Tensor::kW) pointer.tensor = Tensor::kWorkspace;
    }
  }
  binding.launches.insert(binding.launches.begin(), std::move(turn));
  binding.workspace_bytes = problem.w_elements() * size_of(problem.w);
  return binding;
}

}  // namespace wt
