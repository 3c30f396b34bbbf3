// SPDX-License-Identifier: Apache-2.0
// kernels/beside/device/merge_groups.h - a grouped filter as that of fewer, wider groups, with zeros between those that
// were apart.
//
//   w (k, taps, channels) --> workspace (k, taps, per_merged * channels), block-diagonal
//
// The launch before every kernel with groups_per_tile > 1, which then reads whole boxes of channels. Zeros times a
// non-finite value of a neighbouring group are not zero: such kernels are finite_only.
#pragma once

#include "kernels/beside/device/merge_groups_arguments.h"
#include "kernels/device/gemm/storage.h"
#include "target/target.h"

namespace wt {

template <KernelConfig kConfig>
struct MergeGroups {
  using Params = MergeGroupsArguments;
  using Element = Storage<kConfig.w>;
  static constexpr int kThreads = kMergeThreads;
  static constexpr int kMinBlocks = 1;

  WT_DEVICE static void run(const Params& p) {
    const i64 step = static_cast<i64>(device::grid_size().x) * kThreads;
    const i32 wide = p.per_merged * p.channels;
    for (i64 at = static_cast<i64>(device::block_index().x) * kThreads + device::thread_index(); at < p.elements;
         at += step) {
      const i64 row = at / wide;  // of one output channel and tap
      const i32 channel = static_cast<i32>(at - row * wide);
      const i32 group = static_cast<i32>(row / p.taps / p.filters % p.per_merged);
      const i32 own = channel - group * p.channels;
      Element value{};
      if (own >= 0 && own < p.channels)
        value = device::load_global(static_cast<const Element*>(p.w) + row * p.channels + own);
      device::store_global(static_cast<Element*>(p.merged) + at, value);
    }
  }
};

}  // namespace wt
