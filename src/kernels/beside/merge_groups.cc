// SPDX-License-Identifier: Apache-2.0
#include "kernels/beside/merge_groups.h"

#include <algorithm>
#include <cstddef>

#include "base/check.h"
#include "config/fields.h"
#include "kernels/beside/device/merge_groups_arguments.h"
#include "kernels/shared/conv_arguments.h"
#include "kernels/shared/tma_maps.h"

namespace wt {

Binding with_merged_filter(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device,
                           Binding binding) {
  if (binding.launches.empty()) return binding;
  WT_CHECK(binding.workspace_bytes == 0, "{} needs the workspace for more than its filter", name_of(config));
  MergeGroupsArguments arguments{};
  arguments.elements = problem.w_elements() * config.gemm.groups_per_tile;
  arguments.taps = static_cast<i32>(pixels(problem.filter));
  arguments.channels = static_cast<i32>(problem.c_per_group());
  arguments.filters = static_cast<i32>(problem.k_per_group());
  arguments.per_merged = config.gemm.groups_per_tile;

  Launch merge;
  merge.kernel = name_of(config) + kMergeSuffix;
  merge.shape.threads = kMergeThreads;
  merge.shape.grid[0] = static_cast<uint32_t>(
      std::min<int64_t>(ceil_div(arguments.elements, kMergeThreads), int64_t{device.multiprocessors} * 8));
  set_params(merge, arguments);
  merge.pointers.push_back({offsetof(MergeGroupsArguments, w), Tensor::kW, 0});
  merge.pointers.push_back({offsetof(MergeGroupsArguments, merged), Tensor::kWorkspace, 0});

  for (Launch& launch : binding.launches) {
    for (Launch::Map& map : launch.maps) {
      if (map.tensor == Tensor::kW) map.tensor = Tensor::kWorkspace;
    }
    for (Launch::Pointer& pointer : launch.pointers) {
      if (pointer.tensor == Tensor::kW) pointer.tensor = Tensor::kWorkspace;
    }
  }
  binding.launches.insert(binding.launches.begin(), std::move(merge));
  binding.workspace_bytes = arguments.elements * size_of(problem.w);
  return binding;
}

}  // namespace wt
