// SPDX-License-Identifier: Apache-2.0
// kernels/tma_weight/device/store.h - the sums of a weight gradient leave the registers.
//
//   two sums --epilogue--> dw, or of merged groups as they are --> one part of the workspace
//   two sums added to what other blocks have added --> the one sum of the workspace (split_k=atomic)
//   four sums as they are --> one part of the workspace, in the order of registers (part.h)
#pragma once

#include "kernels/device/epilogue.h"
#include "kernels/device/gemm/storage.h"
#include "kernels/tma/device/schedule.h"
#include "kernels/tma_weight/device/part.h"
#include "target/hopper.h"

namespace wt {

template <KernelConfig kConfig>
struct WeightStore {
  using Steps = Epilogue<kConfig.epilogue, output_type(kConfig)>;
  using Element = typename Steps::Element;
  static constexpr bool kSplit = kConfig.gemm.split_k == SplitK::kWorkspace;
  static constexpr bool kAtomic = kConfig.gemm.split_k == SplitK::kAtomic;

  // Channels `column` and the next of a tap whose first channel lies at `offset`; `channel` is the output's.
  template <class Params>
  WT_DEVICE static void pair(const Params& p, i32 part, i64 offset, i32 column, i64 channel, float low, float high,
                             Steps& steps) {
    if (column >= p.channels) return;
    const bool both = column + 1 < p.channels;
    const i64 at = offset + column;
    if constexpr (kAtomic) {
      device::atomic_add(p.partials + at, low);
      if (both) device::atomic_add(p.partials + at + 1, high);
    } else if constexpr (kSplit) {
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

// Tiles in the order in which parts hold them.
template <class Params>
WT_DEVICE u32 tiles_of_part(const Params& p) {
  return static_cast<u32>(p.tiles_m) * static_cast<u32>(p.tiles_n) * static_cast<u32>(p.groups);
}
template <class Params>
WT_DEVICE u32 number_of_tile(const Params& p, const TileIndex& tile) {
  const u32 row = static_cast<u32>(tile.group) * static_cast<u32>(p.tiles_m) + static_cast<u32>(tile.m);
  return row * static_cast<u32>(p.tiles_n) + static_cast<u32>(tile.n);
}
template <class Params>
WT_DEVICE TileIndex tile_of_number(const Params& p, u32 number) {
  const u32 row = number / static_cast<u32>(p.tiles_n), group = row / static_cast<u32>(p.tiles_m);
  return {row - group * static_cast<u32>(p.tiles_m), number - row * static_cast<u32>(p.tiles_n),
          static_cast<i32>(group)};
}

// One fragment of 64 rows to its place in part `part`, by each of 128 threads.
template <KernelConfig kConfig, class Params, int kCount>
WT_DEVICE void store_part(const Params& p, i32 part, u32 tiles, u32 tile, int fragment, const float (&d)[kCount]) {
  using Four = Vector<float, 4>;
  constexpr int kBlocks = kCount / 4, kThreads = 128;
  auto* to = reinterpret_cast<Four*>(p.partials) +
             (static_cast<i64>(part) * tiles + tile) * weight_part::tile_vectors(kConfig) +
             (fragment * kBlocks * kThreads + device::thread_index() % kThreads);
  WT_UNROLL for (int j = 0; j < kBlocks; ++j) {
    device::store_global(to + j * kThreads, Four{{d[4 * j], d[4 * j + 1], d[4 * j + 2], d[4 * j + 3]}});
  }
}

}  // namespace wt
