// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows/bind.h"
#include "kernels/rows/kind.h"

#include <cstddef>

#include "config/fields.h"
#include "kernels/rows/device/arguments.h"
#include "kernels/rows/device/layout.h"
#include "kernels/rows/view.h"
#include "kernels/shared/conv_arguments.h"
#include "kernels/shared/tma_maps.h"

namespace wt {
namespace {

void set_planes(RowsArguments& arguments, const ConvProblem& problem, const RowsView& view) {
  arguments.out_planes = make_divider(problem.out()[0]);
  arguments.plane_rows = make_divider(view.patch_rows);
  arguments.in_planes = static_cast<i32>(problem.in[0]);
  arguments.stride_d = static_cast<i32>(problem.stride[0]);
  arguments.pad_d = static_cast<i32>(problem.pad_lower[0]);
  arguments.filter_planes = static_cast<i32>(problem.filter[0]);
  for (int64_t run = 0; run < problem.filter[0] * problem.filter[1]; ++run) {
    const int64_t plane = run / problem.filter[1], row = run % problem.filter[1];
    arguments.run_at[run] = static_cast<i32>((plane * view.patch_rows + row) * view.pitch);
  }
}

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
  arguments.row_loads = make_divider(view.pitch / 16 + 1);
  arguments.image_elements = problem.x_elements();
  arguments.patch_rows = static_cast<i32>(view.patch_rows);
  arguments.boxes = static_cast<i32>(view.boxes);
  arguments.slot_bytes = static_cast<i32>(view.slot_bytes);
  if (config.dims == 3) set_planes(arguments, problem, view);
  return arguments;
}

}  // namespace

Binding rows_kind::bind(const KernelConfig& config, const View& seen, const DeviceInfo& device, int) {
  const ConvProblem& problem = seen.problem();
  Binding binding;
  if (problem.output_elements() == 0) return binding;
  const ConvProblem forward = rows_seen(problem);
  const Tensor source = problem.direction == Direction::kForward ? Tensor::kX : Tensor::kY;
  const RowsView view = rows_view(config, seen);
  Launch launch;
  launch.kernel = name_of(config);
  if (rows_layout::loads_in_bulk(config)) {
    // WHY 32-bit elements: a box has at most 256 along a row. Copies do not look at the numbers.
    const auto words = static_cast<uint32_t>(view.pitch / view.boxes / 4),
               rows = static_cast<uint32_t>(view.patch_rows);
    const int64_t row = forward.in[2] * forward.c / 2;
    TensorMapSpec map;
    if (config.dims == 3) {
      map = dense_map(DataType::kF32, {row, forward.in[1], forward.in[0], forward.n}, 0);
      map.box = {words, rows, static_cast<uint32_t>(forward.filter[0]), 1};
    } else {
      map = dense_map(DataType::kF32, {row, forward.in[1], forward.n}, 0);
      map.box = {words, rows, 1};
    }
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
