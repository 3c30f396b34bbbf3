// SPDX-License-Identifier: Apache-2.0
// conformance/device/warp.h - what one warp of an NVIDIA GPU does: ldmatrix, stmatrix and exchanges.
#pragma once

#include "conformance/device/arithmetic.h"

namespace wt::probe {

// Lane l names row l * 7 % 32 of 32 rows of 16 bytes.
WT_DEVICE SharedAddress row_of_lane() { return shared_base() + static_cast<u32>(lane_index() * 7 % 32) * 16; }

// 512 bytes of input to shared memory; out: each lane's registers. form: count of matrices, + 10 where transposed.
struct LoadMatrix {
  static constexpr int kThreads = 32, kMinBlocks = 1;
  using Params = probe::Params;
  template <bool kTransposed, int kCount>
  WT_DEVICE static void one(const Params& p) {
    u32 registers[kCount];
    load_matrix<kTransposed>(registers, row_of_lane());
    WT_UNROLL for (int r = 0; r < kCount; ++r)
        store_global(reinterpret_cast<u32*>(p.out) + lane_index() * kCount + r, registers[r]);
  }
  WT_DEVICE static void run(const Params& p) {
    for (int i = lane_index(); i < 128; i += kThreads)
      store_shared(shared_base() + 4 * i, load_global(reinterpret_cast<const u32*>(p.in) + i));
    sync_warp();
    if (p.form == 4) one<false, 4>(p);
    if (p.form == 2) one<false, 2>(p);
    if (p.form == 14) one<true, 4>(p);
    if (p.form == 12) one<true, 2>(p);
  }
};

// Each lane's registers from the input; out: the 512 bytes of shared memory.
struct StoreMatrix {
  static constexpr int kThreads = 32, kMinBlocks = 1;
  using Params = probe::Params;
  template <bool kTransposed, int kCount>
  WT_DEVICE static void one(const Params& p) {
    u32 registers[kCount];
    WT_UNROLL for (int r = 0; r < kCount; ++r) registers[r] =
        load_global(reinterpret_cast<const u32*>(p.in) + lane_index() * kCount + r);
    store_matrix<kTransposed>(row_of_lane(), registers);
  }
  WT_DEVICE static void run(const Params& p) {
    for (int i = lane_index(); i < 128; i += kThreads) store_shared(shared_base() + 4 * i, kUntouched);
    sync_warp();
    if (p.form == 4) one<false, 4>(p);
    if (p.form == 2) one<false, 2>(p);
    if (p.form == 14) one<true, 4>(p);
    if (p.form == 12) one<true, 2>(p);
    sync_warp();
    for (int i = lane_index(); i < 128; i += kThreads)
      store_global(reinterpret_cast<u32*>(p.out) + i, load_shared<u32>(shared_base() + 4 * i));
  }
};

// In: one word per thread. Out, 72 words per thread: shuffle_xor by 1 to 31, shuffle from every lane, the same as
// floats from four lanes, votes, a uniform value, the warp's index.
struct Exchange {
  static constexpr int kThreads = 64, kMinBlocks = 1, kWords = 72;
  using Params = probe::Params;
  WT_DEVICE static void run(const Params& p) {
    const int t = thread_index();
    const u32 own = load_global(reinterpret_cast<const u32*>(p.in) + t);
    u32* out = reinterpret_cast<u32*>(p.out) + t * kWords;
    for (int mask = 1; mask < 32; ++mask) store_global(out++, shuffle_xor(own, mask));
    for (int lane = 0; lane < 32; ++lane) store_global(out++, shuffle(own, lane));
    const float real = static_cast<float>(own & 0xffff);
    store_global(out++, __builtin_bit_cast(u32, shuffle_xor(real, 5)));
    store_global(out++, __builtin_bit_cast(u32, shuffle(real, lane_index() * 3 % 32)));
    store_global(out++, static_cast<u32>(ballot((own & 1) != 0)));
    store_global(out++, static_cast<u32>(ballot((own & 2) != 0)));
    store_global(out++, static_cast<u32>(ballot(lane_index() < 5)));
    store_global(out++, static_cast<u32>(uniform(t / 32 * 100 + 7)));
    store_global(out++, static_cast<u32>(warp_index()));
    store_global(out++, static_cast<u32>(lane_index()));
    store_global(out++, static_cast<u32>(block_index().x + 16 * grid_size().x));
  }
};

}  // namespace wt::probe
