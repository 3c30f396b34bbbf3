// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows_weight/kind.h"

#include <algorithm>
#include <cstddef>

#include "config/fields.h"
#include "kernels/beside/part_sum.h"
#include "kernels/rows/bind.h"
#include "kernels/rows/view.h"
#include "kernels/rows_weight/device/arguments.h"
#include "kernels/rows_weight/device/layout.h"
#include "kernels/rows_weight/view.h"
#include "kernels/shared/conv_arguments.h"
#include "kernels/shared/tma_maps.h"

namespace wt {
namespace {

RowsWeightArguments weight_arguments(const KernelConfig& config, const ConvProblem& whole, const RowsWeightView& view,
                                     int64_t wanted_parts) {
  const ConvProblem problem = rows_weight_source(whole);
  RowsWeightArguments arguments{};
  arguments.columns = problem.k;
  arguments.tiles_m = static_cast<i32>(view.tiles_m);
  arguments.tiles_n = static_cast<i32>(view.tiles_n);
  arguments.units = static_cast<u32>(view.units);
  const int64_t parts = std::clamp<int64_t>(wanted_parts, 1, std::max<int64_t>(1, view.units));
  arguments.units_of_part = static_cast<u32>(view.units / parts);
  arguments.longer_parts = static_cast<u32>(view.units % parts);
  arguments.splits = static_cast<i32>(parts);
  arguments.walk_units = make_divider(view.walk_units);
  arguments.strips = make_divider(view.strips);
  arguments.strip = static_cast<i32>(view.strip);
  arguments.octets = static_cast<i32>(view.octets());
  arguments.tile_rows = static_cast<i32>(view.tile_rows);
  set_image_rows(arguments, problem, view);
  arguments.filter_rows = static_cast<i32>(rows_filter_rows(problem));
  arguments.out_planes = make_divider(problem.out()[0]);
  arguments.plane_rows = make_divider(problem.filter[1]);
  arguments.in_planes = static_cast<i32>(problem.in[0]);
  arguments.stride_d = static_cast<i32>(problem.stride[0]);
  arguments.pad_d = static_cast<i32>(problem.pad_lower[0]);
  arguments.filter_planes = static_cast<i32>(problem.filter[0]);
  arguments.plane_bytes = static_cast<i32>(view.ring_bytes());
  arguments.turned = rows_weight_turns(whole);
  arguments.channels = make_divider(problem.c);
  arguments.row_words = static_cast<i32>(view.row_words);
  arguments.words = static_cast<i32>(view.words);
  arguments.shift = static_cast<i32>(view.shift);
  arguments.before = (-arguments.pad & 7) / 2 * 4;
  arguments.odd_step = view.odd_step;
  arguments.even_at = view.lead ? 2 * (arguments.step + 1) : 0;
  arguments.odd_at = view.lead ? 0 : 2 * (arguments.step - 1);
  arguments.paired = view.paired;
  arguments.pitch = static_cast<i32>(view.pitch);
  arguments.row_loads = make_divider(view.pitch / 16 + 1);
  arguments.image_elements = problem.x_elements();
  arguments.gradient_elements = problem.y_elements();
  arguments.gradient_loads = make_divider(ceil_div(std::min<int64_t>(problem.k, config.gemm.tile.n), 8) + 1);
  arguments.strip_pixels = make_divider(std::max<int64_t>(view.strip, 1));
  arguments.chunk_rows = static_cast<i32>(view.chunk_rows);
  arguments.chunks = static_cast<i32>(view.chunks);
  arguments.ring_chunks = static_cast<i32>(view.ring_chunks);
  arguments.block_bytes = static_cast<i32>(view.block_bytes);
  arguments.gradient_bytes = static_cast<i32>(view.tile_rows * view.strip * rows_weight_layout::blocks_n(config) *
                                              rows_weight_layout::box_columns(config) * size_of(problem.y));
  arguments.slots_bytes = static_cast<i32>(rows_weight_layout::slots_bytes(config, view.block_bytes));
  arguments.epilogue = epilogue_arguments(whole);
  return arguments;
}

// The tensors that take the place of the image and of the outputs' gradient.
Tensor image_of(const ConvProblem& problem) { return rows_weight_turns(problem) ? Tensor::kY : Tensor::kX; }
Tensor gradient_of(const ConvProblem& problem) { return rows_weight_turns(problem) ? Tensor::kX : Tensor::kY; }

void bind_maps(Launch& launch, const KernelConfig& config, const ConvProblem& whole, const RowsWeightView& view) {
  const ConvProblem problem = rows_weight_source(whole);
  if (rows_weight_layout::loads_in_bulk(config)) {
    // WHY 32-bit elements: a box has at most 256 along a row. Copies do not look at the numbers.
    const auto words = static_cast<uint32_t>(view.pitch / 4), rows = static_cast<uint32_t>(view.chunk_rows);
    const int64_t row = problem.in[2] * problem.c / 2;
    TensorMapSpec map;
    if (config.dims == 3) {
      map = dense_map(DataType::kF32, {row, problem.in[1], problem.in[0], problem.n}, 0);
      map.box = {words, rows, 1, 1};
    } else {
      map = dense_map(DataType::kF32, {row, problem.in[1], problem.n}, 0);
      map.box = {words, rows, 1};
    }
    launch.maps.push_back({offsetof(RowsWeightArguments, source), image_of(whole), 0, map});
  }
  const Spatial out = problem.out();
  if (rows_weight_layout::loads_gradient_words(config)) return;
  TensorMapSpec map = dense_map(problem.y, {problem.k, out[2], out[1], out[0] * problem.n}, 128);
  map.box = {static_cast<uint32_t>(rows_weight_layout::box_columns(config)), static_cast<uint32_t>(view.strip),
             static_cast<uint32_t>(view.tile_rows), 1};
  launch.maps.push_back({offsetof(RowsWeightArguments, gradient), gradient_of(whole), 0, map});
}

}  // namespace

Binding rows_weight_kind::bind(const KernelConfig& config, const View& seen, const DeviceInfo& device, int splits) {
  const ConvProblem& problem = seen.problem();
  const RowsWeightView view = rows_weight_view(config, seen);
  RowsWeightArguments arguments =
      weight_arguments(config, problem, view, rows_weight_parts(config, view, device.multiprocessors, splits));
  const int64_t tiles = view.tiles_m * view.tiles_n, vectors = tiles * rows_weight_layout::tile_vectors(config);
  Binding binding;
  binding.parts = arguments.splits;
  set_parts(arguments, binding, vectors, device);

  Launch launch;
  launch.kernel = name_of(config);
  if (view.units > 0) {
    bind_maps(launch, config, problem, view);
    launch.pointers.push_back({offsetof(RowsWeightArguments, image), image_of(problem), 0});
    launch.pointers.push_back({offsetof(RowsWeightArguments, gradient_numbers), gradient_of(problem), 0});
  }
  launch.pointers.push_back({offsetof(RowsWeightArguments, partials), Tensor::kWorkspace, 0});
  launch.shape.grid[0] = static_cast<uint32_t>(arguments.splits * tiles);
  launch.shape.threads = static_cast<uint32_t>(rows_weight_layout::threads(config));
  launch.shape.shared_bytes = static_cast<uint32_t>(rows_weight_shared_bytes(config, view));
  set_params(launch, arguments);
  binding.launches.push_back(std::move(launch));
  binding.launches.push_back(part_sum_launch(config, problem, arguments, vectors));
  return binding;
}

}  // namespace wt
