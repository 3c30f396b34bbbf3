// SPDX-License-Identifier: Apache-2.0
// kernels/tma_halo/bind.cc - the launch of Hopper's 3x3 kernel that loads each patch once
// (kernels/tma_halo/device/kernel.h).
#include <algorithm>
#include <cstddef>

#include "base/check.h"
#include "config/fields.h"
#include "kernels/beside/split_sum.h"
#include "kernels/shared/conv_arguments.h"
#include "kernels/shared/split.h"
#include "kernels/shared/tma_maps.h"
#include "kernels/shared/warm.h"
#include "kernels/tma/bind.h"
#include "kernels/tma/cost.h"
#include "kernels/tma/device/layout.h"
#include "kernels/tma/seen.h"
#include "kernels/tma_halo/bind.h"
#include "kernels/tma_halo/device/arguments.h"
#include "kernels/tma_halo/kind.h"
#include "kernels/tma_halo/view.h"

namespace wt {
namespace {

// The filter in copies of what is multiplied alone.
TensorMapSpec halo_filter_map(const KernelConfig& config, const ConvProblem& problem, int64_t depth) {
  TensorMapSpec map = filter_map(config, problem);
  const auto channels = static_cast<uint32_t>(tma_layout::copied_depth(config, depth));
  map.box[tma_layout::b_is_mn_major(config) ? 2 : 0] = channels;
  return map;
}

bool in_parts(const KernelConfig& config) { return config.gemm.split_k == SplitK::kWorkspace; }

// Points of the lattice instead of pixels. Output 2u + e meets tap r, of its parity, at dy's pixel u + (e + pad - r) /
// 2: the patch begins with that of the last tap.
void set_phases(TmaHaloArguments& arguments, const ConvProblem& problem) {
  for (size_t i = 1; i < 3; ++i) {
    const auto pad = static_cast<i32>(problem.pad_lower[i]);
    const i32 odd = pad & 1;
    arguments.image_size[i - 1] = static_cast<i32>(problem.in[i]);
    arguments.odd_padding[i - 1] = odd;
    arguments.size[i] = static_cast<i32>(ceil_div(problem.in[i], 2));
    arguments.start[i] = (pad + odd) / 2 - 1;
  }
  arguments.filter = 0;
  arguments.filter_step = 1;
}

TmaHaloArguments halo_arguments(const KernelConfig& config, const HaloView& view) {
  const ConvProblem& problem = view.problem;
  const bool forward = problem.direction == Direction::kForward;
  const Spatial out = forward ? problem.out() : problem.in;
  TmaHaloArguments arguments{};
  arguments.groups = static_cast<i32>(problem.g);
  arguments.depth = static_cast<i32>(forward ? problem.c_per_group() : problem.k_per_group());
  arguments.depth_blocks = static_cast<i32>(ceil_div(arguments.depth, tma_layout::box_k(config)));
  arguments.columns = static_cast<i32>(forward ? problem.k_per_group() : problem.c_per_group());
  const int channels = tma_layout::copied_depth(config, arguments.depth);
  arguments.box_channels = channels;
  arguments.images = static_cast<i32>(problem.n);
  arguments.stacked = tma_layout::halo_stacked(config, out[1], problem.n);
  const int pitch = tma_layout::halo_pitch(config);
  arguments.fragment_bytes = tma_layout::halo_fragment_rows(arguments.stacked) * pitch * config.gemm.swizzle_a;
  arguments.patch_bytes = arguments.stacked * tma_layout::halo_copied_rows(config, arguments.stacked) * pitch *
                          channels * size_of(operand_a(config));
  arguments.filter_bytes = tma_layout::b_copied_bytes(config) / tma_layout::box_k(config) * channels;
  arguments.planes = static_cast<i32>(problem.filter[0]);
  for (size_t i = 0; i < 3; ++i) {
    const auto pad = static_cast<i32>(problem.pad_lower[i]), last_tap = static_cast<i32>(problem.filter[i]) - 1;
    arguments.start[i] = forward ? -pad : pad - last_tap;
    arguments.size[i] = static_cast<i32>(out[i]);
  }
  arguments.filter = forward ? 0 : static_cast<i32>(problem.filter_taps()) - 1;
  arguments.filter_step = forward ? 1 : -1;
  if (tma_layout::halo_phased(config)) set_phases(arguments, problem);
  arguments.tiles_h = static_cast<i32>(ceil_div(arguments.size[1], tma_layout::halo_tile_height(config)));
  arguments.tiles_w = static_cast<i32>(ceil_div(arguments.size[2], tma_layout::kHaloEdge));
  arguments.tiles_m = ceil_div(problem.n, arguments.stacked) * out[0] * arguments.tiles_h * arguments.tiles_w;
  arguments.tiles_n = ceil_div(arguments.columns, config.gemm.tile.n);
  const TensorStrides strides = tensor_strides(problem, forward ? Tensor::kY : Tensor::kX);
  arguments.out_stride[0] = strides.n;
  for (size_t i = 0; i < 3; ++i) arguments.out_stride[i + 1] = strides.spatial[i];
  if (view.beside) {
    arguments.out_stride[3] = out[1] * strides.spatial[2];
    arguments.out_stride[2] = strides.spatial[2];
  }
  arguments.splits = 1;
  arguments.part_elements = forward ? problem.y_elements() : problem.x_elements();
  arguments.epilogue =
      in_parts(config) ? epilogue_arguments(Epilogue{}) : epilogue_arguments(problem, config.gemm.groups_per_tile);
  return arguments;
}

Binding bind_patches(const KernelConfig& config, const View& seen, const DeviceInfo& device, int splits) {
  const ConvProblem& asked = seen.problem();
  const HaloView view = halo_view(config, asked);
  const ConvProblem& problem = view.problem;
  TmaHaloArguments arguments = halo_arguments(config, view);
  const int64_t tiles = arguments.tiles_m * arguments.tiles_n * problem.g;
  Binding binding;
  if (tiles == 0) return binding;
  if (config.gemm.split_k != SplitK::kNone)
    arguments.splits = static_cast<i32>(tma_model::halo_splits(config, seen, splits));
  binding.parts = arguments.splits;
  WT_CHECK(tiles * arguments.splits < int64_t{1} << 30, "{} tiles are more than the kernels count", tiles);

  const bool forward = problem.direction == Direction::kForward;
  const Spatial image = forward ? problem.in : problem.out();
  const DataType type = forward ? problem.x : problem.y;
  const int64_t channels = forward ? problem.c : problem.k;
  TensorMapSpec patch = pixels_map(view, type, channels, image, 128);
  patch.box = {static_cast<uint32_t>(arguments.box_channels), static_cast<uint32_t>(tma_layout::halo_pitch(config)),
               static_cast<uint32_t>(tma_layout::halo_copied_rows(config, arguments.stacked)), 1, 1};
  patch.box[problem.dims == 3 ? 4 : 3] = static_cast<uint32_t>(arguments.stacked);
  Launch launch;
  launch.kernel = name_of(config);
  launch.maps.push_back({offsetof(TmaHaloArguments, a), forward ? Tensor::kX : Tensor::kY, 0, patch});
  TensorMapSpec filter = halo_filter_map(config, problem, arguments.depth);
  launch.maps.push_back({offsetof(TmaHaloArguments, b), Tensor::kW, 0, filter});
  if (const int tail = tma_layout::tail_columns(config)) {
    filter.box[0] = static_cast<uint32_t>(tail);
    launch.maps.push_back({offsetof(TmaHaloArguments, b_tail), Tensor::kW, 0, filter});
  }
  if (config.gemm.staging == Staging::kTmaStore) {
    const Spatial out = forward ? problem.out() : problem.in;
    const int64_t columns = forward ? problem.k : problem.c;
    TensorMapSpec store = pixels_map(view, problem.output_type(), columns, out, 128);
    const auto edge = static_cast<uint32_t>(tma_layout::kHaloEdge);
    store.box = {64, edge, edge, 1, 1};
    const Tensor to = output_tensor(problem.direction);
    if (config.gemm.tile.n >= 64) launch.maps.push_back({offsetof(TmaHaloArguments, out), to, 0, store});
    if (config.gemm.tile.n % 64 != 0) {
      store.box[0] = static_cast<uint32_t>(config.gemm.tile.n % 64);
      launch.maps.push_back({offsetof(TmaHaloArguments, out_tail), to, 0, store});
    }
  }
  // Copies in the workspace are in the L2 already.
  if (!tma_layout::copies_rows(config) && config.gemm.groups_per_tile == 1)
    arguments.warm = bind_warm(launch, problem, offsetof(TmaHaloArguments, warm));
  const bool parts = in_parts(config);
  launch.pointers.push_back(
      {offsetof(TmaHaloArguments, y), parts ? Tensor::kWorkspace : output_tensor(problem.direction), 0});
  if (!parts) bind_epilogue(launch, problem, offsetof(TmaHaloArguments, epilogue));
  const int members = config.gemm.split_k == SplitK::kCluster ? arguments.splits : 1;
  const int64_t at_once = members > 1 ? resident_clusters(device.multiprocessors, members)
                                      : int64_t{device.multiprocessors} * config.min_blocks;
  launch.shape.grid[0] = static_cast<uint32_t>(std::min(parts ? tiles * arguments.splits : tiles, at_once) * members);
  launch.shape.cluster[0] = static_cast<uint32_t>(members);
  launch.shape.threads = static_cast<uint32_t>(tma_layout::threads(config));
  launch.shape.shared_bytes = static_cast<uint32_t>(tma_layout::shared_bytes(config));
  set_params(launch, arguments);
  binding.launches.push_back(std::move(launch));
  if (parts) {
    binding.launches.push_back(split_sum_launch(config, asked, device, arguments.splits));
    binding.workspace_bytes = arguments.splits * arguments.part_elements * int64_t{sizeof(float)};
  }
  return binding;
}

}  // namespace

TensorMapSpec pixels_map(const HaloView& view, DataType type, int64_t channels, const Spatial& size, int swizzle) {
  const int64_t n = view.problem.n;
  const auto bytes = static_cast<uint32_t>(swizzle);
  if (view.problem.dims == 3) return dense_map(type, {channels, size[2], size[1], size[0], n}, bytes);
  TensorMapSpec map = dense_map(type, {channels, size[2], size[1], n}, bytes);
  if (view.beside) {
    map.stride[2] = map.stride[1];
    map.stride[1] *= static_cast<uint64_t>(size[1]);
  }
  return map;
}

Binding tma_halo_kind::bind(const KernelConfig& config, const View& asked, const DeviceInfo& device, int splits) {
  return bind_seen(config, asked, device, [&](const View& seen) { return bind_patches(config, seen, device, splits); });
}

}  // namespace wt
