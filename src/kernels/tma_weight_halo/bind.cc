// SPDX-License-Identifier: Apache-2.0
// kernels/tma_weight_halo/bind.cc - launches of Hopper's weight gradient that loads each patch of x once for several
// taps (kernels/tma_weight_halo/device/kernel.h), and of the sum of its parts.
#include <algorithm>
#include <cstddef>

#include "config/fields.h"
#include "kernels/beside/part_sum.h"
#include "kernels/beside/whole_rows.h"
#include "kernels/shared/cache_policy.h"
#include "kernels/shared/conv_arguments.h"
#include "kernels/shared/split.h"
#include "kernels/shared/tma_maps.h"
#include "kernels/tma/bind.h"
#include "kernels/tma_weight/device/part.h"
#include "kernels/tma_weight_halo/device/arguments.h"
#include "kernels/tma_weight_halo/kind.h"
#include "kernels/tma_weight_halo/view.h"

namespace wt {
namespace {

// Where the steps of 16 pixels begin in a patch: along its rows, or, of tiles 8 pixels wide, two rows per step.
void set_steps(TmaWeightHaloArguments& arguments, const KernelConfig& config, const PixelTile& tile) {
  const int pixel = config.gemm.swizzle_b;
  arguments.row_bytes = tile.patch_w * pixel;
  arguments.tap_bytes = tile.down ? arguments.row_bytes : pixel;
  arguments.octet_bytes = !tile.rows && tile.w == 8 ? arguments.row_bytes : 8 * pixel;
  for (int step = 0; step < weight_halo::steps(config); ++step) {
    const int first = 16 * step, at = tile.rows ? first : first / tile.w * tile.patch_w + first % tile.w;
    arguments.step_at[step] = at * pixel / 16;
  }
  arguments.filled_dy = tile.h * tile.w;
  arguments.filled_x = tile.patch_h * tile.patch_w;
  arguments.clears = tile.rows;
  arguments.down = tile.down;
  arguments.tap_step[0] = weight_halo::pairs_planes(config) ? 2 : 1;
  arguments.tap_step[1] = tile.down ? weight_halo::kTaps : weight_halo::tap_rows(config);
  arguments.tap_step[2] = tile.down ? 1 : weight_halo::kTaps;
}

TmaWeightHaloArguments halo_arguments(const KernelConfig& config, const WeightHaloView& view) {
  const ConvProblem& problem = view.problem;
  TmaWeightHaloArguments arguments{};
  arguments.pixel_blocks = static_cast<i32>(view.blocks);
  arguments.groups = static_cast<i32>(problem.g);
  arguments.rows = static_cast<i32>(problem.k_per_group());
  arguments.channels = static_cast<i32>(problem.c_per_group());
  arguments.channel_blocks = static_cast<i32>(view.channel_blocks);
  for (size_t i = 0; i < 3; ++i) {
    arguments.filter[i] = static_cast<i32>(problem.filter[i]);
    arguments.tap_groups[i] = static_cast<i32>(view.tap_groups[i]);
    arguments.size[i] = static_cast<i32>(problem.out()[i]);
    arguments.start[i] = static_cast<i32>(-problem.pad_lower[i]);
  }
  arguments.size[0] = static_cast<i32>(view.planes);
  arguments.tile_h = view.tile.h;
  arguments.tile_w = view.tile.w;
  arguments.tiles_h = static_cast<i32>(view.tile.tiles_h);
  arguments.tiles_w = static_cast<i32>(view.tile.tiles_w);
  set_steps(arguments, config, view.tile);
  arguments.tiles_m = view.tiles_m;
  arguments.tiles_n = view.tiles_n;
  arguments.elements = problem.w_elements();
  arguments.epilogue = epilogue_arguments(problem);
  return arguments;
}

// A tensor in boxes of h x w pixels.
TensorMapSpec pixels_map(DataType type, int64_t channels, const Spatial& size, const ConvProblem& problem,
                         uint32_t swizzle, int copied, int h, int w) {
  TensorMapSpec map = problem.dims == 3 ? dense_map(type, {channels, size[2], size[1], size[0], problem.n}, swizzle)
                                        : dense_map(type, {channels, size[2], size[1], problem.n}, swizzle);
  map.box = {static_cast<uint32_t>(copied), static_cast<uint32_t>(w), static_cast<uint32_t>(h), 1, 1};
  return map;
}

}  // namespace

Binding tma_weight_halo_kind::bind(const KernelConfig& config, const View& seen, const DeviceInfo& device, int splits) {
  const ConvProblem& problem = seen.problem();
  using Arguments = TmaWeightHaloArguments;
  const GemmConfig& gemm = config.gemm;
  const WeightHaloView view = weight_halo_view(config, problem);
  Arguments arguments = halo_arguments(config, view);
  arguments.policy = image_policy(problem, device);
  const int64_t tiles = arguments.tiles_m * arguments.tiles_n * problem.g;
  const bool split = gemm.split_k == SplitK::kWorkspace;
  const int64_t wanted = split ? split_count(seen, split_input(config, tiles, arguments.pixel_blocks,
                                                               device.multiprocessors, arguments.elements, splits))
                               : 1;
  arguments.blocks_per_split = static_cast<i32>(std::max<int64_t>(1, ceil_div(arguments.pixel_blocks, wanted)));
  arguments.splits =
      static_cast<i32>(std::max<int64_t>(1, ceil_div(arguments.pixel_blocks, arguments.blocks_per_split)));

  const PixelTile& tile = view.tile;
  const int rows = weight_halo::copied(weight_halo::rows_of_box(config), arguments.rows);
  const int channels = weight_halo::copied(weight_halo::channels(config), arguments.channels);
  arguments.copied_bytes =
      (gemm.tile.m / weight_halo::rows_of_box(config) * arguments.filled_dy * rows + arguments.filled_x * channels) *
      size_of(operand_a(config));
  Launch launch;
  launch.kernel = name_of(config);
  if (problem.n > 0) {
    launch.maps.push_back(
        {offsetof(Arguments, dy), Tensor::kY, 0,
         pixels_map(problem.y, problem.k, view.problem.out(), problem, gemm.swizzle_a, rows, tile.h, tile.w)});
    launch.maps.push_back({offsetof(Arguments, x), Tensor::kX, 0,
                           pixels_map(problem.x, problem.c, view.problem.in, problem, gemm.swizzle_b, channels,
                                      tile.patch_h, tile.patch_w)});
  }
  Binding binding;
  binding.parts = arguments.splits;
  if (split) {
    set_parts(arguments, binding, tiles * weight_part::tile_vectors(config), device);
    launch.pointers.push_back({offsetof(Arguments, partials), Tensor::kWorkspace, 0});
  } else {
    launch.pointers.push_back({offsetof(Arguments, dw), Tensor::kW, 0});
    bind_epilogue(launch, problem, offsetof(Arguments, epilogue));
  }
  launch.shape.grid[0] =
      static_cast<uint32_t>(std::min<int64_t>(tiles * arguments.splits, int64_t{device.multiprocessors}));
  launch.shape.threads = static_cast<uint32_t>(tma_layout::threads(config));
  launch.shape.shared_bytes = static_cast<uint32_t>(weight_halo::shared_bytes(config));
  set_params(launch, arguments);
  binding.launches.push_back(std::move(launch));
  if (split)
    binding.launches.push_back(part_sum_launch(config, problem, arguments, tiles * weight_part::tile_vectors(config)));
  return tma_layout::copies_rows(config) ? with_whole_rows(config, problem, device, problem, std::move(binding))
                                         : binding;
}

}  // namespace wt
