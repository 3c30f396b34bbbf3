// SPDX-License-Identifier: Apache-2.0
// kernels/beside/device/whole_rows.h - tensors copied so that their rows of channels start at multiples of 16 bytes, as
// bulk copies need.
//
//   global rows of any length --> registers --> global rows of whole chunks of 16 bytes
//
// So are patches, whose rows lie apart, packed into rows. A thread makes one chunk at a time. What lies behind a row's
// end is zero; the maps of bulk copies end before it.
#pragma once

#include "kernels/beside/device/whole_rows_arguments.h"
#include "kernels/device/shifted_rows.h"
#include "target/role.h"
#include "target/target.h"

namespace wt {

// Elements of 16 bits are moved, not read; one of 32 bits counts as two.
struct WholeRows {
  using Params = WholeRowsArguments;
  static constexpr int kThreads = kWholeRowsThreads;
  static constexpr int kMinBlocks = 8;  // as many as the launch has on a multiprocessor

  WT_DEVICE static void run(const Params& p) {
    device::launch_dependents();  // the kernel that reads the copies starts, and waits for them in its producers
    WT_UNROLL for (int i = 0; i < kWholeRowsMost; ++i) {
      if (p.copies[i].run > 0) {
        pack(p.copies[i]);
      } else {
        copy(p.copies[i]);
      }
    }
  }

 private:
  static constexpr int kChunk = 8;
  using Chunk = Vector<u16, kChunk>;
  using Pair = Vector<u16, 2>;

  // Patches as rows. Counts are below 2^31 (kernels/beside/whole_rows.cc).
  WT_DEVICE static void pack(const WholeRowsArguments::Copy& p) {
    const u32 step = static_cast<u32>(device::grid_size().x) * kThreads;
    const bool paired = p.run % 2 == 0;
    for (u32 at = static_cast<u32>(device::block_index().x) * kThreads + static_cast<u32>(device::thread_index());
         at < static_cast<u32>(p.count); at += step) {
      const u32 row = at / static_cast<u32>(p.chunks), line = row / static_cast<u32>(p.beside);
      const i32 first = static_cast<i32>(at - row * static_cast<u32>(p.chunks)) * kChunk;
      i32 run = first / p.run, place = first - run * p.run;
      const u16* from = static_cast<const u16*>(p.in) + line * p.line +
                        static_cast<i32>(row - line * static_cast<u32>(p.beside)) * p.run + run * p.apart;
      Chunk chunk{};
      WT_UNROLL for (int i = 0; i < kChunk; i += 2) {
        if (paired) {
          if (first + i < p.row) {
            const Pair pair = device::load_global(reinterpret_cast<const Pair*>(from + place));
            chunk.at[i] = pair.at[0];
            chunk.at[i + 1] = pair.at[1];
          }
          place += 2;
          if (place == p.run) place = 0, from += p.apart;
        } else {
          WT_UNROLL for (int j = 0; j < 2; ++j) {
            if (first + i + j < p.row) chunk.at[i + j] = device::load_global(from + place);
            if (++place == p.run) place = 0, from += p.apart;
          }
        }
      }
      device::store_global(static_cast<Chunk*>(p.out) + at, chunk);
    }
  }

  // Every chunk is made of the two that it lies in. WHY both are loaded: the second comes from the L1, where a
  // neighbour's first is on its way, and nothing waits for another lane.
  WT_DEVICE static void copy(const WholeRowsArguments::Copy& p) {
    const i64 step = static_cast<i64>(device::grid_size().x) * kThreads;
    const ChunkedTensor tensor(p.in, p.rows * p.row);
    for (i64 at = static_cast<i64>(device::block_index().x) * kThreads + device::thread_index(); at < p.count;
         at += step) {
      i64 in_copy = at;
      i32 before = 0;
      for (; in_copy >= p.once; in_copy -= p.once) before += p.shift;
      // WHY: dividing 64-bit numbers takes several times as long.
      const i64 row = p.count >> 31 == 0 ? static_cast<u32>(in_copy) / static_cast<u32>(p.chunks) : in_copy / p.chunks;
      const auto first = static_cast<i32>(in_copy - row * p.chunks) * kShiftedNumbers - before;
      const i64 from = tensor.first + row * p.row + first, low = from >> 3;
      ShiftedChunk part[2] = {};
      const bool whole = tensor.is_whole(low) && tensor.is_whole(low + 1);
      if (whole) {
        WT_UNROLL for (int i = 0; i < 2; ++i) part[i] = device::load_global(tensor.chunks + low + i);
      }
      const i32 shift = static_cast<i32>(from) & (kShiftedNumbers - 1), end = p.row - first;
      const ShiftedChunk chunk = whole ? numbers_of_chunk(shifted_chunk(part[0], part[1], shift), -first, end)
                                       : tensor.numbers(from, -first, end);
      device::store_global(static_cast<ShiftedChunk*>(p.out) + at, chunk);
    }
  }
};

}  // namespace wt
