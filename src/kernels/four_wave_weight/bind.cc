// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>

#include "base/integers.h"
#include "config/fields.h"
#include "config/targets.h"
#include "kernels/beside/split_sum.h"
#include "kernels/four_wave/device/layout.h"
#include "kernels/four_wave_weight/device/arguments.h"
#include "kernels/four_wave_weight/kind.h"
#include "kernels/shared/conv_arguments.h"
#include "kernels/shared/split.h"
#include "problem/measures.h"

namespace wt {
namespace {

FourWaveWeightArguments arguments_of(const KernelConfig& config, const ConvProblem& p, const FourWaveParts& parts) {
  const TensorStrides x = tensor_strides(p, Tensor::kX);
  const int bytes = size_of(p.x);
  const Spatial out = p.out();
  FourWaveWeightArguments a{};
  a.epilogue = epilogue_arguments(p);
  a.elements = p.w_elements();
  a.image_bytes = x.n * bytes;
  a.images = static_cast<i32>(p.n);
  a.pixels = static_cast<i32>(p.n * pixels(out));
  a.outputs = static_cast<i32>(p.k_per_group());
  a.numbers = static_cast<i32>(parts.numbers);
  a.dy_pitch = static_cast<i32>(p.k * bytes);
  a.dy_group = static_cast<i32>(p.k_per_group() * bytes);
  a.x_group = static_cast<i32>(x.g * bytes);
  int64_t left = config.gemm.tile.k;  // pixels of an advance
  for (size_t i = 3; i-- > 0;) {
    a.pixel_bytes[i] = static_cast<i32>(x.spatial[i] * bytes);
    a.in[i] = static_cast<i32>(p.in[i]);
    a.stride[i] = static_cast<i32>(p.stride[i]);
    a.dilation[i] = static_cast<i32>(p.dilation[i]);
    a.pad[i] = static_cast<i32>(p.pad_lower[i]);
    a.out_size[i] = make_divider(out[i]);
    a.filter[i] = make_divider(p.filter[i]);
    a.advance[i] = static_cast<i32>(left % out[i] * p.stride[i]);
    a.advance_bytes += a.advance[i] * a.pixel_bytes[i];
    left /= out[i];
  }
  a.advance_bytes += static_cast<i32>(left * a.image_bytes);
  a.channels = make_divider(p.c_per_group());
  a.out_vector = parts.numbers % 8 == 0 ? 8 : parts.numbers % 4 == 0 ? 4 : 1;
  a.pixel_blocks = static_cast<i32>(parts.pixel_blocks);
  a.blocks_per_split = static_cast<i32>(parts.blocks_per_split);
  a.tiles_m = static_cast<u32>(parts.tiles_m);
  a.tiles_n = static_cast<u32>(parts.tiles_n);
  a.items = static_cast<u32>(parts.tiles * parts.splits);
  a.chiplets = static_cast<u32>(info_of(config.target).chiplets);
  a.tiles = make_divider(parts.tiles);
  return a;
}

}  // namespace

FourWaveParts four_wave_parts(const KernelConfig& config, const View& seen, int asked) {
  const ConvProblem& p = seen.problem();
  const GemmConfig& gemm = config.gemm;
  const int64_t resident =
      std::max<int64_t>(1, info_of(config.target).shared_per_unit / four_wave_layout::shared_bytes(config));
  FourWaveParts parts;
  parts.numbers = p.filter_taps() * p.c_per_group();
  parts.tiles_m = ceil_div(p.k_per_group(), gemm.tile.m);
  parts.tiles_n = ceil_div(parts.numbers, gemm.tile.n);
  parts.tiles = parts.tiles_m * parts.tiles_n * p.g;
  // An empty batch has one block of zeros.
  parts.pixel_blocks = std::max<int64_t>(1, ceil_div(p.n * pixels(p.out()), gemm.tile.k));
  const int64_t wanted =
      gemm.split_k == SplitK::kWorkspace
          ? split_count(seen, split_input(config, parts.tiles, parts.pixel_blocks,
                                          seen.rates().units * std::min<int64_t>(resident, 2), p.w_elements(), asked))
          : 1;
  parts.blocks_per_split = ceil_div(parts.pixel_blocks, wanted);
  parts.splits = ceil_div(parts.pixel_blocks, parts.blocks_per_split);
  return parts;
}

Binding four_wave_weight_kind::bind(const KernelConfig& config, const View& seen, const DeviceInfo& device,
                                    int splits) {
  const ConvProblem& problem = seen.problem();
  const FourWaveParts parts = four_wave_parts(config, seen, splits);
  const FourWaveWeightArguments arguments = arguments_of(config, problem, parts);
  Launch launch;
  launch.kernel = name_of(config);
  if (problem.n > 0) {
    launch.pointers.push_back({offsetof(FourWaveWeightArguments, dy), Tensor::kY, 0});
    launch.pointers.push_back({offsetof(FourWaveWeightArguments, x), Tensor::kX, 0});
  }
  Binding binding;
  const bool split = config.gemm.split_k == SplitK::kWorkspace;
  if (split) {
    launch.pointers.push_back({offsetof(FourWaveWeightArguments, partials), Tensor::kWorkspace, 0});
    binding.parts = parts.splits;
    binding.workspace_bytes = parts.splits * problem.w_elements() * static_cast<int64_t>(sizeof(float));
  } else {
    launch.pointers.push_back({offsetof(FourWaveWeightArguments, dw), Tensor::kW, 0});
    bind_epilogue(launch, problem, offsetof(FourWaveWeightArguments, epilogue));
  }
  launch.shape.grid[0] = arguments.items;
  launch.shape.threads = four_wave_layout::kThreads;
  launch.shape.shared_bytes = static_cast<uint32_t>(four_wave_layout::shared_bytes(config));
  set_params(launch, arguments);
  binding.launches.push_back(std::move(launch));
  if (split) binding.launches.push_back(split_sum_launch(config, problem, device, static_cast<int>(parts.splits)));
  return binding;
}

}  // namespace wt
