// SPDX-License-Identifier: Apache-2.0
// kernels/wavelet/bind_weight.cc - launches of the gathering weight gradient: one, or partial sums and the launch that
// adds them.
#include <algorithm>
#include <cstddef>

#include "base/check.h"
#include "config/fields.h"
#include "kernels/beside/split_sum.h"
#include "kernels/shared/conv_arguments.h"
#include "kernels/shared/split.h"
#include "kernels/shared/tma_maps.h"
#include "kernels/wavelet/bind.h"
#include "kernels/wavelet/device/layout.h"
#include "kernels/wavelet/device/weight_arguments.h"
#include "kernels/wavelet/view.h"

namespace wt {
namespace {

// Where the product's rows and columns lie in dw.
void set_output(WaveletWeightArguments& arguments, const WaveletWeightView& view) {
  const ConvProblem& p = view.walk.problem;
  const i32 pitch = arguments.walk.filter_pitch;
  arguments.gathers_outputs = view.gathers_outputs;
  for (const WaveletPhase& phase : arguments.walk.phases) arguments.filter += phase.filter;
  arguments.channel_step = view.gathers_outputs ? pitch : 1;
  arguments.column_step = view.gathers_outputs ? 1 : pitch;
  arguments.outputs = static_cast<i32>(p.k_per_group());
  arguments.group_step = arguments.outputs * pitch;
  arguments.plain_pitch = static_cast<i32>(view.gathers_outputs ? p.c : p.k);
}

}  // namespace

WaveletWeightArguments weight_arguments(const KernelConfig& config, const WaveletWeightView& view) {
  const ConvProblem& p = view.walk.problem;
  WaveletWeightArguments arguments{};
  set_walk(arguments.walk, config, view.walk);
  set_output(arguments, view);
  const WaveletPhase* taps = arguments.walk.phases;
  arguments.numbers = static_cast<i32>(view.walk.numbers());
  arguments.run = make_divider(view.walk.run);
  arguments.taps_w = make_divider(view.walk.row_is_one_run ? 1 : taps[2].taps);
  arguments.taps_h = make_divider(taps[1].taps);
  arguments.pixels = static_cast<i32>(p.n * pixels(view.gathers_outputs ? p.in : p.out()));
  // An empty batch has one block of zeros.
  arguments.pixel_blocks = static_cast<i32>(std::max<int64_t>(1, ceil_div(arguments.pixels, config.gemm.tile.k)));
  arguments.elements = p.w_elements();
  return arguments;
}

Binding bind_wavelet_weight(const KernelConfig& config, const View& seen, const DeviceInfo& device, int asked) {
  const ConvProblem& problem = seen.problem();
  const GemmConfig& gemm = config.gemm;
  const auto& view = wavelet_weight_view(config, seen);
  WT_CHECK(view, "{} does not accept '{}'", name_of(config), to_text(problem));
  WaveletWeightArguments arguments = weight_arguments(config, *view);
  const int64_t tiles_n = ceil_div(view->walk.columns, gemm.tile.n);
  const int64_t tiles_per_group = ceil_div(arguments.numbers, gemm.tile.m) * tiles_n;
  const int64_t tiles = tiles_per_group * problem.g;
  const bool split = gemm.split_k == SplitK::kWorkspace;
  const int64_t blocks = int64_t{device.multiprocessors} * config.min_blocks;
  const int64_t wanted =
      split ? split_count(seen, split_input(config, tiles, arguments.pixel_blocks, blocks, arguments.elements, asked))
            : 1;
  arguments.blocks_per_split = static_cast<i32>(ceil_div(arguments.pixel_blocks, wanted));
  const auto splits = static_cast<int>(ceil_div(arguments.pixel_blocks, arguments.blocks_per_split));
  WT_CHECK(tiles * splits < int64_t{1} << 31, "{} tiles in {} parts", tiles, splits);
  arguments.items = static_cast<u32>(tiles * splits);
  arguments.tiles = make_divider(tiles);
  arguments.tiles_a_group = make_divider(tiles_per_group);
  arguments.tiles_n = make_divider(tiles_n);
  arguments.walk.epilogue = epilogue_arguments(problem);

  Launch launch;
  launch.kernel = name_of(config);
  constexpr size_t kWalk = offsetof(WaveletWeightArguments, walk);
  const Tensor gathered = view->gathers_outputs ? Tensor::kY : Tensor::kX;
  const Tensor plain = view->gathers_outputs ? Tensor::kX : Tensor::kY;
  if (problem.n > 0) {
    launch.pointers.push_back({static_cast<uint32_t>(kWalk + offsetof(WaveletArguments<3>, a)), gathered, 0});
    launch.pointers.push_back({static_cast<uint32_t>(kWalk + offsetof(WaveletArguments<3>, b)), plain, 0});
  }
  Binding binding;
  binding.parts = splits;
  if (split) {
    binding.workspace_bytes = splits * arguments.elements * static_cast<int64_t>(sizeof(float));
    launch.pointers.push_back({offsetof(WaveletWeightArguments, partials), Tensor::kWorkspace, 0});
  } else {
    launch.pointers.push_back({static_cast<uint32_t>(kWalk + offsetof(WaveletArguments<3>, out)), Tensor::kW, 0});
    bind_epilogue(launch, problem, static_cast<uint32_t>(kWalk + offsetof(WaveletArguments<3>, epilogue)));
  }
  launch.shape.grid[0] = static_cast<uint32_t>(std::min<int64_t>(tiles * splits, blocks));
  launch.shape.threads = static_cast<uint32_t>(wavelet_layout::threads(config));
  launch.shape.shared_bytes = static_cast<uint32_t>(wavelet_layout::shared_bytes(config));
  set_params(launch, arguments);
  binding.launches.push_back(std::move(launch));
  if (split) binding.launches.push_back(split_sum_launch(config, problem, device, splits));
  return binding;
}

}  // namespace wt
