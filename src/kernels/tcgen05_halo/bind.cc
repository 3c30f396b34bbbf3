// SPDX-License-Identifier: Apache-2.0
// kernels/tcgen05_halo/bind.cc - the launch of Blackwell's kernels that load patches (device/patch_tiles.h).
#include <algorithm>
#include <cstddef>

#include "base/check.h"
#include "base/integers.h"
#include "config/fields.h"
#include "kernels/beside/split_sum.h"
#include "kernels/shared/cache_policy.h"
#include "kernels/shared/conv_arguments.h"
#include "kernels/shared/split.h"
#include "kernels/tcgen05/device/layout.h"
#include "kernels/tcgen05_halo/cost.h"
#include "kernels/tcgen05_halo/device/arguments.h"
#include "kernels/tcgen05_halo/kind.h"
#include "kernels/tma/bind.h"
#include "kernels/tma/seen.h"
#include "kernels/tma_halo/bind.h"
#include "kernels/tma_halo/view.h"

namespace wt {
namespace {

bool in_parts(const KernelConfig& config) { return config.gemm.split_k == SplitK::kWorkspace; }

Tcgen05HaloArguments arguments_of(const KernelConfig& config, const HaloView& view, const DeviceInfo& device) {
  const ConvProblem& problem = view.problem;
  const bool forward = problem.direction == Direction::kForward;
  const Spatial out = forward ? problem.out() : problem.in;
  Tcgen05HaloArguments arguments{};
  arguments.groups = static_cast<i32>(problem.g);
  arguments.depth = static_cast<i32>(forward ? problem.c_per_group() : problem.k_per_group());
  arguments.depth_blocks = static_cast<i32>(ceil_div(arguments.depth, tma_layout::box_k(config)));
  arguments.columns = static_cast<i32>(forward ? problem.k_per_group() : problem.c_per_group());
  const int channels = tma_layout::copied_depth(config, arguments.depth), blocks = tcgen05_layout::blocks(config);
  arguments.box_channels = channels;
  arguments.copied_rows = tcgen05_layout::copied_patch_rows(config, out[1]);
  arguments.patch_bytes =
      arguments.copied_rows * tcgen05_layout::pixel_pitch(config) * channels * size_of(operand_a(config));
  arguments.filter_bytes = tma_layout::b_copied_bytes(config) / tma_layout::box_k(config) * channels;
  arguments.stage_bytes = blocks * arguments.patch_bytes + tcgen05_layout::stage_boxes(config) * arguments.filter_bytes;
  arguments.images = static_cast<i32>(problem.n);
  arguments.planes = static_cast<i32>(problem.filter[0]);
  arguments.columns_w = static_cast<i32>(problem.filter[2]) / tcgen05_layout::patch_taps_w(config);
  for (size_t i = 0; i < 3; ++i) {
    const i64 reach = (problem.filter[i] - 1) * problem.dilation[i];
    arguments.start[i] = static_cast<i32>(forward ? -problem.pad_lower[i] : problem.pad_lower[i] - reach);
    arguments.size[i] = static_cast<i32>(out[i]);
  }
  arguments.step[0] = static_cast<i32>(problem.dilation[0]);
  arguments.step[1] = static_cast<i32>(problem.dilation[2]);
  arguments.filter = forward ? 0 : static_cast<i32>(problem.filter_taps()) - 1;
  arguments.filter_step = forward ? 1 : -1;
  arguments.tiles_h = static_cast<i32>(ceil_div(arguments.size[1], blocks * tcgen05_layout::kPatchHeight));
  arguments.tiles_w = static_cast<i32>(ceil_div(arguments.size[2], tcgen05_layout::kPatchEdge));
  arguments.tiles_m = problem.n * out[0] * arguments.tiles_h * arguments.tiles_w;
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
  arguments.policy = image_policy(problem, device);
  arguments.epilogue =
      in_parts(config) ? epilogue_arguments(Epilogue{}) : epilogue_arguments(problem, config.gemm.groups_per_tile);
  return arguments;
}

Binding bind_patches(const KernelConfig& config, const View& seen, const DeviceInfo& device, int splits) {
  const ConvProblem& asked = seen.problem();
  const HaloView view = halo_view(config, asked);
  const ConvProblem& problem = view.problem;
  Tcgen05HaloArguments arguments = arguments_of(config, view, device);
  const int64_t tiles = arguments.tiles_m * arguments.tiles_n * problem.g;
  Binding binding;
  if (tiles == 0) return binding;
  const bool parts = in_parts(config), cluster_sum = config.gemm.split_k == SplitK::kCluster;
  if (parts || cluster_sum)
    arguments.splits = static_cast<i32>(tcgen05_halo_model::planned_splits(config, seen, splits));
  binding.parts = arguments.splits;
  WT_CHECK(tiles * arguments.splits < int64_t{1} << 30, "{} tiles are more than the kernels count", tiles);

  const bool forward = problem.direction == Direction::kForward;
  const int swizzle = config.gemm.swizzle_a;
  Launch launch;
  launch.kernel = name_of(config);
  TensorMapSpec patch = pixels_map(view, forward ? problem.x : problem.y, forward ? problem.c : problem.k,
                                   forward ? problem.in : problem.out(), swizzle);
  patch.box = {static_cast<uint32_t>(arguments.box_channels),
               static_cast<uint32_t>(tcgen05_layout::pixel_pitch(config)), static_cast<uint32_t>(arguments.copied_rows),
               1, 1};
  launch.maps.push_back({offsetof(TmaHaloArguments, a), forward ? Tensor::kX : Tensor::kY, 0, patch});
  TensorMapSpec filter = filter_map(config, problem);
  filter.box[tma_layout::b_is_mn_major(config) ? 2 : 0] = static_cast<uint32_t>(arguments.box_channels);
  launch.maps.push_back({offsetof(TmaHaloArguments, b), Tensor::kW, 0, filter});
  if (config.gemm.staging == Staging::kTmaStore) {
    TensorMapSpec store = pixels_map(view, problem.output_type(), forward ? problem.k : problem.c,
                                     forward ? problem.out() : problem.in, 128);
    constexpr auto kEdge = static_cast<uint32_t>(tcgen05_layout::kPatchEdge);
    store.box = {64, kEdge, kEdge, 1, 1};
    const Tensor to = output_tensor(problem.direction);
    if (config.gemm.tile.n >= 64) launch.maps.push_back({offsetof(TmaHaloArguments, out), to, 0, store});
    if (config.gemm.tile.n % 64 != 0) {
      store.box[0] = static_cast<uint32_t>(config.gemm.tile.n % 64);
      launch.maps.push_back({offsetof(TmaHaloArguments, out_tail), to, 0, store});
    }
  }
  launch.pointers.push_back(
      {offsetof(TmaHaloArguments, y), parts ? Tensor::kWorkspace : output_tensor(problem.direction), 0});
  if (!parts) bind_epilogue(launch, problem, offsetof(TmaHaloArguments, epilogue));
  const int members = cluster_sum ? arguments.splits : tcgen05_layout::blocks(config);
  const int64_t at_once = members > 1 ? resident_clusters(device.multiprocessors, members)
                                      : int64_t{device.multiprocessors} * config.min_blocks;
  const int64_t work = tiles * (parts ? arguments.splits : 1);
  const int64_t clusters = tcgen05_layout::takes_clusters(config) ? work : std::min(work, at_once);
  launch.shape.grid[0] = static_cast<uint32_t>(clusters * members);
  launch.shape.cluster[0] = static_cast<uint32_t>(members);
  launch.shape.threads = static_cast<uint32_t>(tcgen05_layout::threads(config));
  launch.shape.shared_bytes = static_cast<uint32_t>(tcgen05_layout::shared_bytes(config));
  set_params(launch, arguments);
  binding.launches.push_back(std::move(launch));
  if (parts) {
    binding.launches.push_back(split_sum_launch(config, asked, device, arguments.splits));
    binding.workspace_bytes = arguments.splits * arguments.part_elements * int64_t{sizeof(float)};
  }
  return binding;
}

}  // namespace

Binding tcgen05_halo_kind::bind(const KernelConfig& config, const View& asked, const DeviceInfo& device, int splits) {
  return bind_seen(config, asked, device, [&](const View& seen) {
    return config.direction == Direction::kBackwardWeight
               ? tcgen05_halo_kind::bind_gradient(config, seen, device, splits)
               : bind_patches(config, seen, device, splits);
  });
}

}  // namespace wt
