// SPDX-License-Identifier: Apache-2.0
// dispatch/bind_tma_halo.cc - the launch of Hopper's 3x3 kernel that loads each patch once
// (kernel/gemm/tma/halo_kernel.h).
#include <algorithm>
#include <cstddef>

#include "config/fields.h"
#include "dispatch/bind_tma.h"
#include "dispatch/conv_arguments.h"
#include "dispatch/tma_maps.h"
#include "kernel/gemm/tma/halo_arguments.h"
#include "kernel/gemm/tma/layout.h"

namespace wt {
namespace {

TmaHaloArguments halo_arguments(const KernelConfig& config, const ConvProblem& problem) {
  const bool forward = problem.direction == Direction::kForward;
  const Spatial out = forward ? problem.out() : problem.in;
  TmaHaloArguments arguments{};
  arguments.groups = static_cast<i32>(problem.g);
  arguments.depth = static_cast<i32>(forward ? problem.c_per_group() : problem.k_per_group());
  arguments.depth_blocks = static_cast<i32>(ceil_div(arguments.depth, tma_layout::box_k(config)));
  arguments.columns = static_cast<i32>(forward ? problem.k_per_group() : problem.c_per_group());
  for (size_t i = 0; i < 2; ++i) {
    const auto pad = static_cast<i32>(problem.pad_lower[i + 1]);
    arguments.start[i] = forward ? -pad : pad - (tma_layout::kHaloFilter - 1);
    arguments.size[i] = static_cast<i32>(out[i + 1]);
  }
  arguments.filter = forward ? 0 : tma_layout::kHaloFilter * tma_layout::kHaloFilter - 1;
  arguments.filter_step = forward ? 1 : -1;
  arguments.tiles_h = static_cast<i32>(ceil_div(arguments.size[0], tma_layout::halo_tile_height(config)));
  arguments.tiles_w = static_cast<i32>(ceil_div(arguments.size[1], tma_layout::kHaloEdge));
  arguments.tiles_m = problem.n * arguments.tiles_h * arguments.tiles_w;
  arguments.tiles_n = ceil_div(arguments.columns, config.gemm.tile.n);
  const TensorStrides strides = tensor_strides(problem, forward ? Tensor::kY : Tensor::kX);
  arguments.out_stride[0] = strides.n;
  arguments.out_stride[1] = strides.spatial[1];
  arguments.out_stride[2] = strides.spatial[2];
  arguments.epilogue = epilogue_arguments(problem.epilogue);
  return arguments;
}

}  // namespace

Binding bind_tma_halo(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device) {
  const TmaHaloArguments arguments = halo_arguments(config, problem);
  const int64_t tiles = arguments.tiles_m * arguments.tiles_n * problem.g;
  Binding binding;
  if (tiles == 0) return binding;

  const bool forward = problem.direction == Direction::kForward;
  const Spatial image = forward ? problem.in : problem.out();
  TensorMapSpec patch =
      dense_map(forward ? problem.x : problem.y, {forward ? problem.c : problem.k, image[2], image[1], problem.n}, 128);
  patch.box = {static_cast<uint32_t>(tma_layout::box_k(config)), static_cast<uint32_t>(tma_layout::kHaloPitch),
               static_cast<uint32_t>(tma_layout::halo_patch_height(config)), 1};
  Launch launch;
  launch.kernel = name_of(config);
  launch.maps.push_back({offsetof(TmaHaloArguments, a), forward ? Tensor::kX : Tensor::kY, 0, patch});
  launch.maps.push_back({offsetof(TmaHaloArguments, b), Tensor::kW, 0, filter_map(config, problem)});
  launch.pointers.push_back({offsetof(TmaHaloArguments, y), output_tensor(problem.direction), 0});
  bind_epilogue(launch, problem, offsetof(TmaHaloArguments, epilogue));
  launch.shape.grid[0] =
      static_cast<uint32_t>(std::min<int64_t>(tiles, int64_t{device.multiprocessors} * config.min_blocks));
  launch.shape.threads = static_cast<uint32_t>(tma_layout::threads(config));
  launch.shape.shared_bytes = static_cast<uint32_t>(tma_layout::shared_bytes(config));
  set_params(launch, arguments);
  binding.launches.push_back(std::move(launch));
  return binding;
}

}  // namespace wt
