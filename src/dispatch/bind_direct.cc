// SPDX-License-Identifier: Apache-2.0
#include "dispatch/bind_direct.h"

#include <algorithm>
#include <cstddef>

#include "base/check.h"
#include "config/fields.h"
#include "dispatch/conv_arguments.h"
#include "dispatch/tma_maps.h"
#include "kernel/direct/arguments.h"
#include "kernel/split_sum_arguments.h"

namespace wt {

Tensor direct_first(Direction direction) { return direction == Direction::kBackwardData ? Tensor::kY : Tensor::kX; }
Tensor direct_second(Direction direction) { return direction == Direction::kBackwardWeight ? Tensor::kY : Tensor::kW; }

void bind_direct_sum(Binding& binding, const KernelConfig& config, const ConvProblem& problem, uint32_t out,
                     int64_t splits) {
  SplitSumArguments arguments{};
  arguments.elements = problem.w_elements();
  arguments.splits = static_cast<i32>(splits);
  arguments.channel_span = problem.w_elements() / problem.k;
  arguments.channels = problem.k;
  arguments.epilogue = epilogue_arguments(problem);
  Launch launch;
  launch.kernel = name_of(config) + kSumSuffix;
  launch.shape.threads = kDirectSumThreads;
  launch.shape.shared_bytes = kDirectSumThreads * sizeof(float);
  launch.shape.programmatic = config.target == Target::kSm90a;  // as kernel/direct/overlap.h has it
  launch.shape.grid[0] = static_cast<uint32_t>(ceil_div(arguments.elements, direct_sum_elements(splits)));
  set_params(launch, arguments);
  launch.pointers.push_back({offsetof(SplitSumArguments, partials), Tensor::kWorkspace, 0});
  launch.pointers.push_back({offsetof(SplitSumArguments, out), Tensor::kW, 0});
  bind_epilogue(launch, problem, offsetof(SplitSumArguments, epilogue));
  binding.launches.front().pointers.push_back({out, Tensor::kWorkspace, 0});
  binding.workspace_bytes = splits * arguments.elements * static_cast<int64_t>(sizeof(float));
  binding.launches.push_back(std::move(launch));
}

Binding bind_direct(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device) {
  if (problem.output_elements() == 0) return {};
  switch (config.direct.design) {
    case DirectDesign::kGather:
      return bind_direct_gather(config, problem, device);
    case DirectDesign::kStream:
      return bind_direct_stream(config, problem, device);
    case DirectDesign::kBanded:
      return bind_direct_banded(config, problem, device);
    case DirectDesign::kGroups:
      return bind_direct_groups(config, problem, device);
    case DirectDesign::kStacked:
      return bind_direct_stacked(config, problem, device);
  }
  WT_CHECK(false, "no launch for {}", name_of(config));
}

}  // namespace wt
