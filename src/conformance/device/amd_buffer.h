// SPDX-License-Identifier: Apache-2.0
// conformance/device/amd_buffer.h - loads through a buffer descriptor, inside its range, across its end and beyond.
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

}  // namespace wt::probe
