// SPDX-License-Identifier: Apache-2.0
#include "kernels/four_wave/kind.h"

#include <cstddef>

#include "config/fields.h"
#include "config/targets.h"
#include "kernels/four_wave/device/arguments.h"
#include "kernels/four_wave/device/layout.h"
#include "kernels/shared/conv_arguments.h"
#include "kernels/shared/tma_maps.h"

namespace wt {
namespace {

// The widest of the vectors that the output knows which all pixels and groups start at a multiple of.
i32 out_vector(const ConvProblem& p) {
  for (const i32 vector : {8, 4})
    if (p.k_per_group() % vector == 0) return vector;
  return 1;
}

FourWaveArguments arguments_of(const ConvProblem& p) {
  const TensorStrides x = tensor_strides(p, Tensor::kX), w = tensor_strides(p, Tensor::kW);
  const int bytes = size_of(p.x);
  const Spatial out = p.out();
  FourWaveArguments a{};
  a.epilogue = epilogue_arguments(p);
  a.image_bytes = x.n * bytes;
  a.out_pitch = p.k;
  a.images = static_cast<u32>(p.n);
  a.pixels = static_cast<u32>(p.n * pixels(out));
  a.columns = static_cast<i32>(p.k_per_group());
  a.depth = static_cast<i32>(p.filter_taps() * p.c_per_group());
  a.group_bytes = static_cast<i32>(x.g * bytes);
  a.filter_bytes = static_cast<i32>(w.n * bytes);
  for (size_t i = 0; i < 3; ++i) {
    a.pixel_bytes[i] = static_cast<i32>(x.spatial[i] * bytes);
    a.in[i] = static_cast<i32>(p.in[i]);
    a.stride[i] = static_cast<i32>(p.stride[i]);
    a.dilation[i] = static_cast<i32>(p.dilation[i]);
    a.pad[i] = static_cast<i32>(p.pad_lower[i]);
    a.out_size[i] = make_divider(out[i]);
    a.filter[i] = make_divider(p.filter[i]);
  }
  a.channels = make_divider(p.c_per_group());
  a.out_vector = out_vector(p);
  return a;
}

}  // namespace

Binding four_wave_kind::bind(const KernelConfig& config, const View& seen, const DeviceInfo&, int) {
  const ConvProblem& problem = seen.problem();
  Binding binding;
  const GemmConfig& gemm = config.gemm;
  const int64_t tiles_m = ceil_div(problem.n * pixels(problem.out()), gemm.tile.m);
  const int64_t tiles_n = ceil_div(problem.k_per_group(), gemm.tile.n), tiles = tiles_m * tiles_n * problem.g;
  if (tiles == 0) return binding;
  FourWaveArguments arguments = arguments_of(problem);
  arguments.tiles_m = static_cast<u32>(tiles_m);
  arguments.tiles_n = static_cast<u32>(tiles_n);
  arguments.tiles = static_cast<u32>(tiles);
  arguments.chiplets = static_cast<u32>(info_of(config.target).chiplets);

  Launch launch;
  launch.kernel = name_of(config);
  launch.pointers.push_back({offsetof(FourWaveArguments, a), Tensor::kX, 0});
  launch.pointers.push_back({offsetof(FourWaveArguments, b), Tensor::kW, 0});
  launch.pointers.push_back({offsetof(FourWaveArguments, out), Tensor::kY, 0});
  bind_epilogue(launch, problem, offsetof(FourWaveArguments, epilogue));
  launch.shape.grid[0] = static_cast<uint32_t>(tiles);
  launch.shape.threads = four_wave_layout::kThreads;
  launch.shape.shared_bytes = static_cast<uint32_t>(four_wave_layout::shared_bytes(config));
  set_params(launch, arguments);
  binding.launches.push_back(std::move(launch));
  return binding;
}

}  // namespace wt
