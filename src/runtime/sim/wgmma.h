// SPDX-License-Identifier: Apache-2.0
// runtime/sim/wgmma.h - the state of one warpgroup's asynchronous matrix products.
//
// An issued product waits in a queue until wgmma_wait covers it (or, under the early policy, any wait). The group's
// products are one actor of the clocks, which counts those that are done: an operand counts as read by it from the
// issue on, and a warp knows of the reads that it has waited for, whenever they happened in this run. Accumulators live
// in a buffer here while a product owns them; the thread's own array holds NaN meanwhile, so that a use in flight
// shows.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/sim/engine.h"
#include "runtime/sim/operand.h"

namespace wt::sim {

inline constexpr int kWarpgroup = 128;  // threads

// Accumulators while products own them.
struct Accumulators {
  std::array<float*, kWarpgroup> d{};  // every thread's array; null: not issued yet
  int n = 0;
  uint64_t users = 0;        // operations of the sequence up to the last one that owns it
  std::vector<float> saved;  // (thread, n / 2): as the threads hold them
};

// A write that an operand's bytes come from: every warp must know it before the product. `generic`: it must have passed
// a proxy fence, too.
struct Need {
  uint32_t actor;
  uint32_t clock;
  bool generic;
};

struct WgmmaOperation {
  WgmmaCall call;
  Site site;
  Accumulators* accumulators = nullptr;
  std::vector<std::array<u32, 4>> registers;  // every thread's A, where A is in registers
  Operand a, b;                               // what is read of shared memory; a: where A is there
  std::vector<Need> needs;
};

struct Warpgroup {
  std::vector<WgmmaOperation> queue;  // [0] is number `first` of the sequence
  uint64_t first = 0;
  std::vector<uint64_t> groups;  // operations issued before each commit
  uint64_t waited = 0;           // operations that a wait has covered
  std::vector<std::unique_ptr<Accumulators>> owned;
  std::vector<Thread*> waiting;
  int wait_pending = 0;
  uint64_t macs = 0;
};

void check_wgmma_end(Thread& thread);

}  // namespace wt::sim
