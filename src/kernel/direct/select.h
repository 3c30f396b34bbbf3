// SPDX-License-Identifier: Apache-2.0
// kernel/direct/select.h - which class template serves a configuration of the direct family: a line a design.
#pragma once

#include "kernel/direct/gather.h"
#include "kernel/direct/gather_tile.h"
#include "kernel/direct/gather_weight.h"
#include "kernel/direct/stream_data.h"
#include "kernel/direct/stream_forward.h"
#include "kernel/direct/stream_weight.h"
#include "kernel/direct/sum.h"

namespace wt {

template <DirectDesign kDesign, Direction kDirection>
struct DirectDesignOf;
template <bool kTile>
struct GatherOf {
  template <KernelConfig kConfig>
  using Kernel = DirectGather<kConfig>;
};
template <>
struct GatherOf<true> {
  template <KernelConfig kConfig>
  using Kernel = DirectGatherTile<kConfig>;
};
template <Direction kDirection>
struct DirectDesignOf<DirectDesign::kGather, kDirection> {
  template <KernelConfig kConfig>
  using Kernel = typename GatherOf<(kConfig.direct.prefetch > 1)>::template Kernel<kConfig>;
};
template <>
struct DirectDesignOf<DirectDesign::kGather, Direction::kBackwardWeight> {
  template <KernelConfig kConfig>
  using Kernel = DirectGatherWeight<kConfig>;
};
template <>
struct DirectDesignOf<DirectDesign::kStream, Direction::kForward> {
  template <KernelConfig kConfig>
  using Kernel = StreamForward<kConfig>;
};
template <>
struct DirectDesignOf<DirectDesign::kStream, Direction::kBackwardData> {
  template <KernelConfig kConfig>
  using Kernel = StreamData<kConfig>;
};
template <>
struct DirectDesignOf<DirectDesign::kStream, Direction::kBackwardWeight> {
  template <KernelConfig kConfig>
  using Kernel = StreamWeight<kConfig>;
};

template <KernelConfig kConfig>
struct DirectKernel : DirectDesignOf<kConfig.direct.design, kConfig.direction>::template Kernel<kConfig> {};

}  // namespace wt
