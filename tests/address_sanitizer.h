// SPDX-License-Identifier: Apache-2.0
// tests/address_sanitizer.h - what tests must know of AddressSanitizer.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

namespace wt {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif

// Seen with GCC 12 in a program that does nothing but malloc() beside fork(): 2 of 400 children hang.
inline constexpr const char* kNoForkBesideThreads =
    "AddressSanitizer's allocator does not take its locks before a fork(): a child made while another thread allocates "
    "may wait for one of them for ever";

// What this thread allocates while it lives may be lost.
struct LeaksAllowed {
#if defined(__SANITIZE_ADDRESS__)
  LeaksAllowed() { __lsan_disable(); }
  ~LeaksAllowed() { __lsan_enable(); }
#else
  LeaksAllowed() {}
#endif
  LeaksAllowed(const LeaksAllowed&) = delete;
  LeaksAllowed& operator=(const LeaksAllowed&) = delete;
};

}  // namespace wt
