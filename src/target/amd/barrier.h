// SPDX-License-Identifier: Apache-2.0
// target/amd/barrier.h - barriers of a block and of a wave. These targets have no named barriers.
#pragma once

#include "target/amd/identity.h"

namespace wt::device {

// WHY "local": a block's threads exchange data through the LDS. A fence of all memory would wait for the loads in
// flight and empty the nearest cache at every barrier. What blocks exchange goes through fence_global.
WT_DEVICE void sync_block() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup", "local");
}
WT_DEVICE void sync_warp() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

// From here on this wave's instructions come before those of other waves, or in turns with them again.
template <bool kPreferred>
WT_DEVICE void prefer_warp() {
  __builtin_amdgcn_s_setprio(kPreferred ? 1 : 0);
}

}  // namespace wt::device
