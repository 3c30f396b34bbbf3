// SPDX-License-Identifier: Apache-2.0
// conformance/device/amd_buffer.h - loads through a buffer descriptor, inside its range, across its end and beyond;
// copies to shared memory.
#pragma once

#include "conformance/device/arguments.h"
#include "target/cdna.h"
#include "target/target.h"

namespace wt::probe {

using namespace wt::device;

// In: `bytes` bytes that the descriptor covers, and more behind them. Thread t loads at 4 * t bytes, and 64 of them at
// an offset outside every buffer. Out, 8 words per thread: 4, 8 and 16 bytes, and a 16-bit number.
struct BufferLoads {
  static constexpr int kThreads = 256, kMinBlocks = 1;
  using Params = probe::Params;
  WT_DEVICE static void run(const Params& p) {
    const int t = thread_index();
    const BufferView view = buffer_view(p.in, static_cast<u32>(p.bytes));
    const u32 at = t < 192 ? static_cast<u32>(4 * t) : kOutside + static_cast<u32>(4 * t);
    u32* out = reinterpret_cast<u32*>(p.out) + 8 * t;
    const auto two = load_buffer<Vector<u32, 2>>(view, at);
    const auto four = load_buffer<Vector<u32, 4>>(view, at);
    store_global(out, load_buffer<u32>(view, at));
    WT_UNROLL for (int i = 0; i < 2; ++i) store_global(out + 1 + i, two.at[i]);
    WT_UNROLL for (int i = 0; i < 4; ++i) store_global(out + 3 + i, four.at[i]);
    store_global(out + 7, static_cast<u32>(load_buffer<u16>(view, at)));
  }
};

// Each wave copies 16 bytes of its lanes, in an order of their own, and a sixth of them nothing; then once more to
// another place, of which it waits for the first alone. Out, 8 words per thread: what lies in its place after either
// wait.
struct WaveCopies {
  static constexpr int kThreads = 256, kMinBlocks = 1;
  using Params = probe::Params;
  WT_DEVICE static void run(const Params& p) {
    const int t = thread_index(), lane = lane_index();
    const SharedAddress wave = shared_base() + static_cast<u32>((t - lane) * 16);
    const u32 at = static_cast<u32>(16 * (t - lane + (lane * 5 + 3) % kWarpSize));
    copy_wave(wave, p.in, at, t % 6 != 0);
    copy_wave(wave + 16 * kThreads, p.in, at ^ 16, t % 6 != 1);
    u32* out = reinterpret_cast<u32*>(p.out) + 8 * t;
    copy_wave_wait<1>();
    sync_block();
    const auto first = load_shared<Vector<u32, 4>>(wave + static_cast<u32>(lane * 16));
    copy_wave_wait<0>();
    sync_block();
    const auto second = load_shared<Vector<u32, 4>>(wave + 16 * kThreads + static_cast<u32>(lane * 16));
    WT_UNROLL for (int i = 0; i < 4; ++i) store_global(out + i, first.at[i]);
    WT_UNROLL for (int i = 0; i < 4; ++i) store_global(out + 4 + i, second.at[i]);
  }
};

}  // namespace wt::probe
