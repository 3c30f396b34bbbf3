// SPDX-License-Identifier: Apache-2.0
#include "kernels/four_wave/kind.h"

#include <algorithm>
#include <cstddef>

#include "base/integers.h"
#include "config/fields.h"
#include "config/targets.h"
#include "kernels/beside/fnuz_copy.h"
#include "kernels/beside/transpose_filter.h"
#include "kernels/four_wave/device/arguments.h"
#include "kernels/four_wave/device/layout.h"
#include "kernels/four_wave/view.h"
#include "kernels/shared/conv_arguments.h"
#include "problem/measures.h"

namespace wt {
namespace {

// The widest of the vectors that the output knows which all pixels and groups start at a multiple of.
i32 out_vector(int64_t columns) {
  for (const i32 vector : {8, 4})
    if (columns % vector == 0) return vector;
  return 1;
}

// Filled in but for addresses.
template <class Arguments>
Arguments arguments_of(const KernelConfig& config, const View& seen) {
  const ConvProblem& p = seen.problem();
  const FourWaveView& view = FourWaveView::of(seen);
  const TensorStrides image = tensor_strides(p, p.direction == Direction::kForward ? Tensor::kX : Tensor::kY);
  const int bytes = size_of(operand_a(config));
  Arguments a{};
  a.epilogue = epilogue_arguments(p);
  a.image_bytes = image.n * bytes;
  a.out_pitch = view.columns * view.g;
  a.images = static_cast<u32>(p.n);
  a.image_pixels = static_cast<u32>(p.n * pixels(view.in));
  a.columns = static_cast<i32>(view.columns);
  a.group_bytes = static_cast<i32>(image.g * bytes);
  a.filter_bytes = static_cast<i32>(view.taps * view.channels * bytes);
  for (size_t i = 0; i < 3; ++i) {
    a.pixel_bytes[i] = static_cast<i32>(image.spatial[i] * bytes);
    a.in[i] = static_cast<i32>(view.in[i]);
    a.stride[i] = static_cast<i32>(view.stride[i]);
    a.dilation[i] = static_cast<i32>(view.dilation[i]);
    a.out_in[i] = static_cast<i32>(view.out[i]);
    a.out_step[i] = static_cast<i32>(p.stride[i]);
  }
  a.channels = make_divider(view.channels);
  a.out_vector = out_vector(view.columns);
  a.tiles_n = static_cast<u32>(ceil_div(view.columns, config.gemm.tile.n));
  a.tiles = static_cast<u32>(view.tiles(config));
  a.chiplets = static_cast<u32>(info_of(config.target).chiplets);
  u32 tiles = 0;
  for (const FourWavePart& part : view.parts) {
    FourWavePhase& phase = a.phases[a.phase_count++];
    for (size_t i = 0; i < 3; ++i) {
      phase.out_size[i] = make_divider(part.size[i]);
      phase.filter[i] = make_divider(std::max<int64_t>(1, part.taps[i]));
      phase.pad[i] = static_cast<i32>(part.pad[i]);
      phase.first[i] = static_cast<i32>(part.first[i]);
    }
    phase.depth = static_cast<i32>(part.tap_count() * view.channels);
    phase.filter_start = static_cast<i32>(part.first_tap * view.channels * bytes);
    phase.pixels = static_cast<u32>(p.n * part.pixels_of_image());
    phase.tiles_m = static_cast<u32>(view.tiles_m(part, config.gemm.tile.m));
    phase.first_tile = tiles;
    tiles += phase.tiles_m * a.tiles_n * static_cast<u32>(p.g);
  }
  return a;
}

template <class Arguments>
Launch launch_of(const KernelConfig& config, const View& seen) {
  const ConvProblem& problem = seen.problem();
  const Arguments arguments = arguments_of<Arguments>(config, seen);
  Launch launch;
  launch.kernel = name_of(config);
  const Tensor image = problem.direction == Direction::kForward ? Tensor::kX : Tensor::kY;
  launch.pointers.push_back({offsetof(Arguments, a), image, 0});
  launch.pointers.push_back({offsetof(Arguments, b), Tensor::kW, 0});
  launch.pointers.push_back({offsetof(Arguments, out), output_tensor(problem.direction), 0});
  bind_epilogue(launch, problem, offsetof(Arguments, epilogue));
  launch.shape.grid[0] = arguments.tiles;
  launch.shape.threads = four_wave_layout::kThreads;
  launch.shape.shared_bytes = static_cast<uint32_t>(four_wave_layout::shared_bytes(config));
  set_params(launch, arguments);
  return launch;
}

}  // namespace

Binding four_wave_kind::bind(const KernelConfig& config, const View& seen, const DeviceInfo& device, int) {
  static_assert(FourWaveView::kMostParts == four_wave_layout::kMostPhases);
  Binding binding;
  if (FourWaveView::of(seen).tiles(config) == 0) return binding;
  const bool forward = config.direction == Direction::kForward;
  binding.launches.push_back(forward ? launch_of<FourWaveArguments<1>>(config, seen)
                                     : launch_of<FourWaveArguments<four_wave_layout::kMostPhases>>(config, seen));
  if (!forward) binding = with_transposed_filter(config, seen.problem(), std::move(binding));
  return config.gemm.aligned_copy ? with_fnuz_copies(config, seen.problem(), device, std::move(binding)) : binding;
}

}  // namespace wt
