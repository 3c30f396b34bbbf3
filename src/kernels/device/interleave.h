// SPDX-License-Identifier: Apache-2.0
// kernels/device/interleave.h - what goes between which products: the schedule of a block of instructions.
//
//   products      1 2 3 4 5 6 7 8
//   shared reads  r r r r
//   writes, loads         w w w w        a write makes room for the load behind it
//
// Said once for each block, at its end. The compiler keeps to it as far as what an instruction needs allows, and as far
// as the block has no branch.
#pragma once

#include "target/target.h"

namespace wt {

// Of `count`, what goes to the at-th of `slots`.
constexpr int schedule_share(int count, int at, int slots) {
  return at < 0 || at >= slots ? 0 : count * (at + 1) / slots - count * at / slots;
}

// kStoresFirst: the loads overwrite what the writes take all of.
template <int kProducts, int kReads, int kWrites, int kLoads, bool kStoresFirst = false, int kAt = 0>
WT_DEVICE void interleave() {
  if constexpr (kAt < kProducts) {
    constexpr int kEarly = kProducts > 1 ? kProducts / 2 : 1, kBehind = kProducts - kProducts / 2;
    constexpr int kLate = kAt - kProducts / 2, kSlots = kStoresFirst ? kBehind / 2 : kBehind;
    device::schedule<device::Slot::kMatrix, 1>();
    device::schedule<device::Slot::kSharedRead, schedule_share(kReads, kAt, kEarly)>();
    device::schedule<device::Slot::kSharedWrite, schedule_share(kWrites, kLate, kSlots)>();
    device::schedule<device::Slot::kGlobalRead, schedule_share(kLoads, kLate - (kBehind - kSlots), kSlots)>();
    interleave<kProducts, kReads, kWrites, kLoads, kStoresFirst, kAt + 1>();
  }
}

}  // namespace wt
