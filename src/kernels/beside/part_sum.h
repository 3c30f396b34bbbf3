// SPDX-License-Identifier: Apache-2.0
// kernels/beside/part_sum.h - the launch that adds the parts of Hopper's weight gradients
// (kernels/device/gemm/part_sum.h). It takes the parameter block of the launch that leaves them.
#pragma once

#include <cstddef>

#include "config/fields.h"
#include "kernels/beside/device/split_sum_arguments.h"
#include "kernels/device/gemm/part_sum_layout.h"
#include "kernels/shared/conv_arguments.h"
#include "launch/binding.h"

namespace wt {

// Parts of so many vectors: the workspace they take, and how threads share them.
template <class Arguments>
void set_parts(Arguments& arguments, Binding& binding, int64_t vectors, const DeviceInfo& device) {
  binding.workspace_bytes = arguments.splits * vectors * 16;
  arguments.sum_slices = part_sum::slices(vectors, arguments.splits, device.multiprocessors);
}

template <class Arguments>
Launch part_sum_launch(const KernelConfig& config, const ConvProblem& problem, const Arguments& arguments,
                       int64_t vectors) {
  Launch sum;
  sum.kernel = name_of(config) + kSumSuffix;
  sum.pointers.push_back({offsetof(Arguments, partials), Tensor::kWorkspace, 0});
  sum.pointers.push_back({offsetof(Arguments, dw), Tensor::kW, 0});
  bind_epilogue(sum, problem, offsetof(Arguments, epilogue));
  sum.shape.grid[0] = static_cast<uint32_t>(vectors * arguments.sum_slices / part_sum::kThreads);
  sum.shape.threads = part_sum::kThreads;
  if (arguments.sum_slices > 1) sum.shape.shared_bytes = part_sum::kThreads * 16;
  sum.shape.programmatic = true;  // as kernels/device/overlap.h has it
  set_params(sum, arguments);
  return sum;
}

}  // namespace wt
