// SPDX-License-Identifier: Apache-2.0
// kernels/tma_weight/bind.cc - launches of Hopper's weight gradient: one, or partial sums and the launch that adds
// them. Kind tcgen05 has them too.
#include <algorithm>
#include <cstddef>
#include <optional>

#include "config/fields.h"
#include "kernels/beside/device/split_sum_arguments.h"
#include "kernels/beside/merge_groups.h"
#include "kernels/beside/part_sum.h"
#include "kernels/beside/split_sum.h"
#include "kernels/beside/stream_sum.h"
#include "kernels/shared/cache_policy.h"
#include "kernels/shared/conv_arguments.h"
#include "kernels/shared/split.h"
#include "kernels/shared/tma_maps.h"
#include "kernels/tcgen05/device/layout.h"
#include "kernels/tcgen05/kind.h"
#include "kernels/tma/bind.h"
#include "kernels/tma/cost.h"
#include "kernels/tma/device/layout.h"
#include "kernels/tma/seen.h"
#include "kernels/tma_weight/device/arguments.h"
#include "kernels/tma_weight/device/part.h"
#include "kernels/tma_weight/kind.h"
#include "problem/image_line.h"

namespace wt {
namespace {

// tile.k pixels as steps of the walk (n, d, h, w), so that the kernel moves on by addition with carry.
void set_advance(TmaWeightArguments& arguments, int64_t depth) {
  for (int i = 3; i > 0; --i) {
    arguments.advance[i] = static_cast<i32>(depth % arguments.size[i - 1]);
    depth /= arguments.size[i - 1];
  }
  arguments.advance[0] = static_cast<i32>(depth);
}

TmaWeightArguments weight_arguments(const KernelConfig& config, const ConvProblem& problem) {
  const GemmConfig& gemm = config.gemm;
  TmaWeightArguments arguments{};
  arguments.pixels = problem.n * pixels(problem.out());
  arguments.pixel_blocks = static_cast<i32>(ceil_div(arguments.pixels, gemm.tile.k));
  arguments.groups = static_cast<i32>(problem.g);
  arguments.rows = static_cast<i32>(problem.k_per_group());
  arguments.channels = static_cast<i32>(problem.c_per_group());
  arguments.channel_blocks = static_cast<i32>(ceil_div(problem.c_per_group(), tma_layout::box_k(config)));
  arguments.copied_rows = tma_layout::copied_channels(config, arguments.rows);
  arguments.copied_channels = tma_layout::copied_channels(config, arguments.channels);
  const bool tensor = tma_layout::on_tensor(config);
  arguments.copied_blocks = tensor ? tcgen05_layout::copied_blocks(config, arguments.rows) : 0;
  const bool few = tensor && arguments.copied_blocks * tma_layout::box_k(config) < tcgen05_layout::kRows;
  const int copied_m = few ? arguments.copied_blocks * tma_layout::box_k(config) : gemm.tile.m;
  arguments.copied_bytes = (copied_m * arguments.copied_rows + gemm.tile.n * arguments.copied_channels) * gemm.tile.k /
                           tma_layout::box_k(config) * size_of(operand_a(config));
  arguments.taps = static_cast<i32>(pixels(problem.filter));
  for (size_t i = 0; i < 3; ++i) {
    arguments.filter[i] = static_cast<i32>(problem.filter[i]);
    const ImageLine line = image_line(problem, static_cast<int>(i));
    arguments.dilation[i] = static_cast<i32>(line.tap_step);
    arguments.size[i] = static_cast<i32>(problem.out()[i]);
    arguments.start[i] = static_cast<i32>(line.start);
    arguments.step[i] = static_cast<i32>(line.step);
  }
  set_advance(arguments, gemm.tile.k);
  arguments.tiles_m = ceil_div(arguments.rows, gemm.tile.m * gemm.cluster_m) * gemm.cluster_m;
  arguments.tiles_n = ceil_div(int64_t{arguments.channel_blocks} * arguments.taps,
                               gemm.tile.n / tma_layout::box_k(config) * gemm.cluster_n) *
                      gemm.cluster_n;
  arguments.elements = problem.w_elements();
  arguments.epilogue = epilogue_arguments(problem);
  return arguments;
}

Image image_of(const ConvProblem& problem) {
  Image image{problem.x, problem.c, problem.in};
  for (size_t i = 0; i < 3; ++i) {
    const ImageLine line = image_line(problem, static_cast<int>(i));
    image.seen.first[i] = line.first;
    image.seen.apart[i] = line.apart;
  }
  return image;
}

}  // namespace

Binding bind_gradient(const KernelConfig& config, const View& seen, const DeviceInfo& device, int splits) {
  const GemmConfig& gemm = config.gemm;
  const ConvProblem& whole = seen.problem();
  const ConvProblem& problem = seen.merged(gemm.groups_per_tile).problem();
  TmaWeightArguments arguments = weight_arguments(config, problem);
  arguments.policy = image_policy(whole, device);
  const int64_t tiles = arguments.tiles_m * arguments.tiles_n * problem.g;
  const bool split = gemm.split_k == SplitK::kWorkspace, cluster_sum = gemm.split_k == SplitK::kCluster;
  const bool atomic = gemm.split_k == SplitK::kAtomic;
  const bool tensor = tma_layout::on_tensor(config);
  const int64_t wanted = cluster_sum ? (tensor ? tcgen05_kind::planned_members(config, seen, splits)
                                               : tma_model::best_members(config, seen, splits))
                         : split || atomic
                             ? split_count(seen, split_input(config, tiles, arguments.pixel_blocks,
                                                             device.multiprocessors, arguments.elements, splits))
                             : 1;
  arguments.blocks_per_split = static_cast<i32>(std::max<int64_t>(1, ceil_div(arguments.pixel_blocks, wanted)));
  arguments.splits = static_cast<i32>(
      cluster_sum ? wanted : std::max<int64_t>(1, ceil_div(arguments.pixel_blocks, arguments.blocks_per_split)));

  Launch launch;
  launch.kernel = name_of(config);
  TensorMapSpec dy = dense_map(problem.y, {problem.k, arguments.pixels}, 128);
  dy.box = {static_cast<uint32_t>(arguments.copied_rows), static_cast<uint32_t>(gemm.tile.k)};
  if (problem.n > 0) {
    launch.maps.push_back({offsetof(TmaWeightArguments, dy), Tensor::kY, 0, dy});
    const Walk walk{arguments.size, arguments.start, arguments.step};
    const Image image = image_of(problem);
    TensorMapSpec x = gemm.loader_b == Loader::kTmaTiled
                          ? dense_map(problem.x, {problem.c, arguments.pixels}, 128)
                          : im2col_map(problem, image, walk, 128, arguments.copied_channels, gemm.tile.k);
    if (gemm.loader_b == Loader::kTmaTiled)
      x.box = {static_cast<uint32_t>(arguments.copied_channels), static_cast<uint32_t>(gemm.tile.k)};
    launch.maps.push_back({offsetof(TmaWeightArguments, x), Tensor::kX, first_byte(image), x});
  }
  const int64_t most = int64_t{device.multiprocessors} * config.min_blocks;
  const bool stream = gemm.stream_k != StreamK::kOff;
  if (stream) arguments.stream = planned_stream(tiles, std::max(1, arguments.pixel_blocks), most);
  Binding binding;
  binding.parts = arguments.splits;
  binding.stream = for_people(arguments.stream);
  if (stream) {
    binding.workspace_bytes = stream_bytes(config, arguments.stream);
    if (arguments.stream.divides())
      launch.pointers.push_back({offsetof(TmaWeightArguments, partials), Tensor::kWorkspace, 0});
  }
  if (split) {
    if (weight_part::serves(config)) {
      set_parts(arguments, binding, tiles * weight_part::tile_vectors(config), device);
    } else {
      binding.workspace_bytes = arguments.splits * arguments.elements * static_cast<int64_t>(sizeof(float));
    }
    launch.pointers.push_back({offsetof(TmaWeightArguments, partials), Tensor::kWorkspace, 0});
  } else if (atomic) {
    binding.workspace_bytes = arguments.elements * static_cast<int64_t>(sizeof(float));
    launch.zeros.push_back({Tensor::kWorkspace, 0, static_cast<uint64_t>(binding.workspace_bytes)});
    launch.pointers.push_back({offsetof(TmaWeightArguments, partials), Tensor::kWorkspace, 0});
  } else {
    launch.pointers.push_back({offsetof(TmaWeightArguments, dw), Tensor::kW, 0});
    if (gemm.staging == Staging::kTmaStore) {
      const int wide = tma_layout::out_box_columns(config);
      TensorMapSpec out =
          dense_map(problem.w, {arguments.channels, arguments.taps, arguments.rows}, wide * size_of(problem.w));
      out.box = {static_cast<uint32_t>(wide), 1, 64};
      launch.maps.push_back({offsetof(TmaWeightArguments, out), Tensor::kW, 0, out});
    }
    bind_epilogue(launch, problem, offsetof(TmaWeightArguments, epilogue));
  }
  const int members =
      cluster_sum ? arguments.splits : tma_layout::sharing_blocks(config) * tma_layout::tile_blocks(config);
  const int64_t work = cluster_sum ? tiles : tiles * arguments.splits / tma_layout::sharing_blocks(config);
  const int64_t at_once = members > 1 ? resident_clusters(most, members) : most;
  launch.shape.grid[0] = static_cast<uint32_t>(stream ? arguments.stream.blocks : std::min(work, at_once) * members);
  launch.shape.cluster[0] = static_cast<uint32_t>(members);
  launch.shape.threads = static_cast<uint32_t>(tma_layout::threads(config));
  launch.shape.shared_bytes =
      static_cast<uint32_t>(tensor ? tcgen05_layout::shared_bytes(config) : tma_layout::shared_bytes(config));
  set_params(launch, arguments);
  if (stream) {
    const std::optional<Launch> sum = stream_sum_launch(config, launch, arguments.stream);
    binding.launches.push_back(std::move(launch));
    if (sum) binding.launches.push_back(*sum);
    return binding;
  }
  binding.launches.push_back(std::move(launch));
  if (weight_part::serves(config)) {
    binding.launches.push_back(part_sum_launch(config, whole, arguments, tiles * weight_part::tile_vectors(config)));
  } else if (split || atomic) {
    binding.launches.push_back(split_sum_launch(config, whole, device, atomic ? 1 : arguments.splits));
  }
  return binding;
}

Binding tma_weight_kind::bind(const KernelConfig& config, const View& asked, const DeviceInfo& device, int splits) {
  return bind_seen(config, asked, device,
                   [&](const View& seen) { return bind_gradient(config, seen, device, splits); });
}

}  // namespace wt
