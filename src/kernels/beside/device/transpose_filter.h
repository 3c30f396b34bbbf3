// SPDX-License-Identifier: Apache-2.0
// kernels/beside/device/transpose_filter.h - a filter with its output channels innermost, taps in the order of the
// phases of backward data.
//
//   w (groups, filters, taps, channels) --64x64 through shared memory--> (groups, channels, taps by phase, filters)
//
// Backward data is then summed along memory, as the forward pass is. A four-wave kernel of copied e4m3 gets FNUZ
// numbers (fnuz_copy.h).
#pragma once

#include "kernels/beside/device/transpose_filter_arguments.h"
#include "kernels/device/gemm/storage.h"
#include "target/number.h"
#include "target/target.h"

namespace wt {

template <KernelConfig kConfig>
struct TransposeFilter {
  using Params = TransposeFilterArguments;
  using Element = Storage<kConfig.w>;
  static constexpr int kThreads = kTransposeThreads;
  static constexpr int kMinBlocks = 1;

  WT_DEVICE static void run(const Params& p) {
    u32 index = static_cast<u32>(device::block_index().x);
    const i32 channel = static_cast<i32>(index % p.tiles_c) * kTile;
    index /= p.tiles_c;
    const i32 filter = static_cast<i32>(index % p.tiles_k) * kTile;
    index /= p.tiles_k;
    const i32 tap = static_cast<i32>(index % p.taps), taps = static_cast<i32>(p.taps);
    const i64 group = index / p.taps;
    const int thread = device::thread_index(), across = thread % kTile;

    const i64 first = (group * p.filters + filter) * taps + tap;  // row of channels
    if (channel + across < p.channels) {
      for (int k = thread / kTile; k < kTile && filter + k < p.filters; k += kThreads / kTile) {
        device::store_shared(place(k, across),
                             device::load_global(static_cast<const Element*>(p.w) +
                                                 (first + static_cast<i64>(k) * taps) * p.channels + channel + across));
      }
    }
    device::sync_block();
    const i64 out = (group * p.channels + channel) * taps + place_of(p, tap);  // row of filters
    if (filter + across < p.filters) {
      for (int c = thread / kTile; c < kTile && channel + c < p.channels; c += kThreads / kTile) {
        device::store_global(
            static_cast<Element*>(p.turned) + (out + static_cast<i64>(c) * taps) * p.filters + filter + across,
            stored(device::load_shared<Element>(place(across, c))));
      }
    }
  }

 private:
  static constexpr int kTile = kTransposeTile;
  static constexpr int kPitch = (kTile + 4 / static_cast<int>(sizeof(Element))) * static_cast<int>(sizeof(Element));

  static constexpr bool kFnuz = kConfig.kind == Kind::kFourWave && kConfig.gemm.aligned_copy && kSame<Element, E4m3>;

  WT_DEVICE static Element stored(Element value) {
    if constexpr (kFnuz) return {static_cast<u8>(number::halved_to_fnuz(value.bits))};
    return value;
  }

  WT_DEVICE static SharedAddress place(int k, int c) {
    return device::shared_base() + static_cast<u32>(k * kPitch + c * static_cast<int>(sizeof(Element)));
  }

  // The tap's place among those of all phases.
  WT_DEVICE static i32 place_of(const Params& p, i32 tap) {
    i32 at[3], remainder[3];
    WT_UNROLL for (int i = 2; i >= 0; --i) {
      at[i] = tap % p.filter[i];
      tap /= p.filter[i];
      remainder[i] = at[i] % p.step[i];
    }
    i32 inside = 0;
    WT_UNROLL for (int i = 0; i < 3; ++i) {
      inside = inside * taps_with(p.filter[i], p.step[i], remainder[i]) + at[i] / p.step[i];
    }
    return phase_start(p.filter, p.step, remainder) + inside;
  }
};

}  // namespace wt
