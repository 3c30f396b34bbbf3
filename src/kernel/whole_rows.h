// SPDX-License-Identifier: Apache-2.0
// kernel/whole_rows.h - tensors copied so that their rows of channels start at multiples of 16 bytes, as bulk copies
// need.
//
//   global rows of any length --> registers --> global rows of whole chunks of 16 bytes
//
// A thread makes one chunk at a time. What lies behind a row's end is zero; the maps of bulk copies end before it.
#pragma once

#include "kernel/gemm/storage.h"
#include "kernel/whole_rows_arguments.h"
#include "target/role.h"
#include "target/target.h"

namespace wt {

// Elements of 16 bits are moved, not read.
struct WholeRows {
  using Params = WholeRowsArguments;
  static constexpr int kThreads = kWholeRowsThreads;
  static constexpr int kMinBlocks = 8;  // as many as the launch has on a multiprocessor

  WT_DEVICE static void run(const Params& p) {
    device::launch_dependents();  // the kernel that reads the copies starts, and waits for them in its producers
    WT_UNROLL for (int i = 0; i < kWholeRowsMost; ++i) copy(p.copies[i]);
  }

 private:
  static constexpr int kChunk = 8;
  using Chunk = Vector<u16, kChunk>;
  using Pair = Vector<u16, 2>;

  WT_DEVICE static void copy(const WholeRowsArguments::Copy& p) {
    const i64 step = static_cast<i64>(device::grid_size().x) * kThreads;
    const bool paired = p.row % 2 == 0 && p.shift % 2 == 0;  // then every row starts at a pair
    for (i64 at = static_cast<i64>(device::block_index().x) * kThreads + device::thread_index(); at < p.count;
         at += step) {
      i64 in_copy = at;
      i32 before = 0;
      for (; in_copy >= p.once; in_copy -= p.once) before += p.shift;
      // WHY: dividing 64-bit numbers takes several times as long.
      const i64 row = p.count >> 31 == 0 ? static_cast<u32>(in_copy) / static_cast<u32>(p.chunks) : in_copy / p.chunks;
      const auto first = static_cast<i32>(in_copy - row * p.chunks) * kChunk - before;
      const u16* from = static_cast<const u16*>(p.in) + row * p.row + first;
      Chunk chunk{};
      if (paired) {
        WT_UNROLL for (int i = 0; i < kChunk; i += 2) {
          if (first + i < 0 || first + i >= p.row) continue;
          const Pair pair = device::load_global(reinterpret_cast<const Pair*>(from + i));
          chunk.at[i] = pair.at[0];
          chunk.at[i + 1] = pair.at[1];
        }
      } else {
        WT_UNROLL for (int i = 0; i < kChunk; ++i) {
          if (first + i >= 0 && first + i < p.row) chunk.at[i] = device::load_global(from + i);
        }
      }
      device::store_global(static_cast<Chunk*>(p.out) + at, chunk);
    }
  }
};

}  // namespace wt
