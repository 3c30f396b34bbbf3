// SPDX-License-Identifier: Apache-2.0
// conformance/device/amd.h - what a wave and a workgroup of an AMD GPU do: exchanges, barriers over the LDS.
#pragma once

#include "conformance/device/arithmetic.h"

namespace wt::probe {

// In: one word per thread. Out, 2 * kWarpSize + 12 words per thread: shuffle_xor by 1 to kWarpSize - 1, shuffle from
// every lane, the same as floats from two lanes, votes in two words each, a uniform value, indices.
struct WaveExchange {
  static constexpr int kThreads = 128, kMinBlocks = 1, kWords = 2 * kWarpSize + 12;
  using Params = probe::Params;
  WT_DEVICE static void put_votes(u32*& out, bool vote) {
    const u64 bits = ballot(vote);
    store_global(out++, static_cast<u32>(bits));
    store_global(out++, static_cast<u32>(bits >> 32));
  }
  WT_DEVICE static void run(const Params& p) {
    const int t = thread_index();
    const u32 own = load_global(reinterpret_cast<const u32*>(p.in) + t);
    u32* out = reinterpret_cast<u32*>(p.out) + t * kWords;
    for (int mask = 1; mask < kWarpSize; ++mask) store_global(out++, shuffle_xor(own, mask));
    for (int lane = 0; lane < kWarpSize; ++lane) store_global(out++, shuffle(own, lane));
    const float real = static_cast<float>(own & 0xffff);
    store_global(out++, __builtin_bit_cast(u32, shuffle_xor(real, 5)));
    store_global(out++, __builtin_bit_cast(u32, shuffle(real, lane_index() * 3 % kWarpSize)));
    put_votes(out, (own & 1) != 0);
    put_votes(out, (own & 2) != 0);
    put_votes(out, lane_index() < 5);
    store_global(out++, static_cast<u32>(uniform(t / kWarpSize * 100 + 7)));
    store_global(out++, static_cast<u32>(warp_index()));
    store_global(out++, static_cast<u32>(lane_index()));
    store_global(out++, static_cast<u32>(block_index().x + 16 * grid_size().x));
    store_global(out++, static_cast<u32>(kWarpSize));
  }
};

// In: 256 words. Rounds in which every thread writes to the LDS, waits for the workgroup and reads what a thread of
// another wave wrote: as one word, and as one of 16 bytes. Out: what was read, round after round.
struct Barrier {
  static constexpr int kThreads = 256, kMinBlocks = 1, kRounds = 6;
  using Params = probe::Params;
  WT_DEVICE static void run(const Params& p) {
    const int t = thread_index();
    u32 own = load_global(reinterpret_cast<const u32*>(p.in) + t);
    const SharedAddress base = shared_base();
    u32* out = reinterpret_cast<u32*>(p.out) + t * kRounds * 5;
    for (int round = 0; round < kRounds; ++round) {
      store_shared(base + 4 * t, own);
      sync_block();
      const u32 word = load_shared<u32>(base + 4 * ((t + 97) % kThreads));
      const auto four = load_shared<Vector<u32, 4>>(base + 16 * ((t * 5 + round) % (kThreads / 4)));
      sync_block();
      store_global(out++, word);
      WT_UNROLL for (int i = 0; i < 4; ++i) store_global(out++, four.at[i]);
      own = own * 3 + word;
    }
  }
};

}  // namespace wt::probe
