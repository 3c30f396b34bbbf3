// SPDX-License-Identifier: Apache-2.0
// runtime/sim/wgmma.h - the state of one warpgroup's asynchronous matrix products.
//
// An issued product waits in a queue until wgmma_wait covers it (or, under the early policy, any wait). Accumulators
// live in a buffer here while a product owns them; the thread's own array holds NaN meanwhile, so that a use in flight
// shows.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/sim/engine.h"

namespace wt::sim {

inline constexpr int kWarpgroup = 128;  // threads

// A tile of accumulators while products own it. WHY (n, 64) and not (64, n): the product is computed transposed, so
// that the vectors run along the 64 rows of A, which is the smaller operand to transpose.
struct Accumulators {
  std::array<float*, kWarpgroup> d{};  // every thread's array; null: not issued yet
  int n = 0;
  uint64_t users = 0;       // operations of the sequence up to the last one that owns it
  std::vector<float> tile;  // (n, 64)
};

struct WgmmaOperation {
  WgmmaCall call;
  Site site;
  Accumulators* accumulators = nullptr;
  std::vector<std::array<u32, 4>> registers;  // every thread's A, where A is in registers
  std::vector<uint32_t> cells_a, cells_b;     // 16-byte chunks that are read
  Clock needs;                                // what every warp must know before: the writes it reads, and fences
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
