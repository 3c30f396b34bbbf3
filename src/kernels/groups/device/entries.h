// SPDX-License-Identifier: Apache-2.0
// kernels/groups/device/entries.h - the kernels for small groups by direction.
#pragma once

#include "kernels/device/direct/sum.h"
#include "kernels/groups/device/kernel.h"
#include "kernels/groups/device/wave.h"
#include "kernels/groups/device/wave_weight.h"
#include "kernels/groups/device/weight.h"

namespace wt {

// By direction and by whether the target's instructions are AMD's.
template <bool kWeight, bool kWave>
struct GroupsOf {
  template <KernelConfig kConfig>
  using Kernel = DirectGroups<kConfig>;
};
template <>
struct GroupsOf<true, false> {
  template <KernelConfig kConfig>
  using Kernel = DirectGroupsWeight<kConfig>;
};
template <>
struct GroupsOf<false, true> {
  template <KernelConfig kConfig>
  using Kernel = WaveGroups<kConfig>;
};
template <>
struct GroupsOf<true, true> {
  template <KernelConfig kConfig>
  using Kernel = WaveGroupsWeight<kConfig>;
};

template <KernelConfig kConfig>
struct GroupsKernel
    : GroupsOf<kConfig.direction == Direction::kBackwardWeight, is_amd(kConfig.target)>::template Kernel<kConfig> {};

}  // namespace wt
