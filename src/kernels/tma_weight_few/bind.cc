// SPDX-License-Identifier: Apache-2.0
// kernels/tma_weight_few/bind.cc - launches of Hopper's weight gradient of few output channels
// (kernels/tma_weight_few/device/kernel.h), and of the sum of its parts.
#include <algorithm>
#include <cstddef>

#include "config/fields.h"
#include "kernels/beside/part_sum.h"
#include "kernels/shared/conv_arguments.h"
#include "kernels/shared/tma_maps.h"
#include "kernels/tma/bind.h"
#include "kernels/tma_weight/device/part.h"
#include "kernels/tma_weight_few/device/arguments.h"
#include "kernels/tma_weight_few/kind.h"
#include "kernels/tma_weight_few/view.h"

namespace wt {

Binding tma_weight_few_kind::bind(const KernelConfig& config, const View& seen, const DeviceInfo& device, int splits) {
  const ConvProblem& problem = seen.problem();
  using Arguments = TmaWeightFewArguments;
  const WeightFewView view = weight_few_view(config, seen, splits);
  Arguments arguments{};
  arguments.pixel_blocks = static_cast<i32>(view.blocks);
  arguments.blocks_per_split = static_cast<i32>(view.blocks_per_split);
  arguments.tap_groups = static_cast<i32>(view.tap_groups);
  arguments.channel_blocks = static_cast<i32>(view.channel_blocks);
  arguments.rows = static_cast<i32>(problem.k);
  arguments.channels = static_cast<i32>(problem.c);
  for (size_t i = 0; i < 2; ++i) {
    arguments.size[i] = static_cast<i32>(problem.in[i + 1]);
    arguments.out[i] = static_cast<i32>(problem.out()[i + 1]);
    arguments.pad[i] = static_cast<i32>(problem.pad_lower[i + 1]);
  }
  arguments.tiles_h = static_cast<i32>(view.tiles_h);
  arguments.tiles_w = static_cast<i32>(view.tiles_w);
  arguments.vectors = static_cast<i32>(problem.k / config.gemm.vector_a);
  arguments.splits = static_cast<i32>(view.splits);
  arguments.epilogue = epilogue_arguments(problem);
  Binding binding;
  binding.parts = arguments.splits;
  set_parts(arguments, binding, view.tiles() * weight_part::tile_vectors(config), device);

  Launch launch;
  launch.kernel = name_of(config);
  if (problem.n > 0) {
    TensorMapSpec map =
        dense_map(problem.x, {problem.c, problem.in[2], problem.in[1], problem.n}, config.gemm.swizzle_b);
    map.box = {weight_few::kBox, weight_few::kEdge, static_cast<uint32_t>(weight_few::tile_height(config)), 1, 1};
    launch.maps.push_back({offsetof(Arguments, x), Tensor::kX, 0, map});
    launch.pointers.push_back({offsetof(Arguments, dy), Tensor::kY, 0});
  }
  launch.pointers.push_back({offsetof(Arguments, partials), Tensor::kWorkspace, 0});
  launch.shape.grid[0] = static_cast<uint32_t>(view.tiles() * view.splits);
  launch.shape.threads = static_cast<uint32_t>(tma_layout::threads(config));
  launch.shape.shared_bytes = static_cast<uint32_t>(weight_few::shared_bytes(config));
  set_params(launch, arguments);
  binding.launches.push_back(std::move(launch));
  binding.launches.push_back(
      part_sum_launch(config, problem, arguments, view.tiles() * weight_part::tile_vectors(config)));
  return binding;
}

}  // namespace wt
