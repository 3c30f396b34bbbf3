// SPDX-License-Identifier: Apache-2.0
#include "dispatch/bind_split_sum.h"

#include <algorithm>
#include <cstddef>

#include "config/fields.h"
#include "dispatch/conv_arguments.h"
#include "dispatch/tma_maps.h"
#include "kernel/split_sum_arguments.h"

namespace wt {

Launch split_sum_launch(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device, int splits) {
  SplitSumArguments arguments{};
  const Tensor out = output_tensor(problem.direction);
  arguments.splits = splits;
  if (out == Tensor::kW) {
    arguments.elements = problem.w_elements();
    arguments.channel_span = problem.w_elements() / problem.k;
    arguments.channels = problem.k;
  } else {  // channels-last
    arguments.elements = out == Tensor::kY ? problem.y_elements() : problem.x_elements();
    arguments.channel_span = 1;
    arguments.channels = out == Tensor::kY ? problem.k : problem.c;
  }
  arguments.taps = static_cast<i32>(pixels(problem.filter));
  arguments.group_channels = static_cast<i32>(problem.c_per_group());
  arguments.group_filters = static_cast<i32>(problem.k_per_group());
  arguments.epilogue = epilogue_arguments(problem);
  Launch launch;
  launch.kernel = name_of(config) + kSumSuffix;
  launch.shape.threads = kSplitSumThreads;
  launch.shape.programmatic = config.target == Target::kSm90a;  // as kernel/direct/overlap.h has it
  const int64_t blocks = ceil_div(arguments.elements, kSplitSumThreads * kSplitSumWidth);
  launch.shape.grid[0] = static_cast<uint32_t>(std::min<int64_t>(blocks, int64_t{device.multiprocessors} * 8));
  set_params(launch, arguments);
  launch.pointers.push_back({offsetof(SplitSumArguments, partials), Tensor::kWorkspace, 0});
  launch.pointers.push_back({offsetof(SplitSumArguments, out), out, 0});
  bind_epilogue(launch, problem, offsetof(SplitSumArguments, epilogue));
  return launch;
}

}  // namespace wt
