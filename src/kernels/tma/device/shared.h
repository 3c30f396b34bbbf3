// SPDX-License-Identifier: Apache-2.0
// kernels/tma/device/shared.h - the addresses of layout.h's SharedLayout, and the barriers that lie there.
#pragma once

#include "kernels/device/gemm/ring.h"
#include "kernels/tma/device/exchange.h"
#include "kernels/tma/device/layout.h"
#include "kernels/tma/device/peer.h"

namespace wt {

template <KernelConfig kConfig>
struct TmaShared {
  static constexpr tma_layout::SharedLayout kAt = tma_layout::shared_layout(kConfig);
  static constexpr int kLow = kAt.low - (tma_layout::parts_rows(kConfig) ? kAt.b : 0);  // from a tile to its low parts
  static constexpr bool kChanges = tma_layout::changes_tiles(kConfig);  // between copies and products
  using SlotRing = Ring<kConfig.gemm.stages>;

  SharedAddress a, b, out, exchange;
  SlotRing ring, changed;
  SharedAddress cluster;

  WT_DEVICE static TmaShared here() {
    const SharedAddress base = aligned_shared_base();
    return {base + kAt.a,      base + kAt.b,         base + kAt.out,    base + kAt.exchange,
            {base + kAt.ring}, {base + kAt.changed}, base + kAt.cluster};
  }

  WT_DEVICE SharedAddress a_box(int slot, int box) const {
    return a + slot * tma_layout::a_bytes(kConfig) + box * tma_layout::a_box_bytes(kConfig);
  }
  WT_DEVICE SharedAddress b_box(int slot, int box) const {
    return b + slot * tma_layout::b_bytes(kConfig) + box * tma_layout::b_box_bytes(kConfig);
  }
  // Whose full slots can be multiplied.
  WT_DEVICE const SlotRing& ready() const { return kChanges ? changed : ring; }
  WT_DEVICE ClusterSum<kConfig> sum() const { return {exchange, cluster}; }
  WT_DEVICE Peer<kConfig> peer() const { return {cluster}; }
  WT_DEVICE SharedAddress residual(int consumer) const { return cluster + (kAt.residual - kAt.cluster) + 8 * consumer; }
};

}  // namespace wt
