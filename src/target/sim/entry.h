// SPDX-License-Identifier: Apache-2.0
// target/sim/entry.h - what a compiled kernel tells the library of itself.
#pragma once

#include "target/types.h"

namespace wt::sim {

// What the library checks a launch against.
struct Entry {
  int threads;
  int min_blocks;  // of a multiprocessor, which caps a thread's registers at launch
  u32 params_bytes;
};

}  // namespace wt::sim
