// SPDX-License-Identifier: Apache-2.0
// kernels/device/divider.h - division by a number that the host knows: one wide multiplication on the device.
//
// Freestanding: the host makes dividers, the kernel divides by them.
#pragma once

#include "target/types.h"

namespace wt {

// n / by for n below 2^31, by from 1 to 2^31: (n + n * magic / 2^32) / 2^shift.
struct Divider {
  u32 by;
  u32 magic;
  u32 shift;
};

constexpr Divider make_divider(i64 by) {
  u32 shift = 0;
  while ((i64{1} << shift) < by) ++shift;
  const u64 magic = ((u64{1} << shift) - static_cast<u64>(by)) * (u64{1} << 32) / static_cast<u64>(by) + 1;
  return {static_cast<u32>(by), static_cast<u32>(magic), shift};
}

constexpr u32 quotient(u32 n, const Divider& d) {
  return (n + static_cast<u32>(static_cast<u64>(n) * d.magic >> 32)) >> d.shift;
}

}  // namespace wt
