// SPDX-License-Identifier: Apache-2.0
// conformance/device/block.h - what the warps of a block do together: barriers and asynchronous copies of NVIDIA GPUs.
#pragma once

#include "conformance/device/arithmetic.h"
#include "target/target.h"

namespace wt::probe {

using namespace wt::device;

// In: 128 words. Rounds over the named barriers 1 to 14: two warps write and arrive, two sync and read, and back.
// Out: what each thread read, round after round.
struct Named {
  static constexpr int kThreads = 128, kMinBlocks = 1, kRounds = 7;
  using Params = probe::Params;
  WT_DEVICE static void run(const Params& p) {
    const int t = thread_index(), half = t / 64;
    const u32 own = load_global(reinterpret_cast<const u32*>(p.in) + t);
    const SharedAddress base = shared_base();
    u32* out = reinterpret_cast<u32*>(p.out) + t * kRounds;
    for (int round = 0; round < kRounds; ++round) {
      const int there = 1 + 2 * round, back = there + 1;
      if (half == 0) {
        store_shared(base + 4 * t, own + static_cast<u32>(round));
        arrive_named(there, kThreads);
        sync_named(back, kThreads);
        store_global(out + round, load_shared<u32>(base + 512 + 4 * (63 - t)));
      } else {
        sync_named(there, kThreads);
        const u32 got = load_shared<u32>(base + 4 * (127 - t));
        store_global(out + round, got);
        store_shared(base + 512 + 4 * (t - 64), got * 3 + own);
        arrive_named(back, kThreads);
      }
    }
  }
};

// In: 2048 bytes. Copies of 16, 8 and 4 bytes per thread, some cut short, in two groups. Out: the 4096 bytes of shared
// memory at the end, then what each thread read of the first group while the second was in flight.
struct CopyAsync {
  static constexpr int kThreads = 128, kMinBlocks = 1;
  using Params = probe::Params;
  WT_DEVICE static void run(const Params& p) {
    const int t = thread_index();
    const SharedAddress base = shared_base();
    for (int i = t; i < 1024; i += kThreads) store_shared(base + 4 * i, kUntouched);
    sync_block();
    copy_async<16>(base + 16 * t, p.in + 16 * (127 - t), t % 17);
    copy_async_commit();
    if (t % 3 != 0) copy_async<8>(base + 2048 + 8 * t, p.in + 8 * t, t % 9);
    copy_async<4>(base + 3072 + 4 * t, p.in + 4 * t, t % 5);
    copy_async_commit();
    copy_async_wait<1>();
    sync_block();
    const auto first = load_shared<Vector<u32, 4>>(base + 16 * (127 - t));
    copy_async_wait<0>();
    sync_block();
    for (int i = t; i < 1024; i += kThreads)
      store_global(reinterpret_cast<u32*>(p.out) + i, load_shared<u32>(base + 4 * i));
    store_global(reinterpret_cast<Vector<u32, 4>*>(p.out + 4096) + t, first);
  }
};

}  // namespace wt::probe
