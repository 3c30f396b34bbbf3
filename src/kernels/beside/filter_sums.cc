// SPDX-License-Identifier: Apache-2.0
#include "kernels/beside/filter_sums.h"

#include <algorithm>
#include <cstddef>

#include "base/check.h"
#include "base/integers.h"
#include "config/fields.h"
#include "config/targets.h"
#include "kernels/beside/device/filter_sums_arguments.h"
#include "kernels/shared/conv_arguments.h"

namespace wt {

Binding with_filter_sums(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device,
                         Binding binding) {
  if (!config.epilogue.x_zero || binding.launches.empty()) return binding;
  WT_CHECK(binding.workspace_bytes == 0, "{} needs the workspace for more than its filter's sums", name_of(config));
  const ConvShape shape = conv_shape(problem);
  const TensorStrides w = tensor_strides(problem, Tensor::kW);
  FilterSumsArguments arguments{};
  arguments.correction = correction_of(problem);
  arguments.x_zero = problem.x_zero;
  arguments.channels = shape.c;
  arguments.outputs = static_cast<i32>(problem.k);
  arguments.filter_step = w.n;
  arguments.channel_step = w.channel;
  for (int i = 0; i < 3; ++i) {
    arguments.in[i] = shape.in[i], arguments.out[i] = shape.out[i], arguments.filter[i] = shape.filter[i];
    arguments.stride[i] = shape.stride[i], arguments.dilation[i] = shape.dilation[i], arguments.pad[i] = shape.pad[i];
    arguments.tap_step[i] = w.spatial[i];
    arguments.classes[i] = correction_classes(arguments.correction, i, shape.out[i]);
  }
  const i32* classes = arguments.classes;
  const int64_t entries = int64_t{classes[0]} * classes[1] * classes[2] * problem.k;
  const int64_t warps = kFilterSumsThreads / info_of(config.target).warp_size;

  Launch sums;
  sums.kernel = name_of(config) + kFilterSumsSuffix;
  sums.shape.threads = kFilterSumsThreads;
  sums.shape.grid[0] =
      static_cast<uint32_t>(std::min<int64_t>(ceil_div(entries, warps), int64_t{device.multiprocessors} * 16));
  set_params(sums, arguments);
  sums.pointers.push_back({offsetof(FilterSumsArguments, w), Tensor::kW, 0});
  sums.pointers.push_back({offsetof(FilterSumsArguments, table), Tensor::kWorkspace, 0});
  binding.launches.insert(binding.launches.begin(), std::move(sums));
  binding.workspace_bytes = entries * static_cast<int64_t>(sizeof(i32));
  return binding;
}

void add_filter_sums_entry(const KernelConfig& config, std::vector<LaunchEntry>& list) {
  if (config.epilogue.x_zero) list.push_back({kFilterSumsSuffix, "wt::FilterSums"});
}

}  // namespace wt
