// SPDX-License-Identifier: Apache-2.0
// kernel/gemm/tma/weight_store.h - neighbouring sums of a weight gradient leave the registers in pairs.
//
//   two sums --epilogue--> dw, or as they are --> one part of the workspace
#pragma once

#include "kernel/epilogue.h"
#include "kernel/gemm/storage.h"
#include "target/hopper.h"

namespace wt {

template <KernelConfig kConfig>
struct WeightStore {
  using Steps = Epilogue<kConfig.epilogue, output_type(kConfig)>;
  using Element = typename Steps::Element;
  static constexpr bool kSplit = kConfig.gemm.split_k == SplitK::kWorkspace;

  // Channels `column` and the next of a tap whose first channel lies at `offset`; `channel` is the output's.
  template <class Params>
  WT_DEVICE static void pair(const Params& p, i32 part, i64 offset, i32 column, i64 channel, float low, float high,
                             Steps& steps) {
    if (column >= p.channels) return;
    const bool both = column + 1 < p.channels;
    const i64 at = offset + column;
    if constexpr (kSplit) {
      float* out = p.partials + part * p.elements + at;
      if (both && (part * p.elements + at) % 2 == 0) {
        device::store_global(reinterpret_cast<Vector<float, 2>*>(out), Vector<float, 2>{{low, high}});
      } else {
        device::store_global(out, low);
        if (both) device::store_global(out + 1, high);
      }
    } else {
      auto* out = static_cast<Element*>(p.dw) + at;
      const Element first = steps.apply(p.epilogue, low, at, channel);
      if (!both) return Steps::write(out, first);
      const Element second = steps.apply(p.epilogue, high, at + 1, channel);
      if (at % 2 == 0) {
        Steps::write(reinterpret_cast<Vector<Element, 2>*>(out), Vector<Element, 2>{{first, second}});
      } else {
        Steps::write(out, first);
        Steps::write(out + 1, second);
      }
    }
  }
};

}  // namespace wt
