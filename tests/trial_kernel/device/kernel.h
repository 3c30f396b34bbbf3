// SPDX-License-Identifier: Apache-2.0
// kernels/trial/device/kernel.h - a forward convolution, one thread per output.
#pragma once

#include "config/kernel_config.h"
#include "kernels/device/epilogue.h"
#include "kernels/trial/device/arguments.h"

namespace wt {

template <KernelConfig kConfig>
struct TrialKernel {
  using Params = TrialArguments;
  static constexpr int kThreads = kConfig.direct.block_size;
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    const ConvShape& s = p.shape;
    i64 index = static_cast<i64>(device::block_index().x) * kThreads + device::thread_index();
    Epilogue<kConfig.epilogue, kConfig.y> epilogue;
    if (index < p.outputs) {
      i32 at[3];
      const i32 k = take(index, s.k);
      for (int i = 2; i >= 0; --i) at[i] = take(index, s.out[i]);
      const i64 offset = index * p.y_strides.n + k * p.y_strides.channel + at[0] * p.y_strides.spatial[0] +
                         at[1] * p.y_strides.spatial[1] + at[2] * p.y_strides.spatial[2];
      epilogue.write(static_cast<Storage<kConfig.y>*>(p.y) + offset,
                     epilogue.apply(p.epilogue, sum(p, index, k, at), offset, k));
    }
    epilogue.finish(p.epilogue);
  }

 private:
  // The innermost digit of `index`, which loses it.
  WT_DEVICE static i32 take(i64& index, i32 size) {
    const i32 digit = static_cast<i32>(index % size);
    index /= size;
    return digit;
  }

  WT_DEVICE static float sum(const Params& p, i64 image, i32 k, const i32 (&at)[3]) {
    const ConvShape& s = p.shape;
    float total = 0;
    for (i32 a = 0; a < s.filter[0]; ++a) {
      for (i32 r = 0; r < s.filter[1]; ++r) {
        for (i32 t = 0; t < s.filter[2]; ++t) {
          const i32 z = at[0] * s.stride[0] + a * s.dilation[0] - s.pad[0];
          const i32 y = at[1] * s.stride[1] + r * s.dilation[1] - s.pad[1];
          const i32 x = at[2] * s.stride[2] + t * s.dilation[2] - s.pad[2];
          if (z < 0 || z >= s.in[0] || y < 0 || y >= s.in[1] || x < 0 || x >= s.in[2]) continue;
          const auto* pixel = static_cast<const Storage<kConfig.x>*>(p.x) + image * p.x_strides.n +
                              z * p.x_strides.spatial[0] + y * p.x_strides.spatial[1] + x * p.x_strides.spatial[2];
          const auto* tap = static_cast<const Storage<kConfig.w>*>(p.w) + k * p.w_strides.n +
                            a * p.w_strides.spatial[0] + r * p.w_strides.spatial[1] + t * p.w_strides.spatial[2];
          for (i32 c = 0; c < s.c; ++c) {
            const float value = device::to_float(device::load_global(pixel + c * p.x_strides.channel));
            total = device::multiply_add(value, device::to_float(device::load_global(tap + c * p.w_strides.channel)),
                                         total);
          }
        }
      }
    }
    return total;
  }
};

}  // namespace wt
