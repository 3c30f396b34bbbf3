// SPDX-License-Identifier: Apache-2.0
#include "dispatch/bind_portable.h"

#include <algorithm>
#include <cstddef>

#include "base/check.h"
#include "config/fields.h"
#include "config/portable_view.h"
#include "dispatch/bind_split_sum.h"
#include "dispatch/bind_wavelet.h"
#include "dispatch/conv_arguments.h"
#include "dispatch/split.h"
#include "dispatch/tma_maps.h"
#include "kernel/gemm/portable/layout.h"
#include "kernel/gemm/wavelet/weight_arguments.h"

namespace wt {
namespace {

// The widest vector, up to 8 elements, that divides `elements`.
i32 vector_of(int64_t elements) {
  i32 vector = 8;
  while (elements % vector != 0) vector /= 2;
  return vector;
}

Launch launch_of(const KernelConfig& config, int64_t blocks) {
  WT_CHECK(blocks < int64_t{1} << 31, "{} blocks", blocks);
  Launch launch;
  launch.kernel = name_of(config);
  launch.shape.grid[0] = static_cast<uint32_t>(blocks);
  launch.shape.threads = static_cast<uint32_t>(portable_layout::threads(config));
  launch.shape.shared_bytes = static_cast<uint32_t>(portable_layout::shared_bytes(config));
  return launch;
}

template <int kPhases>
Binding bind_walk(const KernelConfig& config, const ConvProblem& problem) {
  using Arguments = WaveletArguments<kPhases>;
  const GemmConfig& gemm = config.gemm;
  const auto view = portable_view(config, problem);
  WT_CHECK(view, "{} does not accept '{}'", name_of(config), to_text(problem));
  int64_t phases = 1, rows = view->problem.n;  // rows of the largest phase
  for (const WalkDim& dim : view->dim) {
    phases *= static_cast<int64_t>(dim.phases.size());
    int64_t size = 0;
    for (const WalkPhase& phase : dim.phases) size = std::max(size, phase.size);
    rows *= size;
  }
  const int64_t tiles_n = ceil_div(view->columns, gemm.tile.n), tiles_a_phase = ceil_div(rows, gemm.tile.m);
  const int64_t tiles = tiles_a_phase * phases * tiles_n * problem.g;
  Binding binding;
  if (tiles == 0) return binding;

  Arguments arguments{};
  set_walk(arguments, config, *view);
  arguments.tiles = static_cast<u32>(tiles);
  arguments.tiles_a_group = make_divider(tiles_a_phase * phases * tiles_n);
  arguments.tiles_n = make_divider(tiles_n);
  arguments.tiles_a_phase = make_divider(tiles_a_phase);
  arguments.epilogue = epilogue_arguments(problem.epilogue);

  Launch launch = launch_of(config, tiles);
  const Tensor image = problem.direction == Direction::kForward ? Tensor::kX : Tensor::kY;
  launch.pointers.push_back({offsetof(Arguments, a), image, 0});
  launch.pointers.push_back({offsetof(Arguments, b), Tensor::kW, 0});
  launch.pointers.push_back({offsetof(Arguments, out), output_tensor(problem.direction), 0});
  bind_epilogue(launch, problem, offsetof(Arguments, epilogue));
  set_params(launch, arguments);
  binding.launches.push_back(std::move(launch));
  return binding;
}

// One launch, or partial sums and the launch that adds them in order.
Binding bind_weight(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device) {
  const auto view = portable_weight_view(config, problem);
  WT_CHECK(view, "{} does not accept '{}'", name_of(config), to_text(problem));
  const PortableParts parts = portable_parts(config, problem, device.multiprocessors);
  WaveletWeightArguments arguments = weight_arguments(config, *view);
  arguments.blocks_per_split = static_cast<i32>(parts.blocks_per_split);
  arguments.items = static_cast<u32>(parts.tiles * parts.splits);
  arguments.tiles = make_divider(parts.tiles);
  arguments.tiles_a_group = make_divider(parts.tiles / problem.g);
  arguments.tiles_n = make_divider(parts.tiles_n);
  arguments.walk.out_vector = vector_of(arguments.numbers);
  arguments.walk.epilogue = epilogue_arguments(problem.epilogue);

  constexpr size_t kWalk = offsetof(WaveletWeightArguments, walk);
  const auto at = [](size_t field) { return static_cast<uint32_t>(kWalk + field); };
  Launch launch = launch_of(config, parts.tiles * parts.splits);
  if (problem.n > 0) {
    launch.pointers.push_back({at(offsetof(WaveletArguments<3>, a)), Tensor::kX, 0});
    launch.pointers.push_back({at(offsetof(WaveletArguments<3>, b)), Tensor::kY, 0});
  }
  Binding binding;
  const bool split = config.gemm.split_k == SplitK::kWorkspace;
  if (split) {
    binding.workspace_bytes = parts.splits * arguments.elements * static_cast<int64_t>(sizeof(float));
    launch.pointers.push_back({offsetof(WaveletWeightArguments, partials), Tensor::kWorkspace, 0});
  } else {
    launch.pointers.push_back({at(offsetof(WaveletArguments<3>, out)), Tensor::kW, 0});
    bind_epilogue(launch, problem, at(offsetof(WaveletArguments<3>, epilogue)));
  }
  set_params(launch, arguments);
  binding.launches.push_back(std::move(launch));
  if (split) binding.launches.push_back(split_sum_launch(config, problem, device, static_cast<int>(parts.splits)));
  return binding;
}

}  // namespace

PortableParts portable_parts(const KernelConfig& config, const ConvProblem& problem, int multiprocessors) {
  const GemmConfig& gemm = config.gemm;
  const auto view = portable_weight_view(config, problem);
  PortableParts parts;
  if (!view) return parts;
  parts.tiles_n = ceil_div(view->walk.numbers(), gemm.tile.n);
  parts.tiles = parts.tiles_n * ceil_div(view->walk.columns, gemm.tile.m) * problem.g;
  const ConvProblem& p = view->walk.problem;
  // An empty batch has one block of zeros.
  parts.pixel_blocks = std::max<int64_t>(1, ceil_div(p.n * pixels(p.out()), gemm.tile.k));
  const int64_t wanted = gemm.split_k == SplitK::kWorkspace ? split_count({.tiles = parts.tiles,
                                                                           .blocks = parts.pixel_blocks,
                                                                           .tile_m = gemm.tile.m,
                                                                           .tile_n = gemm.tile.n,
                                                                           .tile_k = gemm.tile.k,
                                                                           .multiprocessors = multiprocessors,
                                                                           .elements = problem.w_elements()})
                                                            : 1;
  parts.blocks_per_split = ceil_div(parts.pixel_blocks, wanted);
  parts.splits = ceil_div(parts.pixel_blocks, parts.blocks_per_split);
  return parts;
}

Binding bind_portable(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device) {
  if (problem.direction == Direction::kForward) return bind_walk<3>(config, problem);
  if (problem.direction == Direction::kBackwardData) return bind_walk<96>(config, problem);
  return bind_weight(config, problem, device);
}

}  // namespace wt
