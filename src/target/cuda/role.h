// SPDX-License-Identifier: Apache-2.0
// target/cuda/role.h - registers moved between roles of a block, and launches that overlap (sm_90 on).
#pragma once

#include "target/cuda/identity.h"

namespace wt::device {

// Registers per thread of this warpgroup; a multiple of 8 from 24 to 240. The compiler heeds them only where the kernel
// has a register cap at entry (__launch_bounds__ with blocks) and each role is one branch of a single if/else.
template <int kRegisters>
WT_DEVICE void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
WT_DEVICE void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

// Programmatic dependent launch: the next kernel may start; wait for the previous one's memory.
WT_DEVICE void launch_dependents() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
WT_DEVICE void wait_prerequisites() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

// True in one lane of the warp, which every lane reaches.
WT_DEVICE bool elect() {
  u32 chosen;
  asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.b32 %0, 1, 0, p;\n}" : "=r"(chosen));
  return chosen != 0;
}

}  // namespace wt::device
