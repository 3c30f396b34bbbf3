// SPDX-License-Identifier: Apache-2.0
// Probes of the primitives that every target has.
#include "target/target.h"

namespace wt::probe {

using namespace wt::device;

struct Params {
  const float* in;
  float* out;
  u32* words;
  int count;
  int fault;
};

// Reverses each block's part of `in` through shared memory.
struct Reverse {
  static constexpr int kThreads = 128, kMinBlocks = 1;
  using Params = probe::Params;
  WT_DEVICE static void run(const Params& p) {
    const int t = thread_index(), at = block_index().x * kThreads;
    const SharedAddress base = shared_base();
    store_shared(base + 4 * t, load_global(p.in + at + t));
    if (p.fault != 1) sync_block();
    store_global(p.out + at + t, load_shared<float>(base + 4 * (kThreads - 1 - t)));
  }
};

// Sums of warps and of the block, votes and shuffles.
struct Reduce {
  static constexpr int kThreads = 256, kMinBlocks = 1;
  using Params = probe::Params;
  WT_DEVICE static void run(const Params& p) {
    const int t = thread_index(), lane = lane_index(), warp = warp_index();
    float sum = load_global(p.in + block_index().x * kThreads + t);
    const u64 even = ballot(t % 2 == 0);
    for (int mask = kWarpSize / 2; mask; mask /= 2) sum += shuffle_xor(sum, mask);
    const float first = shuffle(static_cast<float>(t), 3);
    const SharedAddress base = shared_base();
    if (lane == 0) store_shared(base + 4 * warp, sum);
    sync_block();
    if (t == 0) {
      float total = 0;
      for (int w = 0; w < kThreads / kWarpSize; ++w) total += load_shared<float>(base + 4 * w);
      atomic_add(p.out, total);
      atomic_add(p.words, 1u);
      atomic_max(p.words + 1, static_cast<u32>(block_index().x));
      store_global(p.words + 2, static_cast<u32>(even));
    }
    if (t == kThreads - 1) store_global(p.out + 1, first);
  }
};

}  // namespace wt::probe
