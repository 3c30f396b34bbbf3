// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_step/bind.cc - the launch of a step kernel.
#include <algorithm>
#include <cstddef>

#include "base/integers.h"
#include "config/fields.h"
#include "kernels/depthwise_step/device/arguments.h"
#include "kernels/depthwise_step/kind.h"
#include "kernels/shared/conv_arguments.h"
#include "problem/history.h"

namespace wt {
namespace {

StepImage image_of(const Strides& strides) { return {strides.outer, strides.spatial[2], strides.channel}; }

}  // namespace

Binding depthwise_step_kind::bind(const KernelConfig& config, const View& seen, const DeviceInfo&, int) {
  const ConvProblem& p = seen.problem();
  if (p.output_elements() == 0) return {};
  StepArguments arguments{};
  arguments.from_x = image_of(x_strides(p));
  arguments.from_history = image_of(history_strides(p));
  arguments.to = image_of(y_strides(p));
  arguments.vectors = ceil_div(p.c, int64_t{config.direct.vector_out});
  arguments.threads = p.n * arguments.vectors;
  arguments.tokens = static_cast<i32>(p.in[2]);
  arguments.outputs = static_cast<i32>(p.out()[2]);
  arguments.stride = static_cast<i32>(p.stride[2]);
  arguments.taps = static_cast<i32>(p.filter[2]);
  arguments.dilation = static_cast<i32>(p.dilation[2]);
  arguments.length = static_cast<i32>(p.history_length());
  arguments.epilogue = epilogue_arguments(p);

  Launch launch;
  launch.kernel = name_of(config);
  constexpr int64_t kMostBlocks = (int64_t{1} << 31) - 1;
  launch.shape.grid[0] =
      static_cast<uint32_t>(std::min(kMostBlocks, ceil_div(arguments.threads, int64_t{config.direct.block_size})));
  launch.shape.threads = static_cast<uint32_t>(config.direct.block_size);
  set_params(launch, arguments);
  launch.pointers.push_back({offsetof(StepArguments, x), Tensor::kX, 0});
  launch.pointers.push_back({offsetof(StepArguments, history), Tensor::kHistory, 0});
  launch.pointers.push_back({offsetof(StepArguments, w), Tensor::kW, 0});
  launch.pointers.push_back({offsetof(StepArguments, y), Tensor::kY, 0});
  if (p.new_history) launch.pointers.push_back({offsetof(StepArguments, new_history), Tensor::kNewHistory, 0});
  bind_epilogue(launch, p, offsetof(StepArguments, epilogue));
  Binding binding;
  binding.launches.push_back(std::move(launch));
  return binding;
}

}  // namespace wt
