// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_banded/device/entries.h - the banded kernels by direction and by the way of their rows.
#pragma once

#include "kernels/depthwise_banded/device/bulk.h"
#include "kernels/depthwise_banded/device/kernel.h"
#include "kernels/depthwise_banded/device/weight.h"
#include "kernels/device/direct/sum.h"

namespace wt {

template <Direction kDirection, bool kInBulk>
struct BandedOf {
  template <KernelConfig kConfig>
  using Kernel = DirectBanded<kConfig>;
};
template <>
struct BandedOf<Direction::kBackwardWeight, false> {
  template <KernelConfig kConfig>
  using Kernel = DirectBandedWeight<kConfig>;
};
template <Direction kDirection>
struct BandedOf<kDirection, true> {
  template <KernelConfig kConfig>
  using Kernel = DirectBandedBulk<kConfig>;
};

template <KernelConfig kConfig>
struct BandedKernel : BandedOf<kConfig.direction, banded::in_bulk(kConfig)>::template Kernel<kConfig> {};

}  // namespace wt
