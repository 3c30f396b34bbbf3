// SPDX-License-Identifier: Apache-2.0
// A kernel that goes wrong in ways that would hang or crash a program.
#include "target/target.h"

namespace wt::probe {

using namespace wt::device;

struct MisuseParams {
  u32* words;
  i32 what;
  i32 zero;
};

struct Misuse {
  static constexpr int kThreads = 64, kMinBlocks = 1;
  using Params = MisuseParams;
  enum {
    kNothing,
    kPollForEver,
    kLoopForEver,
    kDivideByZero,
    kStack,
    kNullPointer,
    kWaitForOthers,
    kHalfBarrier,
    kShuffleLane,
    kHalfWarpIndex
  };

  static __attribute__((noinline)) int deep(int depth, volatile int* outer) {
    volatile int frame[64] = {};
    frame[depth % 64] = outer[0] + depth;
    return depth > 100000 ? 0 : deep(depth + 1, frame) + frame[depth % 64];
  }

  WT_DEVICE static void run(const Params& p) {
    const int t = thread_index();
    volatile int spins = 0;
    switch (p.what) {
      case kPollForEver:
        while (load_acquire(p.words) != 1) {
        }
        break;
      case kLoopForEver:
        if (t == 5) store_global(p.words + 1, 1u);
        while (t == 5) spins = 1 - spins;
        break;
      case kDivideByZero:
        store_global(p.words, static_cast<u32>(t / p.zero));
        break;
      case kStack:
        store_global(p.words, static_cast<u32>(deep(0, &spins)));
        break;
      case kNullPointer:
        *reinterpret_cast<volatile u32*>(static_cast<u64>(p.zero)) = 1;
        break;
      case kWaitForOthers:
        // Every block but the first waits for the one before it; only blocks that run side by side can finish.
        if (t == 0) {
          while (load_acquire(p.words) != static_cast<u32>(grid_size().x - 1 - block_index().x)) {
          }
          fence_global();
          store_release(p.words, static_cast<u32>(grid_size().x - block_index().x));
        }
        break;
      case kHalfBarrier:
        if (t < 32) sync_named(3, 64);
        break;
      case kHalfWarpIndex:
        if (lane_index() < 16) store_global(p.words, static_cast<u32>(warp_index()));
        sync_warp();
        break;
      case kShuffleLane:
        store_global(p.words, shuffle(1u, kWarpSize + p.zero));
        break;
    }
  }
};

}  // namespace wt::probe
