// SPDX-License-Identifier: Apache-2.0
// kernels/portable/device/wave_copies.h - the asynchronous loops of CDNA: basic_async_v1 and comp_async by copies of
// whole waves.
//
//   global --copy_wave--> buffers (shared) --product--> registers
//
// The same order as pipeline.h's Asynchronous. WHY a loop of its own: the hardware counts a wave's copies instead of
// groups of them, so that a wait names how many may still be under way, and at the end, where nothing is begun any
// more, waits for all.
#pragma once

#include "kernels/portable/device/product.h"

namespace wt {

template <KernelConfig kConfig>
struct WaveCopies {
  using Moves = Movement<kConfig>;
  static constexpr int kBuffers = portable_layout::buffers(kConfig);

  WT_DEVICE static void run(Moves& moves, PortableProduct<kConfig>& product) {
    const i32 blocks = moves.task.count;
    if constexpr (kBuffers == 1) {
      for (i32 block = 0; block < blocks; ++block) {
        moves.copy(Moves::buffer(0));
        device::copy_wave_wait<0>();
        device::sync_block();
        product.multiply(Moves::buffer(0));
        device::sync_block();
      }
    } else {
      WT_UNROLL for (int i = 0; i < kBuffers - 1; ++i) {
        if (i < blocks) moves.copy(Moves::buffer(i));
      }
      int full = 0, empty = kBuffers - 1;
      for (i32 block = 0; block < blocks; ++block) {
        if (block + kBuffers - 1 <= blocks) {
          device::copy_wave_wait<(kBuffers - 2) * Moves::kWaveCopies>();
        } else {
          device::copy_wave_wait<0>();
        }
        device::sync_block();  // this tile has landed for all waves, and the one before it has been multiplied
        if (block + kBuffers - 1 < blocks) moves.copy(Moves::buffer(empty));
        product.multiply(Moves::buffer(full));
        empty = full;
        full = full + 1 == kBuffers ? 0 : full + 1;
      }
      device::sync_block();
    }
  }
};

}  // namespace wt
