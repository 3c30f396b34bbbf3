// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_stream/bind.cc - launches of this kind.
#include <cstddef>

#include "config/fields.h"
#include "kernels/depthwise_stream/device/shape.h"
#include "kernels/depthwise_stream/kind.h"
#include "kernels/shared/conv_arguments.h"
#include "kernels/shared/direct_bind.h"
#include "kernels/shared/direct_geometry.h"

namespace wt {

Binding depthwise_stream_kind::bind(const KernelConfig& config, const View& seen, const DeviceInfo& device, int) {
  const ConvProblem& problem = seen.problem();
  if (problem.output_elements() == 0) return {};
  const ConvProblem p = turned(problem);
  const bool weight = p.direction == Direction::kBackwardWeight, data = p.direction == Direction::kBackwardData;
  const StreamCut cut = cut_stream(config, p, device.multiprocessors);
  StreamArguments arguments{};
  arguments.from = direct_image(p, data);
  arguments.to = direct_image(p, !data);
  arguments.channels = static_cast<i32>(p.c);
  for (size_t i = 0; i < 3; ++i) arguments.pad[i] = static_cast<i32>(p.pad_lower[i]);
  arguments.stride_d = static_cast<i32>(p.stride[0]);
  arguments.dilation_d = static_cast<i32>(p.dilation[0]);
  arguments.filter_d = static_cast<i32>(p.filter[0]);
  arguments.blocks = cut.blocks;
  arguments.rows = static_cast<i32>(cut.rows);
  arguments.row_tiles = static_cast<i32>(cut.row_tiles);
  arguments.column_tiles = static_cast<i32>(cut.column_tiles);
  arguments.strips = cut.strips;
  arguments.splits = static_cast<i32>(cut.splits);
  arguments.epilogue = epilogue_arguments(problem);

  Launch launch;
  launch.kernel = name_of(config);
  launch.shape.grid[0] = static_cast<uint32_t>(cut.grid);
  launch.shape.threads = static_cast<uint32_t>(config.direct.block_size);
  launch.shape.shared_bytes = static_cast<uint32_t>(stream_shared_bytes(config, cut.blocks.lanes, arguments.filter_d));
  if (config.direct.history) arguments.history = direct_history(problem);
  set_params(launch, arguments);
  launch.pointers.push_back({offsetof(StreamArguments, first), direct_first(p.direction), 0});
  launch.pointers.push_back({offsetof(StreamArguments, second), direct_second(p.direction), 0});
  if (config.direct.history) {
    launch.pointers.push_back(
        {offsetof(StreamArguments, history) + offsetof(DirectHistory, data), Tensor::kHistory, 0});
  }
  Binding binding;
  if (!weight) {
    launch.pointers.push_back({offsetof(StreamArguments, out), output_tensor(p.direction), 0});
    bind_epilogue(launch, problem, offsetof(StreamArguments, epilogue));
  }
  binding.launches.push_back(std::move(launch));
  if (weight) bind_direct_sum(binding, config, problem, offsetof(StreamArguments, out), cut.splits);
  return binding;
}

}  // namespace wt
