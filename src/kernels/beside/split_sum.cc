// SPDX-License-Identifier: Apache-2.0
#include "kernels/beside/split_sum.h"

#include <algorithm>
#include <cstddef>

#include "config/fields.h"
#include "kernels/beside/device/split_sum_arguments.h"
#include "kernels/shared/conv_arguments.h"
#include "kernels/shared/tma_maps.h"

namespace wt {
namespace {

// Threads that share an output's parts: more where there are too few outputs for a device's threads, and a part is read
// after the other. Each has several parts.
int sum_lanes(const KernelConfig& config, int64_t elements, int splits, const DeviceInfo& device) {
  constexpr int kLeastParts = 4, kThreadsAtOnce = 2048;  // of a multiprocessor
  if (elements % kSplitSumWidth != 0 || config.gemm.groups_per_tile > 1) return 1;
  const int64_t vectors = elements / kSplitSumWidth, room = int64_t{device.multiprocessors} * kThreadsAtOnce;
  int lanes = 1;
  while (lanes < kSplitSumLanes && splits >= 2 * lanes * kLeastParts && 2 * lanes * vectors <= room) lanes *= 2;
  return lanes;
}

}  // namespace

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
  launch.shape.programmatic = has_bulk_copies(config.target);  // as kernels/device/overlap.h has it
  arguments.lanes = sum_lanes(config, arguments.elements, splits, device);
  if (arguments.lanes > 1) launch.shape.shared_bytes = kSplitSumThreads * kSplitSumWidth * sizeof(float);
  const int64_t blocks = ceil_div(arguments.elements * arguments.lanes, kSplitSumThreads * kSplitSumWidth);
  launch.shape.grid[0] = static_cast<uint32_t>(std::min<int64_t>(blocks, int64_t{device.multiprocessors} * 8));
  set_params(launch, arguments);
  launch.pointers.push_back({offsetof(SplitSumArguments, partials), Tensor::kWorkspace, 0});
  launch.pointers.push_back({offsetof(SplitSumArguments, out), out, 0});
  bind_epilogue(launch, problem, offsetof(SplitSumArguments, epilogue));
  return launch;
}

}  // namespace wt
