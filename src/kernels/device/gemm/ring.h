// SPDX-License-Identifier: Apache-2.0
// kernels/device/gemm/ring.h - slots in shared memory that a producer fills and consumers empty, guarded by mbarriers.
//
//   producer: wait empty(slot) -> expect bytes, copy -> full(slot);  consumer: wait full(slot) -> multiply -> arrive
//   empty
//
// Consumers release a slot when the products of the next one have been issued (pass_slot, pass_last), so that the
// matrix units always have work. Kernels that hold slots for longer (kernels/tma_halo, kernels/taps) release by
// themselves.
#pragma once

#include "kernels/device/gemm/regions.h"
#include "target/hopper.h"

namespace wt {

// The first byte of a block's shared memory that tiles may start at.
WT_DEVICE SharedAddress aligned_shared_base() {
  return (device::shared_base() + (kSharedAlignment - 1)) & ~(kSharedAlignment - 1u);
}

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
  static constexpr int kBytes = ring_bytes(kSlots);
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

// The start of a block whose first thread sets the barriers up: by every thread, before one waits. Kernels whose
// producers start without the others have kernels/tma/device/roles.h.
template <class Init>
WT_DEVICE void start_barriers(Init&& init) {
  if (device::thread_index() == 0) {
    init();
    device::mbarrier_fence_init();
  }
  device::sync_block();
}

template <int kFragments, int kCount>
WT_DEVICE void zero_sums(float (&d)[kFragments][kCount]) {
  WT_UNROLL for (int i = 0; i < kFragments; ++i) { WT_UNROLL for (int e = 0; e < kCount; ++e) d[i][e] = 0; }
}

// After the products of `slot` have been issued: those of the slot before have been read then, and one lane of each
// warp releases it by release(slot). `releases`: this is that lane, and there is a slot before.
template <int kSlots, class Release>
WT_DEVICE void pass_slot(RingCursor<kSlots>& slot, bool releases, Release&& release) {
  device::wgmma_wait<1>();  // the stage before this one has been read
  if (releases) release(slot.previous());
  slot.next();
}

// After the last one: the sums are there.
template <int kSlots, int kFragments, int kCount, class Release>
WT_DEVICE void pass_last(const RingCursor<kSlots>& slot, float (&d)[kFragments][kCount], bool releases,
                         Release&& release) {
  device::wgmma_wait<0>();
  WT_UNROLL for (int i = 0; i < kFragments; ++i) device::wgmma_hold(d[i]);
  if (releases) release(slot.previous());
}

}  // namespace wt
