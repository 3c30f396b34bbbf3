// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_gather/bind.cc - launches of this kind.
#include <algorithm>
#include <cstddef>
#include <numeric>

#include "config/fields.h"
#include "kernels/beside/filter_sums.h"
#include "kernels/depthwise_gather/device/tile_shape.h"
#include "kernels/depthwise_gather/kind.h"
#include "kernels/device/direct/limits.h"
#include "kernels/shared/conv_arguments.h"
#include "kernels/shared/direct_bind.h"
#include "kernels/shared/direct_geometry.h"
#include "kernels/shared/tma_maps.h"

namespace wt {
namespace {

constexpr int64_t kMaxGrid = 0x7fffffff;
constexpr int kColumnLanes = 32;  // of a block where channels lie apart
constexpr int64_t kMostSplits = 4096;
constexpr int64_t kLeastColumns = 16;          // of a part of a row
constexpr int64_t kWorkspaceBytes = 16 << 20;  // of partial sums, about

GatherArguments gather_arguments(const ConvProblem& p) {
  const bool data = p.direction == Direction::kBackwardData;
  GatherArguments arguments{};
  arguments.from = direct_image(p, data);
  arguments.to = direct_image(p, !data);
  arguments.channels = static_cast<i32>(data ? p.c : p.k);
  arguments.multiplier = static_cast<i32>(p.k_per_group());
  for (size_t i = 0; i < 3; ++i) {
    const int64_t common = data ? std::gcd(p.stride[i], p.dilation[i]) : 1;
    arguments.filter[i] = static_cast<i32>(p.filter[i]);
    arguments.stride[i] = static_cast<i32>(p.stride[i]);
    arguments.dilation[i] = static_cast<i32>(p.dilation[i]);
    arguments.pad[i] = static_cast<i32>(p.pad_lower[i]);
    arguments.tap_step[i] = static_cast<i32>(data ? p.stride[i] / common : 1);
    arguments.position_step[i] = static_cast<i32>(data ? -p.dilation[i] / common : p.dilation[i]);
  }
  arguments.epilogue = epilogue_arguments(p);
  return arguments;
}

// As many lanes as the weights of one filter row leave room for, then as many rows as fit.
void share_weights(const KernelConfig& config, const ConvProblem& p, GatherArguments& arguments, int max_lanes) {
  const int64_t row = gather_row_bytes(config, p.filter[2], p.k_per_group());
  const auto room = static_cast<int>(std::min<int64_t>(max_lanes, kGatherSharedBytes / row));
  arguments.blocks =
      channel_blocks(arguments.channels, config.direct.vector_out, config.direct.block_size, room, size_of(p.x));
  arguments.filter_rows = static_cast<i32>(
      std::min<int64_t>(p.filter[0] * p.filter[1], kGatherSharedBytes / (row * arguments.blocks.lanes)));
}

Binding bind_data(const KernelConfig& config, const ConvProblem& problem, const ConvProblem& p) {
  const bool forward = p.direction == Direction::kForward, first = p.layout == Layout::kChannelsFirst;
  GatherArguments arguments = gather_arguments(p);
  const DirectConfig& direct = config.direct;
  share_weights(config, p, arguments, first ? 1 : 32);
  const int64_t width = arguments.to.size[2];
  arguments.lattices = static_cast<i32>(forward ? 1 : std::min<int64_t>(p.stride[2], width));
  arguments.lattice_columns = static_cast<i32>(ceil_div(width, arguments.lattices));
  arguments.column_lanes = 1;
  // WHY not where pixels slide: a thread's pixels must be neighbours.
  const bool sliding = config.fixed.stride_w == 1;
  while (first && !sliding && arguments.column_lanes < kColumnLanes &&
         arguments.column_lanes * direct.sub_w < arguments.lattice_columns)
    arguments.column_lanes *= 2;
  arguments.column_tiles =
      static_cast<i32>(ceil_div(arguments.lattice_columns, int64_t{direct.sub_w} * arguments.column_lanes));
  arguments.strips =
      p.n * arguments.to.size[0] * arguments.to.size[1] * arguments.lattices * int64_t{arguments.column_tiles};
  const int64_t slots = direct.block_size / (arguments.blocks.lanes * arguments.column_lanes);

  Launch launch;
  launch.kernel = name_of(config);
  launch.shape.grid[0] = static_cast<uint32_t>(
      std::min(kMaxGrid, ceil_div(arguments.strips, slots) * int64_t{arguments.blocks.channel_blocks}));
  launch.shape.threads = static_cast<uint32_t>(direct.block_size);
  launch.shape.shared_bytes = static_cast<uint32_t>(gather_row_bytes(config, p.filter[2], p.k_per_group()) *
                                                    arguments.blocks.lanes * arguments.filter_rows);
  if (config.direct.history) arguments.history = direct_history(problem);
  set_params(launch, arguments);
  launch.pointers.push_back({offsetof(GatherArguments, first), direct_first(p.direction), 0});
  launch.pointers.push_back({offsetof(GatherArguments, second), direct_second(p.direction), 0});
  if (config.direct.history) {
    launch.pointers.push_back(
        {offsetof(GatherArguments, history) + offsetof(DirectHistory, data), Tensor::kHistory, 0});
  }
  launch.pointers.push_back({offsetof(GatherArguments, out), output_tensor(p.direction), 0});
  bind_epilogue(launch, problem, offsetof(GatherArguments, epilogue));
  Binding binding;
  binding.launches.push_back(std::move(launch));
  return binding;
}

Binding bind_tile(const KernelConfig& config, const ConvProblem& p) {
  GatherArguments arguments = gather_arguments(p);
  const GatherTileCut cut = cut_gather_tile(config, p);
  arguments.blocks = {gather_tile::kLanes, static_cast<i32>(cut.channel_blocks)};
  arguments.column_lanes = static_cast<i32>(cut.runs);
  arguments.column_tiles = static_cast<i32>(cut.column_tiles);
  arguments.tile_rows = static_cast<i32>(cut.rows);
  arguments.row_tiles = static_cast<i32>(cut.row_tiles);

  Launch launch;
  launch.kernel = name_of(config);
  launch.shape.grid[0] = static_cast<uint32_t>(cut.grid);
  launch.shape.threads = static_cast<uint32_t>(config.direct.block_size);
  launch.shape.shared_bytes = static_cast<uint32_t>(
      gather_tile::shared_bytes(config, arguments.tile_rows, arguments.column_lanes, arguments.filter[2]));
  set_params(launch, arguments);
  launch.pointers.push_back({offsetof(GatherArguments, first), direct_first(p.direction), 0});
  launch.pointers.push_back({offsetof(GatherArguments, second), direct_second(p.direction), 0});
  launch.pointers.push_back({offsetof(GatherArguments, out), output_tensor(p.direction), 0});
  bind_epilogue(launch, p, offsetof(GatherArguments, epilogue));
  Binding binding;
  binding.launches.push_back(std::move(launch));
  return binding;
}

Binding bind_weight(const KernelConfig& config, const ConvProblem& p, const DeviceInfo& device) {
  GatherArguments arguments = gather_arguments(p);
  const DirectConfig& direct = config.direct;
  arguments.blocks = channel_blocks(p.k, direct.vector_out, direct.block_size, 32, size_of(p.x));
  arguments.tap_runs = static_cast<i32>(ceil_div(p.filter[2], direct.sub_w));
  const int64_t runs = p.filter[0] * p.filter[1] * arguments.tap_runs;
  arguments.column_lanes = static_cast<i32>(std::min<int64_t>(runs, direct.block_size / arguments.blocks.lanes));
  const int64_t slots = direct.block_size / (arguments.blocks.lanes * arguments.column_lanes);
  // Enough splits for a full wave of blocks, as far as the workspace and the sum of the parts allow; where there are
  // fewer rows, of parts of them.
  const int64_t fixed = ceil_div(runs, arguments.column_lanes) * arguments.blocks.channel_blocks;
  const int64_t wanted = std::max<int64_t>(1, int64_t{device.multiprocessors} * config.min_blocks / fixed) * slots;
  const int64_t room = std::max<int64_t>(1, kWorkspaceBytes / (p.w_elements() * static_cast<int64_t>(sizeof(float))));
  const int64_t most = std::min({wanted, room, kMostSplits}), width = arguments.to.size[2];
  const int64_t rows = std::max<int64_t>(1, p.n * arguments.to.size[0] * arguments.to.size[1]);
  const int64_t parts = std::clamp<int64_t>(ceil_div(most, rows), 1, std::max<int64_t>(1, width / kLeastColumns));
  arguments.lattice_columns = static_cast<i32>(std::max<int64_t>(1, ceil_div(width, parts)));
  arguments.column_tiles = static_cast<i32>(std::max<int64_t>(1, ceil_div(width, arguments.lattice_columns)));
  arguments.strips = p.n * arguments.to.size[0] * arguments.to.size[1] * arguments.column_tiles;
  const int64_t splits = std::clamp<int64_t>(most, 1, std::max<int64_t>(1, arguments.strips));
  arguments.rows_per_split = std::max<int64_t>(1, ceil_div(arguments.strips, splits));
  arguments.splits = static_cast<i32>(std::max<int64_t>(1, ceil_div(arguments.strips, arguments.rows_per_split)));

  Launch launch;
  launch.kernel = name_of(config);
  launch.shape.grid[0] = static_cast<uint32_t>(fixed * ceil_div(arguments.splits, slots));
  launch.shape.threads = static_cast<uint32_t>(direct.block_size);
  if (config.direct.history) arguments.history = direct_history(p);
  set_params(launch, arguments);
  launch.pointers.push_back({offsetof(GatherArguments, first), direct_first(p.direction), 0});
  launch.pointers.push_back({offsetof(GatherArguments, second), direct_second(p.direction), 0});
  if (config.direct.history) {
    launch.pointers.push_back(
        {offsetof(GatherArguments, history) + offsetof(DirectHistory, data), Tensor::kHistory, 0});
  }
  Binding binding;
  binding.launches.push_back(std::move(launch));
  bind_direct_sum(binding, config, p, offsetof(GatherArguments, out), arguments.splits);
  return binding;
}

}  // namespace

Binding depthwise_gather_kind::bind(const KernelConfig& config, const View& seen, const DeviceInfo& device, int) {
  const ConvProblem& problem = seen.problem();
  if (problem.output_elements() == 0) return {};
  // A one-dimensional problem stays along w, whose pixels a thread takes together.
  if (problem.direction == Direction::kBackwardWeight) return bind_weight(config, problem, device);
  if (config.direct.prefetch > 1) return bind_tile(config, problem);
  return with_filter_sums(config, problem, device, bind_data(config, problem, problem));
}

}  // namespace wt
