// SPDX-License-Identifier: Apache-2.0
// dispatch/bind_weight_sum.h - the launch that adds the parts of Hopper's weight gradients
// (kernel/gemm/tma/weight_sum.h). It takes the parameter block of the launch that leaves them.
#pragma once

#include <cstddef>

#include "config/fields.h"
#include "dispatch/bind.h"
#include "dispatch/conv_arguments.h"
#include "dispatch/tma_maps.h"
#include "kernel/gemm/tma/weight_part.h"
#include "kernel/split_sum_arguments.h"

namespace wt {

constexpr int64_t weight_part_bytes(const KernelConfig& config, int64_t tiles) {
  return tiles * weight_part::tile_vectors(config) * 16;
}

// Parts of `tiles` tiles: the workspace they take, and how threads share them.
template <class Arguments>
void set_parts(Arguments& arguments, Binding& binding, const KernelConfig& config, int64_t tiles,
               const DeviceInfo& device) {
  binding.workspace_bytes = arguments.splits * weight_part_bytes(config, tiles);
  arguments.sum_slices =
      weight_part::sum_slices(tiles * weight_part::tile_vectors(config), arguments.splits, device.multiprocessors);
}

template <class Arguments>
Launch weight_sum_launch(const KernelConfig& config, const ConvProblem& problem, const Arguments& arguments,
                         int64_t tiles) {
  Launch sum;
  sum.kernel = name_of(config) + kSumSuffix;
  sum.pointers.push_back({offsetof(Arguments, partials), Tensor::kWorkspace, 0});
  sum.pointers.push_back({offsetof(Arguments, dw), Tensor::kW, 0});
  bind_epilogue(sum, problem, offsetof(Arguments, epilogue));
  sum.shape.grid[0] = static_cast<uint32_t>(tiles * weight_part::tile_vectors(config) * arguments.sum_slices /
                                            weight_part::kSumThreads);
  sum.shape.threads = weight_part::kSumThreads;
  if (arguments.sum_slices > 1) sum.shape.shared_bytes = weight_part::kSumThreads * 16;
  sum.shape.programmatic = true;  // as kernel/direct/overlap.h has it
  set_params(sum, arguments);
  return sum;
}

}  // namespace wt
