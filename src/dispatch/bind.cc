// SPDX-License-Identifier: Apache-2.0
#include "dispatch/bind.h"

#include <algorithm>
#include <cstddef>

#include "base/check.h"
#include "base/integers.h"
#include "config/fields.h"
#include "config/targets.h"
#include "dispatch/bind_direct.h"
#include "dispatch/bind_four_wave.h"
#include "dispatch/bind_portable.h"
#include "dispatch/bind_rows.h"
#include "dispatch/bind_rows_weight.h"
#include "dispatch/bind_taps.h"
#include "dispatch/bind_tma.h"
#include "dispatch/bind_wavelet.h"
#include "dispatch/conv_arguments.h"
#include "kernel/gemm/arguments.h"
#include "kernel/gemm/portable/layout.h"
#include "kernel/gemm/tma/weight_few_layout.h"
#include "kernel/gemm/tma/weight_halo_layout.h"

namespace wt {
namespace {

constexpr int64_t kMaxGrid = 0x7fffffff;

int64_t pixels(const Spatial& size) { return size[0] * size[1] * size[2]; }

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

// The generic kernel: one launch, a block a tile (kernel/gemm/basic.h).
Binding bind_basic(const KernelConfig& config, const ConvProblem& problem) {
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
  launch.shape.shared_bytes = static_cast<uint32_t>(shared_bytes(config));
  set_params(launch, arguments);

  const Tensor a = problem.direction == Direction::kForward ? Tensor::kX : Tensor::kY;
  const Tensor b = problem.direction == Direction::kBackwardWeight ? Tensor::kX : Tensor::kW;
  launch.pointers.push_back({offsetof(GemmArguments, a), a, 0});
  launch.pointers.push_back({offsetof(GemmArguments, b), b, 0});
  launch.pointers.push_back({offsetof(GemmArguments, out), output_tensor(problem.direction), 0});
  bind_epilogue(launch, problem, offsetof(GemmArguments, epilogue));
  binding.launches.push_back(std::move(launch));
  return binding;
}

}  // namespace

Tensor output_tensor(Direction direction) {
  switch (direction) {
    case Direction::kForward:
      return Tensor::kY;
    case Direction::kBackwardData:
      return Tensor::kX;
    case Direction::kBackwardWeight:
      return Tensor::kW;
  }
  return Tensor::kY;
}

Binding bind(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device) {
  if (config.family == Family::kDirect) return bind_direct(config, problem, device);
  if (portable_layout::serves(config)) return bind_portable(config, problem, device);
  switch (config.gemm.pipeline) {
    case Pipeline::kBasicV1:
      return bind_basic(config, problem);
    case Pipeline::kFourWave:
      return bind_four_wave(config, problem);
    case Pipeline::kTma:
      if (weight_few::serves(config)) return bind_tma_weight_few(config, problem, device);
      if (weight_halo::serves(config)) return bind_tma_weight_halo(config, problem, device);
      return bind_tma(config, problem, device);
    case Pipeline::kTaps:
      return bind_taps(config, problem, device);
    case Pipeline::kRows:
      return config.direction == Direction::kBackwardWeight ? bind_rows_weight(config, problem, device)
                                                            : bind_rows(config, problem, device);
    case Pipeline::kWavelet:
      return bind_wavelet(config, problem, device);
    default:
      WT_CHECK(false, "no launch for {}", name_of(config));
  }
}

}  // namespace wt
