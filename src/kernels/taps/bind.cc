// SPDX-License-Identifier: Apache-2.0
#include "kernels/taps/kind.h"

#include <cstddef>
#include <numeric>

#include "config/fields.h"
#include "kernels/shared/conv_arguments.h"
#include "kernels/shared/tma_maps.h"
#include "kernels/taps/device/arguments.h"
#include "kernels/taps/device/layout.h"
#include "kernels/taps/view.h"

namespace wt {
namespace {

void set_dim(TapsArguments& arguments, int i, const TapsDim& dim) {
  arguments.size[i] = static_cast<i32>(dim.size);
  arguments.taps[i] = static_cast<i32>(dim.taps);
  arguments.stride[i] = static_cast<i32>(dim.stride);
  arguments.dilation[i] = static_cast<i32>(dim.dilation);
  arguments.shift[i] = static_cast<i32>(dim.shift);
  arguments.first_unit[i] = static_cast<i32>(dim.first_unit);
  arguments.units[i] = static_cast<i32>(dim.units);
  arguments.reach[i] = static_cast<i32>(dim.reach);
}

// Which taps along w meet the outputs stride * unit + rest: those where rest - dilation * tap is a multiple of stride.
void set_taps_of_rests(TapsArguments& arguments, const TapsDim& w, int64_t before) {
  const int64_t common = std::gcd(w.stride, w.dilation);
  arguments.tap_step = static_cast<i32>(w.stride / common);
  arguments.source_step = static_cast<i32>(w.dilation / common);
  for (int64_t rest = 0; rest < w.stride; ++rest) {
    arguments.tap_first[rest] = -1;
    for (int64_t tap = 0; tap < std::min(w.taps, w.stride); ++tap) {
      if ((rest - w.dilation * tap) % w.stride != 0) continue;
      arguments.tap_first[rest] = static_cast<i32>(tap);
      // WHY before: slots start that many source pixels before the strip's first unit.
      arguments.tap_source[rest] = static_cast<i32>(before + (rest - w.dilation * tap) / w.stride);
      break;
    }
  }
}

// Forward meets the taps in reverse (arguments.h).
void set_filter(TapsArguments& arguments, const ConvProblem& problem) {
  const bool forward = problem.direction == Direction::kForward;
  const TensorStrides w = tensor_strides(problem, Tensor::kW);
  arguments.filter_depth = forward ? w.channel : w.n;
  arguments.filter_channel = forward ? w.n : w.channel;
  for (int i = 0; i < 2; ++i) {
    arguments.filter_tap[i] = forward ? -w.spatial[i + 1] : w.spatial[i + 1];
    if (forward) arguments.filter_first += (arguments.taps[i] - 1) * w.spatial[i + 1];
  }
  arguments.filter_plane = forward ? -w.spatial[0] : w.spatial[0];
  if (forward) arguments.filter_first += (problem.filter[0] - 1) * w.spatial[0];
}

TapsArguments taps_arguments(const KernelConfig& config, const ConvProblem& problem, int multiprocessors) {
  const TapsView view = taps_view(problem);
  TapsArguments arguments{};
  arguments.depth = static_cast<i32>(view.depth);
  arguments.depth_blocks = static_cast<i32>(view.depth_blocks);
  arguments.row_blocks = static_cast<i32>(view.row_blocks);
  arguments.channels = static_cast<i32>(view.channels);
  set_dim(arguments, 0, view.h);
  set_dim(arguments, 1, view.w);
  set_taps_of_rests(arguments, view.w, view.before);
  arguments.before = static_cast<i32>(view.before);
  set_filter(arguments, problem);
  arguments.strips = static_cast<i32>(view.strips);
  arguments.strip_units = static_cast<i32>(view.strip_units);
  const int64_t segment = taps_segment_units(config, problem, view, multiprocessors);
  arguments.segment_units = static_cast<i32>(segment);
  arguments.segments = static_cast<i32>(ceil_div(view.h.units, segment));
  arguments.window = static_cast<i32>(view.window);
  const TensorStrides out = tensor_strides(problem, output_tensor(problem.direction));
  arguments.out_stride[0] = config.dims == 3 ? out.spatial[0] : out.n;
  arguments.out_stride[1] = out.spatial[1];
  arguments.out_stride[2] = out.spatial[2];
  arguments.out_planes = static_cast<i32>(view.d.size);
  arguments.dilation_d = static_cast<i32>(view.d.dilation);
  arguments.shift_d = static_cast<i32>(view.d.shift);
  arguments.jobs = static_cast<i32>(problem.n * view.d.size * view.strips * arguments.segments);
  arguments.epilogue = epilogue_arguments(problem);
  return arguments;
}

}  // namespace

Binding taps_kind::bind(const KernelConfig& config, const View& seen, const DeviceInfo& device, int) {
  const ConvProblem& problem = seen.problem();
  Binding binding;
  const bool forward = problem.direction == Direction::kForward;
  if ((forward ? problem.y_elements() : problem.x_elements()) == 0) return binding;
  const TapsArguments arguments = taps_arguments(config, problem, device.multiprocessors);
  const Spatial image = forward ? problem.in : problem.out();
  const Tensor source = forward ? Tensor::kX : Tensor::kY;
  const DataType type = forward ? problem.x : problem.y;
  const int64_t channels = forward ? problem.c : problem.k;
  TensorMapSpec map;
  if (config.dims == 3) {
    map = dense_map(type, {channels, image[2], image[1], image[0], problem.n}, 128);
    map.box = {taps_layout::kDepth, taps_layout::kPixels, 1, 1, 1};
  } else {
    map = dense_map(type, {channels, image[2], image[1], problem.n}, 128);
    map.box = {taps_layout::kDepth, taps_layout::kPixels, 1, 1};
  }

  Launch launch;
  launch.kernel = name_of(config);
  launch.maps.push_back({offsetof(TapsArguments, source), source, 0, map});
  launch.pointers.push_back({offsetof(TapsArguments, filter), Tensor::kW, 0});
  launch.pointers.push_back({offsetof(TapsArguments, out), output_tensor(problem.direction), 0});
  bind_epilogue(launch, problem, offsetof(TapsArguments, epilogue));
  launch.shape.grid[0] = static_cast<uint32_t>(taps_blocks(config, arguments.jobs, problem, device.multiprocessors));
  launch.shape.threads = static_cast<uint32_t>(taps_layout::threads(config));
  launch.shape.shared_bytes = static_cast<uint32_t>(taps_shared_bytes(config, taps_view(problem)));
  set_params(launch, arguments);
  binding.launches.push_back(std::move(launch));
  return binding;
}

}  // namespace wt
