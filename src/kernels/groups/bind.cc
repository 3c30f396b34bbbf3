// SPDX-License-Identifier: Apache-2.0
// kernels/groups/bind.cc - launches of this kind.
#include <cstddef>

#include "config/fields.h"
#include "kernels/device/reciprocal.h"
#include "kernels/groups/device/shape.h"
#include "kernels/groups/kind.h"
#include "kernels/shared/conv_arguments.h"
#include "kernels/shared/direct_bind.h"
#include "kernels/shared/direct_geometry.h"

namespace wt {

Binding groups_kind::bind(const KernelConfig& config, const View& seen, const DeviceInfo& device, int) {
  const ConvProblem& problem = seen.problem();
  if (problem.output_elements() == 0) return {};
  const bool data = problem.direction == Direction::kBackwardData;
  const bool weight = problem.direction == Direction::kBackwardWeight;
  const GroupsCut cut = cut_groups(config, problem, device.multiprocessors);
  GroupsArguments arguments{};
  arguments.from = direct_image(problem, data);
  arguments.to = direct_image(problem, !data);
  arguments.channels = static_cast<i32>(problem.c);
  arguments.channels_per_group = static_cast<i32>(problem.c_per_group());
  const auto pad_h = static_cast<i32>(problem.pad_lower[1]), pad_w = static_cast<i32>(problem.pad_lower[2]);
  if (data) {
    // Steps count padded rows of dx by the stride, from the one that the first row of dx lies in.
    const i32 step_h = config.fixed.stride_h, step_w = config.fixed.stride_w;
    arguments.in_row = pad_h / step_h - (groups::reach_rows(config) - 1);
    arguments.in_column = pad_w / step_w - (groups::reach_cols(config) - 1);
    arguments.out_row = pad_h / step_h * step_h - pad_h;
    arguments.out_column = pad_w / step_w * step_w - pad_w;
  } else {
    arguments.in_row = -pad_h;
    arguments.in_column = -pad_w;
  }
  arguments.columns = static_cast<i32>(cut.columns);
  arguments.group_segments = static_cast<i32>(cut.group_segments);
  arguments.segment_tiles = static_cast<i32>(cut.segment_tiles);
  arguments.segments = static_cast<i32>(cut.segments);
  arguments.height = static_cast<i32>(cut.height);
  arguments.window_reciprocal = reciprocal_of(groups::window(config, arguments.columns) * groups::in_cols(config));
  arguments.width_reciprocal = reciprocal_of(arguments.columns * groups::out_cols(config));
  arguments.channel_blocks = static_cast<i32>(cut.channel_blocks);
  arguments.rows = static_cast<i32>(cut.rows);
  arguments.rows_per_block = static_cast<i32>(cut.rows_per_block);
  arguments.range_rows = static_cast<i32>(cut.range_rows);
  arguments.epilogue = epilogue_arguments(problem);

  Launch launch;
  launch.kernel = name_of(config);
  launch.shape.grid[0] = static_cast<uint32_t>(cut.grid / cut.range_blocks);
  launch.shape.grid[1] = static_cast<uint32_t>(cut.range_blocks);
  launch.shape.threads = static_cast<uint32_t>(config.direct.block_size);
  const i32 positions = groups::window(config, arguments.columns) * arguments.group_segments;
  launch.shape.shared_bytes = static_cast<uint32_t>(groups::shared_bytes(config, positions));
  set_params(launch, arguments);
  launch.pointers.push_back({offsetof(GroupsArguments, first), direct_first(problem.direction), 0});
  launch.pointers.push_back({offsetof(GroupsArguments, second), direct_second(problem.direction), 0});
  if (!weight) {
    launch.pointers.push_back({offsetof(GroupsArguments, out), output_tensor(problem.direction), 0});
    bind_epilogue(launch, problem, offsetof(GroupsArguments, epilogue));
  }
  Binding binding;
  binding.launches.push_back(std::move(launch));
  if (weight) bind_direct_sum(binding, config, problem, offsetof(GroupsArguments, out), cut.grid / cut.channel_blocks);
  return binding;
}

}  // namespace wt
