// SPDX-License-Identifier: Apache-2.0
// kernel/gemm/ring.h - slots in shared memory that a producer fills and consumers empty, guarded by mbarriers.
//
//   producer: wait empty(slot) -> expect bytes, copy -> full(slot);  consumer: wait full(slot) -> multiply -> arrive
//   empty
#pragma once

#include "target/hopper.h"

namespace wt {

// Which slot comes next, and how often the ring has gone round (modulo 2).
template <int kSlots>
struct RingCursor {
  int slot = 0;
  u32 phase = 0;

  WT_DEVICE void next() {
    if (++slot == kSlots) {
      slot = 0;
      phase ^= 1;
    }
  }
  WT_DEVICE void skip(int count) {
    const int total = slot + count;
    phase ^= static_cast<u32>(total / kSlots) & 1;
    slot = total % kSlots;
  }
  WT_DEVICE int previous() const { return slot == 0 ? kSlots - 1 : slot - 1; }
};

template <int kSlots>
struct Ring {
  static constexpr int kBytes = 16 * kSlots;
  using Cursor = RingCursor<kSlots>;

  SharedAddress base;

  WT_DEVICE SharedAddress full(int slot) const { return base + 8 * slot; }
  WT_DEVICE SharedAddress empty(int slot) const { return base + 8 * (kSlots + slot); }

  // By one thread, before the barrier that starts the roles.
  WT_DEVICE void init(u32 producers, u32 consumers) const {
    for (int i = 0; i < kSlots; ++i) {
      device::mbarrier_init(full(i), producers);
      device::mbarrier_init(empty(i), consumers);
    }
  }
  WT_DEVICE void wait_full(const Cursor& at) const { device::mbarrier_wait(full(at.slot), at.phase); }
  // WHY the flipped parity: before the first round every slot is empty, and the phase before phase 0 counts as
  // complete.
  WT_DEVICE void wait_empty(const Cursor& at) const { device::mbarrier_wait(empty(at.slot), at.phase ^ 1); }
};

}  // namespace wt
