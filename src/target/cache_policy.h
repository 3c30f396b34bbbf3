// SPDX-License-Identifier: Apache-2.0
// target/cache_policy.h - how long the L2 cache keeps what a copy brings in.
//
// Freestanding: the host chooses (kernels/shared/cache_policy.h), kernels pass it on, copies carry it (target/*/tma.h).
#pragma once

#include "target/types.h"

namespace wt {

// The bits that the hardware's createpolicy makes of a whole tensor's priority.
struct CachePolicy {
  u64 bits;
  constexpr bool operator==(const CachePolicy&) const = default;
};

inline constexpr CachePolicy kCacheNormal{0x1000000000000000};
inline constexpr CachePolicy kCacheStream{0x12f0000000000000};  // goes first: read once, or soon by all who read it

}  // namespace wt
