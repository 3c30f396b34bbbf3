// SPDX-License-Identifier: Apache-2.0
// kernel/gemm/rows/weight_loads.h - what the load warps of a rows kernel bring: image rows into a ring, dy into slots.
//
//   x --bulk copies of chunks, or words--> ring of rows;  dy --bulk copies--> slots of units, columns across
#pragma once

#include "kernel/gemm/ring.h"
#include "kernel/gemm/rows/weight_layout.h"
#include "kernel/gemm/rows/weight_walk.h"

namespace wt {

template <KernelConfig kConfig>
struct RowsWeightLoads {
  using Params = RowsWeightArguments;
  using SlotRing = Ring<kConfig.gemm.stages>;
  using Cursor = typename SlotRing::Cursor;
  using Element = Storage<kConfig.x>;
  static constexpr int kThreads = rows_weight_layout::load_threads(kConfig);
  static constexpr bool kInBulk = rows_weight_layout::loads_in_bulk(kConfig);
  static constexpr int kBlocksN = rows_weight_layout::blocks_n(kConfig);
  // That fill a slot. WHY one more: beside the threads that copy words, one announces the bytes of dy.
  static constexpr int kArrivals = kInBulk ? 1 : kThreads + 1;

  struct To {  // addresses
    SharedAddress slots, rows;
    SlotRing ring;
  };

  // Called by one thread where copies are in bulk, else by all load threads.
  WT_DEVICE static void run(const Params& p, const To& to, u32 part, i32 column, int thread) {
    Cursor slot;
    for (RowsWalk walk(p, part); !walk.is_over(); walk.next(p)) {
      const RowsUnit unit = walk.unit(p);
      to.ring.wait_empty(slot);
      const SharedAddress full = to.ring.full(slot.slot);
      const i32 first = walk.first_chunk(p);
      if (thread == 0) {
        const i32 copied = kInBulk ? (p.chunks - first) * p.chunk_rows * p.pitch : 0;
        device::mbarrier_arrive_expect(full, static_cast<u32>(p.gradient_bytes + copied));
        if constexpr (kInBulk) copy_chunks(p, to, walk, unit, first, full);
        WT_UNROLL for (int j = 0; j < kBlocksN; ++j) {
          device::tma_load(to.slots + (slot.slot * kBlocksN + j) * p.block_bytes, p.gradient, full, column + 64 * j,
                           unit.column, unit.row, unit.image);
        }
      }
      if constexpr (!kInBulk) copy_words(p, to, walk, unit, first, full, thread);
      slot.next();
    }
    if constexpr (!kInBulk) {
      // WHY: copies must not be in flight when their thread ends.
      device::copy_async_commit();
      device::copy_async_wait<0>();
    }
  }

 private:
  // WHY a multiple of 8 elements: bulk copies start at 16 bytes. Strips start at multiples of 8 outputs.
  WT_DEVICE static i32 first_element(const Params& p, const RowsUnit& unit) {
    return (unit.column * p.step - p.pad) & ~7;
  }

  WT_DEVICE static void copy_chunks(const Params& p, const To& to, const RowsWalk& walk, const RowsUnit& unit,
                                    i32 first, SharedAddress full) {
    const i32 top = unit.row * p.stride_h - p.pad_h, end = p.ring_chunks * p.chunk_rows;
    for (i32 chunk = first; chunk < p.chunks; ++chunk) {
      i32 row = walk.first_row(p) + chunk * p.chunk_rows;
      if (row >= end) row -= end;
      device::tma_load(to.rows + row * p.pitch, p.source, full, first_element(p, unit) / 2, top + chunk * p.chunk_rows,
                       unit.image);
    }
  }

  // Rows of any length: a warp a row. Pairs lie at even elements of the image only where its rows have an even length.
  WT_DEVICE static void copy_words(const Params& p, const To& to, const RowsWalk& walk, const RowsUnit& unit, i32 first,
                                   SharedAddress full, int thread) {
    const int warp = thread / 32, lane = thread % 32;
    const bool even = p.row_elements % 2 == 0;
    const i32 from = first_element(p, unit), top = unit.row * p.stride_h - p.pad_h;
    const i32 end = p.ring_chunks * p.chunk_rows;
    for (i32 row = first * p.chunk_rows + warp; row < p.chunks * p.chunk_rows; row += kThreads / 32) {
      const i32 h = top + row;
      const bool inside = h >= 0 && h < p.in_rows;
      const auto* line = static_cast<const Element*>(p.image) +
                         (static_cast<i64>(unit.image) * p.in_rows + (inside ? h : 0)) * p.row_elements;
      i32 at = walk.first_row(p) + row;
      if (at >= end) at -= end;
      const SharedAddress row_at = to.rows + at * p.pitch;
      WT_UNROLL_FEW for (i32 word = lane; word < p.pitch / 4; word += 32) {
        const i32 element = from + 2 * word;
        if (even) {
          const bool exists = inside && element >= 0 && element < p.row_elements;
          device::copy_async<4>(row_at + word * 4, line + (exists ? element : 0), exists ? 4 : 0);
        } else {
          Vector<Element, 2> pair{};
          WT_UNROLL for (int i = 0; i < 2; ++i) {
            if (inside && element + i >= 0 && element + i < p.row_elements)
              pair.at[i] = device::load_global(line + element + i);
          }
          device::store_shared(row_at + word * 4, pair);
        }
      }
    }
    if (even) {
      device::copy_async_arrive(full);
    } else {
      device::mbarrier_arrive(full);
    }
  }
};

}  // namespace wt
