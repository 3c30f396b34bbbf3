// SPDX-License-Identifier: Apache-2.0
// kernels/basic/bind.cc - the launch of the generic kernel.
#include "kernels/basic/kind.h"

#include <algorithm>
#include <cstddef>

#include "base/check.h"
#include "base/integers.h"
#include "config/fields.h"
#include "config/targets.h"
#include "kernels/basic/device/arguments.h"
#include "kernels/beside/filter_sums.h"
#include "kernels/resources.h"
#include "kernels/shared/conv_arguments.h"
#include "problem/measures.h"

namespace wt {
namespace {

constexpr int64_t kMaxGrid = 0x7fffffff;

GemmArguments gemm_arguments(const ConvProblem& problem) {
  GemmArguments arguments{};
  arguments.shape = conv_shape(problem);
  arguments.x = tensor_strides(problem, Tensor::kX);
  arguments.w = tensor_strides(problem, Tensor::kW);
  arguments.y = tensor_strides(problem, Tensor::kY);
  arguments.epilogue = epilogue_arguments(problem);
  const int64_t taps = pixels(problem.filter), c = problem.c_per_group(), k = problem.k_per_group();
  switch (problem.direction) {
    case Direction::kForward:
      arguments.m = problem.n * pixels(problem.out());
      arguments.n = k;
      arguments.k = taps * c;
      break;
    case Direction::kBackwardData:
      arguments.m = problem.n * pixels(problem.in);
      arguments.n = c;
      arguments.k = taps * k;
      break;
    case Direction::kBackwardWeight:
      arguments.m = k;
      arguments.n = taps * c;
      arguments.k = problem.n * pixels(problem.out());
      break;
  }
  return arguments;
}

}  // namespace

// The generic kernel: one launch, a block per tile.
Binding basic_kind::bind(const KernelConfig& config, const View& seen, const DeviceInfo& device, int) {
  const ConvProblem& problem = seen.problem();
  const GemmArguments arguments = gemm_arguments(problem);
  const GemmConfig& gemm = config.gemm;
  const int64_t tiles = ceil_div(arguments.m, gemm.tile.m) * ceil_div(arguments.n, gemm.tile.n) * problem.g;
  Binding binding;
  if (tiles == 0) return binding;

  Launch launch;
  launch.kernel = name_of(config);
  launch.shape.grid[0] = static_cast<uint32_t>(std::min(tiles, kMaxGrid));
  launch.shape.threads =
      static_cast<uint32_t>(gemm.warps.m * gemm.warps.n * gemm.warps.k * info_of(config.target).warp_size);
  launch.shape.shared_bytes = static_cast<uint32_t>(shared_bytes_of(config));
  set_params(launch, arguments);

  const Tensor a = problem.direction == Direction::kForward ? Tensor::kX : Tensor::kY;
  const Tensor b = problem.direction == Direction::kBackwardWeight ? Tensor::kX : Tensor::kW;
  launch.pointers.push_back({offsetof(GemmArguments, a), a, 0});
  launch.pointers.push_back({offsetof(GemmArguments, b), b, 0});
  launch.pointers.push_back({offsetof(GemmArguments, out), output_tensor(problem.direction), 0});
  if (problem.has_scales()) {
    launch.pointers.push_back({offsetof(GemmArguments, scales_a), Tensor::kXScales, 0});
    launch.pointers.push_back({offsetof(GemmArguments, scales_b), Tensor::kWScales, 0});
  }
  bind_epilogue(launch, problem, offsetof(GemmArguments, epilogue));
  binding.launches.push_back(std::move(launch));
  return with_filter_sums(config, problem, device, std::move(binding));
}

}  // namespace wt
