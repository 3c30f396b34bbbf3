// SPDX-License-Identifier: Apache-2.0
// kernels/device/reciprocal.h - division of small numbers by one that the host knows: a multiplication and a shift.
//
// Freestanding: the host makes the reciprocal, the kernels divide by it.
#pragma once

namespace wt {

// For a divisor up to 1024.
constexpr int reciprocal_of(int divisor) { return ((1 << 20) + divisor - 1) / divisor; }

// value / divisor for 0 <= value < 1024: what the reciprocal is too large by stays below 2^20 / divisor.
constexpr int quotient(int value, int reciprocal) {
  return static_cast<int>(static_cast<unsigned>(value) * static_cast<unsigned>(reciprocal) >> 20);
}

}  // namespace wt
