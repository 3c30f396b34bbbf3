// SPDX-License-Identifier: Apache-2.0
#include "dispatch/bind_rows.h"

#include <cstddef>

#include "config/fields.h"
#include "config/rows_view.h"
#include "dispatch/conv_arguments.h"
#include "dispatch/tma_maps.h"
#include "kernel/gemm/rows/arguments.h"
#include "kernel/gemm/rows/layout.h"

namespace wt {
namespace {

// `problem` as the forward convolution that the kernel computes.
RowsArguments rows_arguments(const KernelConfig& config, const ConvProblem& problem, const RowsView& view) {
  RowsArguments arguments{};
  arguments.columns = problem.k;
  arguments.tiles_n = make_divider(view.tiles_n);
  arguments.patches = static_cast<u32>(view.patches);
  arguments.strips = make_divider(view.strips);
  arguments.row_blocks = make_divider(view.row_blocks);
  arguments.strip = static_cast<i32>(view.strip);
  arguments.tile_rows = static_cast<i32>(view.tile_rows);
  arguments.classes = static_cast<i32>(view.classes);
  arguments.class_strip = make_divider(view.class_strip);
  arguments.spread = rows_layout::may_spread(config) ? rows_spread(view, problem.stride[1]) : 0;
  set_image_rows(arguments, problem, view);
  arguments.lead = static_cast<i32>(view.lead);
  arguments.pitch = static_cast<i32>(view.pitch);
  arguments.patch_rows = static_cast<i32>(view.patch_rows);
  arguments.slot_bytes = static_cast<i32>(view.slot_bytes);
  return arguments;
}

}  // namespace

Binding bind_rows(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device) {
  Binding binding;
  if (problem.output_elements() == 0) return binding;
  const ConvProblem forward = rows_forward(problem);
  const Tensor source = problem.direction == Direction::kForward ? Tensor::kX : Tensor::kY;
  const RowsView view = rows_view(config, problem, device.multiprocessors);
  Launch launch;
  launch.kernel = name_of(config);
  if (rows_layout::loads_in_bulk(config)) {
    // WHY 32-bit elements: a box has at most 256 along a row. Copies do not look at the numbers.
    TensorMapSpec map = dense_map(DataType::kF32, {forward.in[2] * forward.c / 2, forward.in[1], forward.n}, 0);
    map.box = {static_cast<uint32_t>(view.pitch / 4), static_cast<uint32_t>(view.patch_rows), 1};
    launch.maps.push_back({offsetof(RowsArguments, source), source, 0, map});
  }
  launch.pointers.push_back({offsetof(RowsArguments, x), source, 0});
  launch.pointers.push_back({offsetof(RowsArguments, filter), Tensor::kW, 0});
  launch.pointers.push_back({offsetof(RowsArguments, y), output_tensor(problem.direction), 0});
  bind_epilogue(launch, problem, offsetof(RowsArguments, epilogue));
  launch.shape.grid[0] = static_cast<uint32_t>(rows_blocks(config, view, device.multiprocessors) * view.tiles_n);
  launch.shape.threads = static_cast<uint32_t>(rows_layout::threads(config));
  launch.shape.shared_bytes = static_cast<uint32_t>(rows_shared_bytes(config, view));
  RowsArguments arguments = rows_arguments(config, forward, view);
  arguments.epilogue = epilogue_arguments(problem);
  set_params(launch, arguments);
  binding.launches.push_back(std::move(launch));
  return binding;
}

}  // namespace wt
