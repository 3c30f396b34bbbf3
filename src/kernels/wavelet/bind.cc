// SPDX-License-Identifier: Apache-2.0
#include "kernels/wavelet/bind.h"
#include "kernels/wavelet/kind.h"

#include <algorithm>
#include <cstddef>

#include "base/check.h"
#include "config/fields.h"
#include "kernels/shared/conv_arguments.h"
#include "kernels/shared/tma_maps.h"
#include "kernels/wavelet/device/arguments.h"
#include "kernels/wavelet/device/layout.h"
#include "kernels/wavelet/view.h"

namespace wt {
namespace {

// The widest vector, up to 8 elements, that the starts of all rows and groups are multiples of.
i32 out_vector(int64_t channels, int64_t columns) {
  i32 vector = 8;
  while (channels % vector != 0 || columns % vector != 0) vector /= 2;
  return vector;
}

void set_phase_columns(WaveletColumns& columns, const WaveletView& view) {
  const ConvProblem& p = view.problem;
  const TensorStrides dx = tensor_strides(p, Tensor::kX), filter = tensor_strides(p, Tensor::kW);
  columns.channels = make_divider(p.c_per_group());
  for (size_t i = 0; i < 3; ++i) {
    columns.stride[i] = make_divider(p.stride[i]);
    columns.base[i] = static_cast<i32>(p.pad_lower[i] - p.stride[i] * view.dim[i].phases.front().start);
    columns.filter[i] = static_cast<i32>(p.filter[i]);
    columns.size[i] = static_cast<i32>(p.in[i]);
    columns.filter_stride[i] = static_cast<i32>(filter.spatial[i]);
    columns.out_stride[i] = static_cast<i32>(dx.spatial[i]);
  }
}

// Pixels of the largest phase, and k-blocks of the longest sum.
struct Extent {
  int64_t rows, blocks;
};
Extent largest(const KernelConfig& config, const WaveletView& view) {
  int64_t rows = view.problem.n, runs = 1;
  for (size_t i = 0; i < 3; ++i) {
    int64_t size = 0, taps = 0;
    for (const WalkPhase& phase : view.dim[i].phases) {
      size = std::max(size, phase.size);
      taps = std::max(taps, phase.taps);
    }
    rows *= size;
    if (i < 2 || !view.row_is_one_run) runs *= taps;
  }
  return {rows, ceil_div(runs * view.run, config.gemm.tile.k)};
}

template <int kPhases>
Binding bind_phases(const KernelConfig& config, const View& seen, const DeviceInfo& device) {
  using Arguments = WaveletArguments<kPhases>;
  const ConvProblem& problem = seen.problem();
  const GemmConfig& gemm = config.gemm;
  const auto& view = wavelet_view(config, seen);
  WT_CHECK(view, "{} does not accept '{}'", name_of(config), to_text(problem));
  const bool forward = problem.direction == Direction::kForward;
  const Extent extent = largest(config, *view);
  int64_t phases = 1;
  for (const WalkDim& dim : view->dim) phases *= static_cast<int64_t>(dim.phases.size());
  const int64_t tiles_n = ceil_div(view->columns, gemm.tile.n), tiles_a_phase = ceil_div(extent.rows, gemm.tile.m);
  const int64_t tiles = tiles_a_phase * phases * tiles_n * problem.g;
  Binding binding;
  if (tiles == 0) return binding;
  WT_CHECK(tiles < int64_t{1} << 31, "{} tiles", tiles);

  Arguments arguments{};
  set_walk(arguments, config, *view);
  if (wavelet_layout::has_phase_columns(config)) set_phase_columns(arguments.phase_columns, *view);
  const int kept = tiles_n * problem.g * phases == 1 ? wavelet_kept_blocks(config, extent.blocks) : 0;
  arguments.keep_filter = kept > 0;
  arguments.filter_slots = std::max<int>(kept, gemm.stages);
  arguments.tiles = static_cast<u32>(tiles);
  arguments.tiles_a_group = make_divider(tiles_a_phase * phases * tiles_n);
  arguments.tiles_n = make_divider(tiles_n);
  arguments.tiles_a_phase = make_divider(tiles_a_phase);
  arguments.epilogue = epilogue_arguments(problem);

  Launch launch;
  launch.kernel = name_of(config);
  launch.pointers.push_back({offsetof(Arguments, a), forward ? Tensor::kX : Tensor::kY, 0});
  launch.pointers.push_back({offsetof(Arguments, b), Tensor::kW, 0});
  launch.pointers.push_back({offsetof(Arguments, out), output_tensor(problem.direction), 0});
  bind_epilogue(launch, problem, offsetof(Arguments, epilogue));
  launch.shape.grid[0] =
      static_cast<uint32_t>(std::min<int64_t>(tiles, int64_t{device.multiprocessors} * config.min_blocks));
  launch.shape.threads = static_cast<uint32_t>(wavelet_layout::threads(config));
  launch.shape.shared_bytes = static_cast<uint32_t>(wavelet_layout::shared_bytes(config, arguments.filter_slots));
  set_params(launch, arguments);
  binding.launches.push_back(std::move(launch));
  return binding;
}

}  // namespace

template <int kPhases>
void set_walk(WaveletArguments<kPhases>& arguments, const KernelConfig& config, const WaveletView& view) {
  const ConvProblem& p = view.problem;
  const bool forward = p.direction == Direction::kForward;
  const TensorStrides image = tensor_strides(p, forward ? Tensor::kX : Tensor::kY);
  const TensorStrides out = tensor_strides(p, forward ? Tensor::kY : Tensor::kX);
  const TensorStrides filter = tensor_strides(p, Tensor::kW);
  const Spatial size = forward ? p.in : p.out();
  size_t next = 0;
  arguments.image_stride[0] = static_cast<i32>(image.n);
  arguments.out_step[0] = static_cast<i32>(out.n);
  for (size_t i = 0; i < 3; ++i) {
    const WalkDim& dim = view.dim[i];
    // Along w positions are counted in elements.
    const int64_t unit = i == 2 ? image.spatial[2] : 1;
    arguments.first_phase[i] = static_cast<i32>(next);
    arguments.phase_count[i] = make_divider(static_cast<int64_t>(dim.phases.size()));
    arguments.step[i] = static_cast<i32>(dim.step * unit);
    arguments.tap_step[i] = static_cast<i32>(dim.tap_step * unit);
    arguments.limit[i] = static_cast<i32>(size[i] * unit);
    if (i < 2) arguments.image_stride[i + 1] = static_cast<i32>(image.spatial[i]);
    arguments.filter_step[i] = static_cast<i32>(dim.filter_step * filter.spatial[i]);
    arguments.out_step[i + 1] = static_cast<i32>(dim.out_step * out.spatial[i]);
    for (const WalkPhase& phase : dim.phases) {
      WT_CHECK(next < kPhases, "{} phases in room for {}", view.phase_count(), kPhases);
      WaveletPhase& to = arguments.phases[next++];
      to.size = make_divider(phase.size);
      to.start = static_cast<i32>(phase.start * unit);
      if (i == 2) to.start -= static_cast<i32>(view.head);
      to.taps = static_cast<i32>(phase.taps);
      to.filter = static_cast<i32>(phase.filter * filter.spatial[i]);
      to.out = static_cast<i32>(phase.out * out.spatial[i]);
    }
  }
  const int64_t tile_k = config.gemm.tile.k;
  arguments.run = {static_cast<i32>(view.run), static_cast<i32>(view.head), static_cast<i32>(view.real)};
  arguments.advance = {static_cast<i32>(tile_k / view.run), static_cast<i32>(tile_k % view.run)};
  arguments.depth = make_divider(view.depth);
  arguments.columns = static_cast<i32>(view.columns);
  arguments.images = static_cast<i32>(p.n);
  arguments.row_is_one_run = view.row_is_one_run;
  arguments.filter_pitch = static_cast<i32>(filter.n);
  arguments.out_vector = out_vector(out.spatial[2], view.columns);
}
template void set_walk<3>(WaveletArguments<3>&, const KernelConfig&, const WaveletView&);
template void set_walk<96>(WaveletArguments<96>&, const KernelConfig&, const WaveletView&);

Binding wavelet_kind::bind(const KernelConfig& config, const View& seen, const DeviceInfo& device, int splits) {
  const ConvProblem& problem = seen.problem();
  if (problem.direction == Direction::kForward) return bind_phases<3>(config, seen, device);
  if (problem.direction == Direction::kBackwardWeight) return bind_wavelet_weight(config, seen, device, splits);
  if (wavelet_layout::has_phase_columns(config)) return bind_phases<3>(config, seen, device);
  return bind_phases<96>(config, seen, device);
}

}  // namespace wt
