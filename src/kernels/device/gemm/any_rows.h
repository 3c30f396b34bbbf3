// SPDX-License-Identifier: Apache-2.0
// kernels/device/gemm/any_rows.h - staged rows of 16-bit numbers to rows of global memory that start anywhere.
//
//   staging (64 rows, boxes of 128 swizzled bytes) --two chunks, shifted--> aligned chunks of 16 bytes, global
//                                                  --numbers--> what a row has before its first and behind its last
//
// Rows of an odd number of channels are no vectors, and single stores would write a sector each.
#pragma once

#include "kernels/device/shifted_rows.h"

namespace wt {

// The 16 rows of a warp, which staged them itself. `start`: where row lane % 16 goes, in numbers; -1: nowhere.
// `columns` numbers of every row, up to kColumns, are stored.
template <int kColumns>
struct AnyRows {
  void* out;
  i64 start;
  i32 columns;
  SharedAddress staging;  // of the warpgroup

  WT_DEVICE void store() const {
    device::sync_warp();
    store_chunks();
    store_ends();
    device::sync_warp();  // the next fragment is staged in the same place
  }

 private:
  static constexpr int kRows = 16, kChunks = kColumns / kShiftedNumbers;

  WT_DEVICE static int first_row() { return device::thread_index() % 128 / 32 * kRows; }
  WT_DEVICE SharedAddress address_of(int row, i32 chunk) const {
    return staging + chunk / 8 * (64 * 128) + (first_row() + row) * 128 + (chunk % 8 ^ row % 8) * 16;
  }
  WT_DEVICE i64 start_of(int row) const {
    const u32 low = device::shuffle(static_cast<u32>(start), row);
    const u32 high = device::shuffle(static_cast<u32>(static_cast<u64>(start) >> 32), row);
    return static_cast<i64>(static_cast<u64>(high) << 32 | low);
  }
  // Numbers of a row before its first aligned chunk's start, as if that chunk began before the row.
  WT_DEVICE i32 before(i64 offset) const {
    return static_cast<i32>(static_cast<i64>(reinterpret_cast<u64>(out) / 2) + offset) & (kShiftedNumbers - 1);
  }

  WT_DEVICE void store_chunks() const {
    constexpr int kItems = kRows * (kChunks + 1);
    WT_UNROLL_FEW for (int first = 0; first < kItems; first += 32) {
      const int at = first + device::lane_index(), row = at / (kChunks + 1) % kRows;
      const i64 offset = start_of(row);
      const i32 from = at % (kChunks + 1) * kShiftedNumbers - before(offset);
      if (at >= kItems || offset < 0 || from < 0 || from + kShiftedNumbers > columns) continue;
      const i32 low = from / kShiftedNumbers, high = low + 1 < kChunks ? low + 1 : low;
      const auto part = [&](i32 chunk) { return device::load_shared<ShiftedChunk>(address_of(row, chunk)); };
      device::store_global(reinterpret_cast<ShiftedChunk*>(static_cast<u16*>(out) + offset + from),
                           shifted_chunk(part(low), part(high), from % kShiftedNumbers));
    }
  }

  // Up to seven numbers before a row's first whole chunk, and up to seven behind its last.
  WT_DEVICE void store_ends() const {
    constexpr int kSlots = 2 * kShiftedNumbers;
    WT_UNROLL_FEW for (int first = 0; first < kRows * kSlots; first += 32) {
      const int at = first + device::lane_index(), row = at / kSlots, slot = at % kSlots;
      const i64 offset = start_of(row);
      const i32 skipped = before(offset), head = (kShiftedNumbers - skipped) % kShiftedNumbers;
      const i32 tail = (columns + skipped) / kShiftedNumbers * kShiftedNumbers - skipped;
      const bool is_tail = slot >= kShiftedNumbers;
      const i32 number = is_tail ? tail + slot - kShiftedNumbers : slot;
      if (offset < 0 || number >= columns || (is_tail ? number < head : number >= head)) continue;
      const SharedAddress from = address_of(row, number / kShiftedNumbers) + number % kShiftedNumbers * 2;
      device::store_global(static_cast<u16*>(out) + offset + number, device::load_shared<u16>(from));
    }
  }
};

}  // namespace wt
