// SPDX-License-Identifier: Apache-2.0
// kernel/direct/output.h - the epilogue of neighbouring channels: scale and bias are read once a row, pixels stored
// whole.
#pragma once

#include "kernel/direct/channels.h"
#include "kernel/epilogue.h"
#include "kernel/gemm/storage.h"

namespace wt {

template <KernelConfig kConfig, int kCount>
struct ChannelOutput {
  using Steps = Epilogue<kConfig.epilogue, output_type(kConfig)>;
  using Element = typename Steps::Element;
  using Pixel = Channels<Element, kCount>;

  Steps steps;
  float scale[kCount], bias[kCount];

  // Before a row's stores; `channel` is the first of the thread's. WHY not once a thread: scale and bias would take
  // registers from the accumulators, and the caches give them again for nothing.
  WT_DEVICE void prepare(const EpilogueArguments& p, i32 channel) {
    WT_UNROLL for (int i = 0; i < kCount; ++i) {
      if constexpr (kConfig.epilogue.scale) scale[i] = device::load_global(p.scale + channel + i);
      if constexpr (kConfig.epilogue.bias) bias[i] = device::load_global(p.bias + channel + i);
    }
  }

  WT_DEVICE void store(const EpilogueArguments& p, void* out, i64 offset, const float (&sum)[kCount]) {
    Pixel residual = Pixel::zero(), result = Pixel::zero();
    if constexpr (kConfig.epilogue.residual)
      residual = Pixel::load(static_cast<const Element*>(p.residual) + offset, true);
    WT_UNROLL for (int i = 0; i < kCount; ++i) {
      float scale_i = 1, bias_i = 0;
      if constexpr (kConfig.epilogue.scale) scale_i = scale[i];
      if constexpr (kConfig.epilogue.bias) bias_i = bias[i];
      result.set(i, steps.apply(p, sum[i], scale_i, bias_i, residual.value(i), offset + i));
    }
    if constexpr (!kConfig.epilogue.store) result.store(static_cast<Element*>(out) + offset);
  }
  WT_DEVICE void finish(const EpilogueArguments& p) const { steps.finish(p); }
};

}  // namespace wt
