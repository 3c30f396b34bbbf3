// SPDX-License-Identifier: Apache-2.0
// kernel/direct/groups_select.h - the kernels for small groups by direction.
#pragma once

#include "kernel/direct/groups.h"
#include "kernel/direct/groups_weight.h"
#include "kernel/direct/sum.h"

namespace wt {

template <Direction kDirection>
struct GroupsOf {
  template <KernelConfig kConfig>
  using Kernel = DirectGroups<kConfig>;
};
template <>
struct GroupsOf<Direction::kBackwardWeight> {
  template <KernelConfig kConfig>
  using Kernel = DirectGroupsWeight<kConfig>;
};

template <KernelConfig kConfig>
struct GroupsKernel : GroupsOf<kConfig.direction>::template Kernel<kConfig> {};

}  // namespace wt
