// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_banded/bind.cc - launches of this kind.
#include <cstddef>

#include "base/check.h"
#include "config/fields.h"
#include "kernels/depthwise_banded/device/shape.h"
#include "kernels/depthwise_banded/kind.h"
#include "kernels/device/reciprocal.h"
#include "kernels/shared/conv_arguments.h"
#include "kernels/shared/direct_bind.h"
#include "kernels/shared/direct_geometry.h"
#include "kernels/shared/tma_maps.h"

namespace wt {
namespace {

// Every `step`-th column of an image from `first` on. A box is a row of every segment of a group: `columns` pixels of
// each.
TensorMapSpec row_map(const KernelConfig& config, const ConvProblem& problem, const DirectImage& image, int64_t first,
                      int64_t step, int columns, int segments) {
  TensorMapSpec map = dense_map(config.x, {problem.c, image.size[2], image.size[1], problem.n},
                                static_cast<uint32_t>(banded::pixel_bytes(config)));
  map.size[1] = static_cast<uint64_t>(ceil_div(image.size[2] - first, step));
  map.stride[1] *= static_cast<uint64_t>(step);
  map.box = {static_cast<uint32_t>(banded::channels(config)), static_cast<uint32_t>(columns), 1,
             static_cast<uint32_t>(segments)};
  map.l2_promotion = 128;  // neighbouring blocks read the other channels of a line
  return map;
}

void bind_bulk(const KernelConfig& config, const ConvProblem& problem, const BandedArguments& arguments,
               Launch& launch) {
  BandedBulkArguments bulk{};
  bulk.rows = arguments;
  const int64_t step = banded::step(config), pixel = problem.c * size_of(config.x);
  for (int64_t phase = 0; phase < step; ++phase) {
    // The phase's first column from that of the image, and of all columns of its kind the first in the image.
    const int64_t column = phase - arguments.pad_w, first = (column % step + step) % step;
    bulk.origin[phase] = static_cast<i32>((column - first) / step);
    launch.maps.push_back({static_cast<uint32_t>(offsetof(BandedBulkArguments, from) + sizeof(TensorMap) * phase),
                           direct_first(problem.direction), static_cast<uint64_t>(first * pixel),
                           row_map(config, problem, arguments.from, first, step,
                                   banded::window(arguments.column_blocks), arguments.group_segments)});
  }
  launch.maps.push_back({offsetof(BandedBulkArguments, to), output_tensor(problem.direction), 0,
                         row_map(config, problem, arguments.to, 0, 1, arguments.column_blocks * kBandedPixels,
                                 arguments.group_segments)});
  set_params(launch, bulk);
}

}  // namespace

Binding depthwise_banded_kind::bind(const KernelConfig& config, const View& seen, const DeviceInfo& device, int) {
  const ConvProblem& problem = seen.problem();
  if (problem.output_elements() == 0) return {};
  const bool data = problem.direction == Direction::kBackwardData;
  const BandedCut cut = cut_banded(config, problem, device.multiprocessors);
  BandedArguments arguments{};
  arguments.from = direct_image(problem, data);
  arguments.to = direct_image(problem, !data);
  if (problem.dims == 3) {
    for (DirectImage* image : {&arguments.from, &arguments.to}) {
      WT_CHECK(image->n == image->size[0] * image->spatial[0], "planes of images lie apart");
      image->n = image->spatial[0];
    }
  }
  arguments.from_planes = arguments.from.size[0];
  arguments.to_planes = arguments.to.size[0];
  arguments.pad_d = static_cast<i32>(data ? problem.filter[0] - 1 - problem.pad_lower[0] : problem.pad_lower[0]);
  arguments.channels = static_cast<i32>(problem.c);
  arguments.pad_h = static_cast<i32>(data ? problem.filter[1] - 1 - problem.pad_lower[1] : problem.pad_lower[1]);
  arguments.pad_w = static_cast<i32>(data ? problem.filter[2] - 1 - problem.pad_lower[2] : problem.pad_lower[2]);
  arguments.column_blocks = static_cast<i32>(cut.column_blocks);
  arguments.block_rows = static_cast<i32>(cut.block_rows);
  arguments.group_segments = static_cast<i32>(cut.group_segments);
  arguments.segment_tiles = static_cast<i32>(cut.segment_tiles);
  arguments.segments = static_cast<i32>(cut.segments);
  arguments.window_reciprocal = reciprocal_of(banded::window(arguments.column_blocks));
  arguments.width_reciprocal = reciprocal_of(arguments.column_blocks * kBandedPixels);
  arguments.channel_blocks = static_cast<i32>(cut.channel_blocks);
  arguments.rows = static_cast<i32>(cut.rows);
  arguments.rows_per_block = static_cast<i32>(cut.rows_per_block);
  arguments.range_rows = static_cast<i32>(cut.range_rows);
  arguments.epilogue = epilogue_arguments(problem);

  Launch launch;
  launch.kernel = name_of(config);
  launch.shape.grid[0] = static_cast<uint32_t>(cut.grid / cut.range_blocks);
  launch.shape.grid[1] = static_cast<uint32_t>(cut.range_blocks);
  launch.shape.threads = static_cast<uint32_t>(config.direct.block_size);
  launch.shape.shared_bytes =
      static_cast<uint32_t>(banded::shared_bytes(config, arguments.column_blocks, arguments.group_segments));
  const bool weight = problem.direction == Direction::kBackwardWeight;
  uint32_t base = 0;  // of BandedArguments
  if (banded::in_bulk(config)) {
    base = offsetof(BandedBulkArguments, rows);
    bind_bulk(config, problem, arguments, launch);
  } else {
    set_params(launch, arguments);
    launch.pointers.push_back({offsetof(BandedArguments, first), direct_first(problem.direction), 0});
    if (!weight) launch.pointers.push_back({offsetof(BandedArguments, out), output_tensor(problem.direction), 0});
  }
  constexpr uint32_t kSecond = offsetof(BandedArguments, second), kEpilogue = offsetof(BandedArguments, epilogue);
  launch.pointers.push_back({base + kSecond, direct_second(problem.direction), 0});
  if (!weight) bind_epilogue(launch, problem, base + kEpilogue);
  Binding binding;
  binding.launches.push_back(std::move(launch));
  if (weight) bind_direct_sum(binding, config, problem, offsetof(BandedArguments, out), cut.grid / cut.channel_blocks);
  return binding;
}

}  // namespace wt
