// SPDX-License-Identifier: Apache-2.0
#include "kernels/shared/direct_bind.h"

#include <algorithm>
#include <cstddef>

#include "base/check.h"
#include "config/fields.h"
#include "kernels/beside/device/split_sum_arguments.h"
#include "kernels/device/direct/arguments.h"
#include "kernels/shared/conv_arguments.h"
#include "kernels/shared/tma_maps.h"

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
  launch.shape.programmatic = has_bulk_copies(config.target);  // as kernels/device/overlap.h has it
  launch.shape.grid[0] = static_cast<uint32_t>(ceil_div(arguments.elements, direct_sum_elements(splits)));
  set_params(launch, arguments);
  launch.pointers.push_back({offsetof(SplitSumArguments, partials), Tensor::kWorkspace, 0});
  launch.pointers.push_back({offsetof(SplitSumArguments, out), Tensor::kW, 0});
  bind_epilogue(launch, problem, offsetof(SplitSumArguments, epilogue));
  binding.launches.front().pointers.push_back({out, Tensor::kWorkspace, 0});
  binding.workspace_bytes = splits * arguments.elements * static_cast<int64_t>(sizeof(float));
  binding.launches.push_back(std::move(launch));
}

}  // namespace wt
