// SPDX-License-Identifier: Apache-2.0
// kernels/device/direct/output.h - the epilogue of neighbouring channels: scale and bias are read once a row, pixels
// stored whole.
#pragma once

#include "kernels/device/direct/channels.h"
#include "kernels/device/epilogue.h"
#include "kernels/device/gemm/storage.h"

namespace wt {

template <KernelConfig kConfig, int kCount>
struct ChannelOutput {
  using Steps = Epilogue<kConfig.epilogue, output_type(kConfig)>;
  using Element = typename Steps::Element;
  using Pixel = Channels<Element, kCount>;

  Steps steps;
  float scale[kCount], bias[kCount];
  i32 first;  // channel; read where sums are corrected

  // Before a row's stores; `channel` is the first of the thread's. WHY not once a thread: scale and bias would take
  // registers from the accumulators, and the caches give them again for nothing.
  WT_DEVICE void prepare(const EpilogueArguments& p, i32 channel) {
    if constexpr (kConfig.epilogue.x_zero) first = channel;
    WT_UNROLL for (int i = 0; i < kCount; ++i) {
      if constexpr (kConfig.epilogue.scale) scale[i] = Steps::scale_of(p, channel + i);
      if constexpr (kConfig.epilogue.bias) bias[i] = Steps::bias_of(p, channel + i);
    }
  }

  WT_DEVICE void store(const EpilogueArguments& p, void* out, i64 offset, const float (&sum)[kCount]) {
    Pixel residual = Pixel::zero(), result = Pixel::zero();
    // WHY apart: most layers only round, and products with 1 and roundings one by one were a tenth of a step.
    if constexpr (kRounds) {
      if (p.alpha == 1) {
        WT_UNROLL for (int i = 0; i < kCount; i += 2) {
          result.set_pair(i, device::from_floats<Element>(sum[i], sum[i + 1 < kCount ? i + 1 : i]));
        }
        result.store(static_cast<Element*>(out) + offset);
        return;
      }
    }
    if constexpr (kConfig.epilogue.residual)
      residual = Pixel::load(static_cast<const Element*>(p.residual) + offset, true);
    WT_UNROLL for (int i = 0; i < kCount; ++i) {
      float scale_i = 1, bias_i = 0;
      if constexpr (kConfig.epilogue.scale) scale_i = scale[i];
      if constexpr (kConfig.epilogue.bias) bias_i = bias[i];
      result.set(i, steps.apply(p, sum_of(p, sum[i], offset, i), scale_i, bias_i, residual.value(i), offset + i));
    }
    if constexpr (!kConfig.epilogue.store) result.store(static_cast<Element*>(out) + offset);
  }
  WT_DEVICE void finish(const EpilogueArguments& p) const { steps.finish(p); }

 private:
  static constexpr bool kInteger = kConfig.x == DataType::kI8;

  // int8 is summed in fp32, exactly (kInt8Taps of limits.h), and finished as int32.
  WT_DEVICE auto sum_of(const EpilogueArguments& p, float sum, i64 offset, int i) const {
    if constexpr (!kInteger) {
      return sum;
    } else if constexpr (kConfig.epilogue.x_zero) {
      return static_cast<i32>(sum) - device::load_global(Steps::corrections_at(p, offset) + first + i);
    } else {
      return static_cast<i32>(sum);
    }
  }

  // WHY not of lines: they wait for memory alone, and their kernels have no registers left.
  static constexpr bool kRounds = kConfig.dims > 1 && !kConfig.epilogue.scale && !kConfig.epilogue.bias &&
                                  !kConfig.epilogue.placed() && !kConfig.epilogue.amax &&
                                  kConfig.epilogue.activation == Activation::kNone && sizeof(Element) == 2 &&
                                  kCount % 2 == 0;
};

}  // namespace wt
