// SPDX-License-Identifier: Apache-2.0
// kernel/direct/banded_select.h - the banded kernels by direction.
#pragma once

#include "kernel/direct/banded.h"
#include "kernel/direct/banded_weight.h"
#include "kernel/direct/sum.h"

namespace wt {

template <Direction kDirection>
struct BandedOf {
  template <KernelConfig kConfig>
  using Kernel = DirectBanded<kConfig>;
};
template <>
struct BandedOf<Direction::kBackwardWeight> {
  template <KernelConfig kConfig>
  using Kernel = DirectBandedWeight<kConfig>;
};

template <KernelConfig kConfig>
struct BandedKernel : BandedOf<kConfig.direction>::template Kernel<kConfig> {};

}  // namespace wt
