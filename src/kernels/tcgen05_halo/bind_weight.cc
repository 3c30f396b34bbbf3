// SPDX-License-Identifier: Apache-2.0
// kernels/tcgen05_halo/bind_weight.cc - launches of Blackwell's weight gradients with patches
// (device/weight_kernel.h), and of the sum of their parts.
#include <algorithm>
#include <cstddef>

#include "base/check.h"
#include "base/integers.h"
#include "config/fields.h"
#include "kernels/beside/split_sum.h"
#include "kernels/shared/cache_policy.h"
#include "kernels/shared/conv_arguments.h"
#include "kernels/tcgen05/device/layout.h"
#include "kernels/tcgen05_halo/cost.h"
#include "kernels/tcgen05_halo/device/arguments.h"
#include "kernels/tcgen05_halo/kind.h"
#include "kernels/tma_halo/bind.h"

namespace wt {
namespace {

using Arguments = Tcgen05HaloWeightArguments;

// Channels of a copy: whole vectors of 16 bytes, no more than a box.
int copied(int box, int64_t channels) { return static_cast<int>(std::min<int64_t>(box, ceil_div(channels, 8) * 8)); }

Arguments arguments_of(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device) {
  const tcgen05_halo_model::GradientTiles tiles = tcgen05_halo_model::gradient_tiles(config, problem);
  Arguments arguments{};
  arguments.groups = static_cast<i32>(problem.g);
  arguments.rows = static_cast<i32>(problem.k_per_group());
  arguments.channels = static_cast<i32>(problem.c_per_group());
  arguments.channel_blocks = static_cast<i32>(tiles.channel_blocks);
  for (size_t i = 0; i < 3; ++i) {
    arguments.filter[i] = static_cast<i32>(problem.filter[i]);
    arguments.start[i] = static_cast<i32>(-problem.pad_lower[i]);
    arguments.size[i] = static_cast<i32>(problem.out()[i]);
  }
  arguments.step[0] = static_cast<i32>(problem.dilation[0]);
  arguments.step[1] = static_cast<i32>(problem.dilation[2]);
  arguments.tiles_h = static_cast<i32>(tiles.tiles_h);
  arguments.tiles_w = static_cast<i32>(tiles.tiles_w);
  arguments.pixel_blocks = static_cast<i32>(tiles.pixel_blocks);
  arguments.tiles_m = tiles.tiles_m;
  arguments.tiles_n = tiles.tiles_n;
  arguments.elements = problem.w_elements();
  arguments.policy = image_policy(problem, device);
  arguments.epilogue = epilogue_arguments(problem);
  return arguments;
}

}  // namespace

Binding tcgen05_halo_kind::bind_gradient(const KernelConfig& config, const View& seen, const DeviceInfo& device,
                                         int splits) {
  const ConvProblem& problem = seen.problem();
  const GemmConfig& gemm = config.gemm;
  Arguments arguments = arguments_of(config, problem, device);
  const int64_t tiles = arguments.tiles_m * arguments.tiles_n * problem.g;
  const bool parts = gemm.split_k == SplitK::kWorkspace;
  const int64_t wanted = parts ? tcgen05_halo_model::gradient_splits(config, seen, splits) : 1;
  arguments.blocks_per_split = static_cast<i32>(std::max<int64_t>(1, ceil_div(arguments.pixel_blocks, wanted)));
  arguments.splits =
      static_cast<i32>(std::max<int64_t>(1, ceil_div(arguments.pixel_blocks, arguments.blocks_per_split)));
  WT_CHECK(tiles * arguments.splits < int64_t{1} << 30, "{} tiles are more than the kernels count", tiles);

  constexpr auto kEdge = static_cast<uint32_t>(tcgen05_layout::kPatchEdge);
  const auto high = static_cast<uint32_t>(gemm.tile.k / tcgen05_layout::kPatchEdge);
  const auto patch = static_cast<uint32_t>(tcgen05_layout::patch_copy_rows(config));
  const auto channels = static_cast<uint32_t>(copied(tcgen05_layout::block_channels(config), arguments.channels));
  const auto rows = static_cast<uint32_t>(copied(std::min<int>(64, gemm.tile.n), arguments.rows));
  arguments.copied_bytes =
      static_cast<i32>((kEdge * patch * channels * static_cast<uint32_t>(tcgen05_layout::patch_copies(config)) +
                        kEdge * high * rows * static_cast<uint32_t>(tcgen05_layout::gradient_boxes(config))) *
                       static_cast<uint32_t>(size_of(operand_a(config))));
  Launch launch;
  launch.kernel = name_of(config);
  if (problem.n > 0) {
    TensorMapSpec dy = pixels_map({problem}, problem.y, problem.k, problem.out(), 128);
    dy.box = {rows, kEdge, high, 1, 1};
    TensorMapSpec x = pixels_map({problem}, problem.x, problem.c, problem.in, gemm.swizzle_a);
    x.box = {channels, kEdge, patch, 1, 1};
    launch.maps.push_back({offsetof(Arguments, dy), Tensor::kY, 0, dy});
    launch.maps.push_back({offsetof(Arguments, x), Tensor::kX, 0, x});
  }
  Binding binding;
  binding.parts = arguments.splits;
  if (parts) {
    binding.workspace_bytes = arguments.splits * arguments.elements * static_cast<int64_t>(sizeof(float));
    launch.pointers.push_back({offsetof(Arguments, partials), Tensor::kWorkspace, 0});
  } else {
    launch.pointers.push_back({offsetof(Arguments, dw), Tensor::kW, 0});
    bind_epilogue(launch, problem, offsetof(Arguments, epilogue));
  }
  launch.shape.grid[0] =
      static_cast<uint32_t>(std::min<int64_t>(tiles * arguments.splits, int64_t{device.multiprocessors}));
  launch.shape.threads = static_cast<uint32_t>(tcgen05_layout::threads(config));
  launch.shape.shared_bytes = static_cast<uint32_t>(tcgen05_layout::shared_bytes(config));
  set_params(launch, arguments);
  binding.launches.push_back(std::move(launch));
  if (parts) binding.launches.push_back(split_sum_launch(config, problem, device, arguments.splits));
  return binding;
}

}  // namespace wt
