// SPDX-License-Identifier: Apache-2.0
// kernels/stacked/bind.cc - the launch of kernels/stacked/device/kernel.h.
#include <cstddef>
#include <utility>

#include "config/fields.h"
#include "kernels/shared/cache_policy.h"
#include "kernels/shared/conv_arguments.h"
#include "kernels/shared/direct_bind.h"
#include "kernels/shared/tma_maps.h"
#include "kernels/stacked/device/arguments.h"
#include "kernels/stacked/device/shape.h"
#include "kernels/stacked/kind.h"
#include "kernels/stacked/view.h"

namespace wt {
namespace {

// An image as rows of all images side by side: {channels, w, images, h}.
TensorMapSpec row_map(DataType type, int64_t channels, const Spatial& size, int64_t images) {
  TensorMapSpec map = dense_map(type, {channels, size[2], size[1], images}, stacked::kPixelBytes);
  std::swap(map.size[2], map.size[3]);
  std::swap(map.stride[2], map.stride[3]);
  return map;
}

}  // namespace

Binding stacked_kind::bind(const KernelConfig& config, const View& seen, const DeviceInfo& device, int) {
  const ConvProblem& problem = seen.problem();
  if (problem.output_elements() == 0) return {};
  const bool data = stacked::is_data(config);
  const StackedCut cut = cut_stacked(config, problem, device.multiprocessors);
  const Spatial in = data ? problem.out() : problem.in, out = data ? problem.in : problem.out();
  const int stride = config.fixed.stride_w;
  StackedArguments arguments{};
  arguments.channels = static_cast<i32>(problem.c);
  arguments.slices = static_cast<i32>(cut.slices);
  arguments.row_bytes = static_cast<i32>(stride * cut.images * cut.pitch * stacked::kPixelBytes);
  for (size_t i = 0; i < 2; ++i) {
    const auto pad = static_cast<i32>(problem.pad_lower[i + 1]), taps = static_cast<i32>(problem.filter[i + 1]);
    arguments.start[i] = data ? pad - (taps - 1) : -pad;
    arguments.size[i] = static_cast<i32>(out[i + 1]);
  }
  arguments.in_rows = static_cast<i32>(in[1]);
  arguments.images = static_cast<i32>(cut.images);
  arguments.all_images = static_cast<i32>(problem.n);
  arguments.columns = static_cast<i32>(cut.columns);
  arguments.pitch = static_cast<i32>(cut.pitch);
  arguments.column_tiles = static_cast<i32>(cut.column_tiles);
  arguments.segments = static_cast<i32>(cut.segments);
  arguments.segment_rows = static_cast<i32>(cut.segment_rows);
  arguments.items = static_cast<i32>(cut.strips * cut.segments);
  arguments.first_tap = data ? static_cast<i32>(problem.filter_taps()) - 1 : 0;
  arguments.tap_step = data ? -1 : 1;
  const TensorStrides strides = tensor_strides(problem, output_tensor(problem.direction));
  arguments.out_stride[0] = strides.n;
  arguments.out_stride[1] = strides.spatial[1];
  arguments.out_stride[2] = strides.spatial[2];
  arguments.policy = walked_policy(problem, device);
  arguments.epilogue = epilogue_arguments(problem);

  Launch launch;
  launch.kernel = name_of(config);
  TensorMapSpec from = row_map(config.x, problem.c, in, problem.n);
  from.element_stride[1] = static_cast<uint32_t>(stride);
  from.box = {stacked::kChannels, static_cast<uint32_t>(stride * cut.pitch), static_cast<uint32_t>(cut.images), 1};
  launch.maps.push_back({offsetof(StackedArguments, from), direct_first(problem.direction), 0, from});
  const auto width = static_cast<uint32_t>(stacked::width(config));
  TensorMapSpec filter = dense_map(config.w, {width, problem.filter_taps(), problem.k}, 2 * width);
  filter.box = {width, 1, width};
  launch.maps.push_back({offsetof(StackedArguments, filter), Tensor::kW, 0, filter});
  // Positions beyond a narrow image lie outside the tensor, so that they are dropped; a tile of a wide one has none.
  TensorMapSpec to = row_map(config.y, problem.c, out, problem.n);
  to.box = {stacked::kChannels, static_cast<uint32_t>(cut.images > 1 ? cut.pitch : cut.columns),
            static_cast<uint32_t>(cut.images), 1};
  launch.maps.push_back({offsetof(StackedArguments, to), output_tensor(problem.direction), 0, to});
  bind_epilogue(launch, problem, offsetof(StackedArguments, epilogue));
  launch.shape.grid[0] = static_cast<uint32_t>(cut.grid);
  launch.shape.threads = stacked::kThreads;
  launch.shape.shared_bytes = static_cast<uint32_t>(stacked::shared_bytes(config));
  set_params(launch, arguments);
  Binding binding;
  binding.launches.push_back(std::move(launch));
  return binding;
}

}  // namespace wt
