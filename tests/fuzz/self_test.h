// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/self_test.h - faults planted for the fuzzers themselves: found, made small, kept, counted and repeated.
#pragma once

namespace wt::fuzz {

// Exit code: 1 where something was not as it must be, which is printed.
int self_test();

}  // namespace wt::fuzz
