// SPDX-License-Identifier: Apache-2.0
// kernels/rows_weight/device/loads.h - what the load warps of a rows kernel bring: image rows into a ring, dy into
// slots.
//
//   x --bulk copies of chunks, or words--> ring of rows;  dy --the same--> slots of units, columns across
#pragma once

#include "kernels/device/gemm/ring.h"
#include "kernels/device/shifted_rows.h"
#include "kernels/rows_weight/device/layout.h"
#include "kernels/rows_weight/device/walk.h"

namespace wt {

template <KernelConfig kConfig>
struct RowsWeightLoads {
  using Params = RowsWeightArguments;
  using SlotRing = Ring<kConfig.gemm.stages>;
  using Cursor = typename SlotRing::Cursor;
  using Element = Storage<kConfig.x>;
  static constexpr int kThreads = rows_weight_layout::load_threads(kConfig);
  static constexpr bool kInBulk = rows_weight_layout::loads_in_bulk(kConfig);
  static constexpr bool kGradientWords = rows_weight_layout::loads_gradient_words(kConfig);
  static constexpr int kBlocksN = rows_weight_layout::blocks_n(kConfig);
  // That fill a slot. WHY one more: beside the threads that copy words, one announces the bytes of dy.
  static constexpr int kArrivals = kInBulk ? 1 : kGradientWords ? kThreads : kThreads + 1;

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
      if constexpr (kGradientWords) {
        copy_words(p, to, walk, unit, first, full, thread);
        copy_gradient(p, unit, to.slots + slot.slot * kBlocksN * p.block_bytes, column, thread);
        device::fence_async_shared();  // WHY: wgmma reads dy by another proxy than it was written by
        device::mbarrier_arrive(full);
        slot.next();
        continue;
      }
      if (thread == 0) {
        const i32 copied = kInBulk ? planes(p) * (p.chunks - first) * p.chunk_rows * p.pitch : 0;
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
  WT_DEVICE static i32 planes(const Params& p) { return kConfig.dims == 3 ? p.filter_planes : 1; }

  // In three dimensions a unit's image is an output plane.
  struct Planes {
    i32 image, first;  // of the image's planes, under the filter

    WT_DEVICE Planes(const Params& p, const RowsUnit& unit) {
      image = static_cast<i32>(quotient(static_cast<u32>(unit.image), p.out_planes));
      first = (unit.image - image * static_cast<i32>(p.out_planes.by)) * p.stride_d - p.pad_d;
    }
  };

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
      const i32 from = first_element(p, unit) / 2, h = top + chunk * p.chunk_rows;
      if constexpr (kConfig.dims == 3) {
        const Planes at(p, unit);
        for (i32 plane = 0; plane < p.filter_planes; ++plane)
          device::tma_load(to.rows + plane * p.plane_bytes + row * p.pitch, p.source, full, from, h, at.first + plane,
                           at.image);
      } else {
        device::tma_load(to.rows + row * p.pitch, p.source, full, from, h, unit.image);
      }
    }
  }

  // Rows of any length: by 8 bytes that land by themselves where they are aligned, else through registers.
  WT_DEVICE static void copy_words(const Params& p, const To& to, const RowsWalk& walk, const RowsUnit& unit, i32 first,
                                   SharedAddress full, int thread) {
    const i32 from = first_element(p, unit), top = unit.row * p.stride_h - p.pad_h;
    const i32 end = p.ring_chunks * p.chunk_rows, first_row = first * p.chunk_rows;
    const i32 rows = p.chunks * p.chunk_rows - first_row;
    const bool lands = !kGradientWords && p.row_elements % 4 == 0;
    for (i32 plane = 0; plane < planes(p); ++plane) {
      i32 above = unit.image;
      bool exists = true;
      if constexpr (kConfig.dims == 3) {
        const Planes at(p, unit);
        exists = at.first + plane >= 0 && at.first + plane < p.in_planes;
        above = at.image * p.in_planes + at.first + plane;
      }
      const auto place = [&](i32 row) {
        const i32 h = top + first_row + row;
        i32 at = walk.first_row(p) + first_row + row;
        if (at >= end) at -= end;
        const bool inside = exists && h >= 0 && h < p.in_rows;
        return ShiftedRow{inside ? static_cast<i64>(above) * p.in_rows + h : -1,
                          to.rows + plane * p.plane_bytes + at * p.pitch};
      };
      if (lands) {
        const int warp = thread / 32, lane = thread % 32;
        for (i32 row = warp; row < rows; row += kThreads / 32) copy_row(p, place(row), from, lane);
      } else {
        const ShiftedRows<kThreads> copies{{p.image, p.image_elements}, p.row_elements, p.row_loads};
        copies.copy(rows, from, thread, place);
      }
    }
    if (lands) {
      device::copy_async_arrive(full);
    } else if constexpr (!kGradientWords) {
      device::mbarrier_arrive(full);
    }
  }

  // A unit's pixels of dy: rows of 128 bytes, swizzled as bulk copies leave them. What does not exist is zero.
  struct GradientPixel {
    i64 line;
    SharedAddress block;  // of the first 64 channels
    i32 at, block_bytes;
    WT_DEVICE SharedAddress address(i32 chunk) const {
      return block + chunk / 8 * block_bytes + at * 128 + (chunk % 8 ^ at % 8) * 16;
    }
  };
  WT_DEVICE static void copy_gradient(const Params& p, const RowsUnit& unit, SharedAddress to, i32 column, int thread) {
    const i64 first = (static_cast<i64>(unit.image) * p.out[0] + unit.row) * p.out[1] + unit.column;
    const ShiftedRows<kThreads> copies{
        {p.gradient_numbers, p.gradient_elements}, static_cast<i32>(p.columns), p.gradient_loads};
    copies.copy(p.tile_rows * p.strip, column, thread, [&](i32 pixel) {
      const i32 row = static_cast<i32>(quotient(static_cast<u32>(pixel), p.strip_pixels)), at = pixel - row * p.strip;
      const bool inside = row < unit.rows && at < unit.columns;
      return GradientPixel{inside ? first + static_cast<i64>(row) * p.out[1] + at : -1, to, pixel, p.block_bytes};
    });
  }

  // For a length that is a multiple of 8 bytes, as the start is.
  WT_DEVICE static void copy_row(const Params& p, const ShiftedRow& row, i32 from, int lane) {
    constexpr int kBytes = 8;
    const auto* line = static_cast<const Element*>(p.image) + (row.line < 0 ? 0 : row.line) * p.row_elements;
    WT_UNROLL_FEW for (i32 byte = lane * kBytes; byte < p.pitch; byte += 32 * kBytes) {
      const i32 at = from + byte / static_cast<i32>(sizeof(Element));
      const bool exists = row.line >= 0 && at >= 0 && at < p.row_elements;
      device::copy_async<kBytes>(row.to + byte, line + (exists ? at : 0), exists ? kBytes : 0);
    }
  }
};

}  // namespace wt
