// SPDX-License-Identifier: Apache-2.0
// kernels/device/shifted_rows.h - numbers of 16 bits that start anywhere, moved to chunks of 16 bytes that do not.
//
//   global chunks, as they lie --one load per lane--> the next lane's by shuffles --shift--> chunks of rows, shared
//
// A load of 16 bytes wants an aligned address, which the rows of an image with an odd width do not have. So the aligned
// chunks around a row are read, and every chunk that is wanted is made of two neighbours.
#pragma once

#include "kernels/device/divider.h"
#include "kernels/device/gemm/storage.h"
#include "target/target.h"

namespace wt {

using ShiftedChunk = Vector<u32, 4>;
inline constexpr int kShiftedNumbers = 8;  // of a chunk

// The chunk that starts `shift` numbers, fewer than eight, behind the start of `low`, which `high` follows.
WT_DEVICE ShiftedChunk shifted_chunk(const ShiftedChunk& low, const ShiftedChunk& high, i32 shift) {
  u32 by_four[6], by_two[5];
  WT_UNROLL for (int i = 0; i < 6; ++i) {
    const u32 near = i < 4 ? low.at[i] : high.at[i - 4], far = i < 2 ? low.at[i + 2] : high.at[i - 2];
    by_four[i] = shift & 4 ? far : near;
  }
  WT_UNROLL for (int i = 0; i < 5; ++i) by_two[i] = shift & 2 ? by_four[i + 1] : by_four[i];
  const u32 selector = shift & 1 ? 0x5432 : 0x3210;
  ShiftedChunk chunk;
  WT_UNROLL for (int i = 0; i < 4; ++i) chunk.at[i] = device::permute_bytes(by_two[i], by_two[i + 1], selector);
  return chunk;
}

// The chunk's numbers from `first` up to `end`; the others are zero.
WT_DEVICE ShiftedChunk numbers_of_chunk(ShiftedChunk chunk, i32 first, i32 end) {
  if (first <= 0 && end >= kShiftedNumbers) return chunk;
  WT_UNROLL for (int i = 0; i < 4; ++i) {
    const u32 low = first <= 2 * i && 2 * i < end ? 0x0000ffffu : 0;
    const u32 high = first <= 2 * i + 1 && 2 * i + 1 < end ? 0xffff0000u : 0;
    chunk.at[i] &= low | high;
  }
  return chunk;
}

// A tensor as aligned chunks, whatever its own alignment.
struct ChunkedTensor {
  const ShiftedChunk* chunks;
  i64 first, end;  // of its numbers, counted from the first chunk's start

  WT_DEVICE ChunkedTensor(const void* tensor, i64 numbers) {
    const auto before = static_cast<i64>(reinterpret_cast<u64>(tensor) % sizeof(ShiftedChunk));
    chunks = reinterpret_cast<const ShiftedChunk*>(static_cast<const char*>(tensor) - before);
    first = before / 2;
    end = first + numbers;
  }

  // Whether all of a chunk is the tensor's: a load of another would touch what is not.
  WT_DEVICE bool is_whole(i64 chunk) const {
    return chunk * kShiftedNumbers >= first && (chunk + 1) * kShiftedNumbers <= end;
  }
  // Eight numbers from any place on, one by one: those from `keep` up to `keep_end`, which are the tensor's.
  WT_DEVICE ShiftedChunk numbers(i64 from, i32 keep, i32 keep_end) const {
    Vector<u16, kShiftedNumbers> number{};
    WT_UNROLL for (int i = 0; i < kShiftedNumbers; ++i) {
      if (i >= keep && i < keep_end)
        number.at[i] = device::load_global(reinterpret_cast<const u16*>(chunks) + from + i);
    }
    ShiftedChunk result;
    WT_UNROLL for (int i = 0; i < 4; ++i) {
      result.at[i] = number.at[2 * i] | static_cast<u32>(number.at[2 * i + 1]) << 16;
    }
    return result;
  }
};

// A row's place in shared memory, where its chunks follow each other.
struct ShiftedRow {
  i64 line;  // of the image; -1: none
  SharedAddress to;
  WT_DEVICE SharedAddress address(i32 chunk) const { return to + chunk * static_cast<i32>(sizeof(ShiftedChunk)); }
};

// Rows of an image into shared memory, by `kThreads` threads.
template <int kThreads>
struct ShiftedRows {
  static constexpr int kWarps = kThreads / 32, kLanes = 31;  // the last lane of a warp has a neighbour's chunk only
  static constexpr int kBatch = 4;                           // loads of a lane on their way

  ChunkedTensor image;
  i32 row_elements;
  Divider loads;  // chunks that a row is made of: one more than it has

  // `place(row)` has the row's line of the image, -1 where there is none, and the address of each of its chunks. The
  // rows start at element `from`, a multiple of 8, of their lines; what lies before or behind a line is zero.
  template <class Place>
  WT_DEVICE void copy(i32 rows, i32 from, int thread, const Place& place) const {
    const i32 all = rows * static_cast<i32>(loads.by), lane = thread % 32;
    for (i32 first = thread / 32 * kLanes; first < all; first += kBatch * kWarps * kLanes) {
      const auto at = [&](int i) { return At(*this, first + i * kWarps * kLanes + lane, all, from, place); };
      ShiftedChunk chunk[kBatch];
      bool lacks = false;
      WT_UNROLL for (int i = 0; i < kBatch; ++i) {
        const At own = at(i);
        const bool whole = image.is_whole(own.chunk);
        chunk[i] = {};
        if (own.exists && whole) chunk[i] = device::load_global(image.chunks + own.chunk);
        lacks = lacks || (own.exists && !whole);
      }
      WT_UNROLL for (int i = 0; i < kBatch; ++i) {
        const At own = at(i);
        ShiftedChunk next;
        WT_UNROLL for (int j = 0; j < 4; ++j) next.at[j] = device::shuffle(chunk[i].at[j], (lane + 1) % 32);
        if (lane == kLanes || !own.is_stored) continue;
        device::store_shared(own.to, numbers_of_chunk(shifted_chunk(chunk[i], next, own.shift), own.keep, own.end));
      }
      // WHY apart: only the tensor's first and last chunk may be no whole ones, and others shall not wait for that.
      if (device::ballot(lacks) != 0) {
        WT_ROLLED for (int i = 0; i < kBatch; ++i) {
          const At own = at(i);
          if (lane == kLanes || !own.is_stored || (image.is_whole(own.chunk) && image.is_whole(own.chunk + 1)))
            continue;
          device::store_shared(own.to, image.numbers(own.chunk * kShiftedNumbers + own.shift, own.keep, own.end));
        }
      }
    }
  }

 private:
  // What a lane loads, and what it makes of that and the next lane's.
  struct At {
    i64 chunk;  // of the tensor
    bool exists, is_stored;
    i32 shift, keep, end;  // the numbers of the chunk it makes that are the line's
    SharedAddress to;

    template <class Place>
    WT_DEVICE At(const ShiftedRows& p, i32 index, i32 all, i32 from, const Place& place) {
      const i32 row = static_cast<i32>(quotient(static_cast<u32>(index), p.loads));
      const i32 at = index - row * static_cast<i32>(p.loads.by), element = from + at * kShiftedNumbers;
      const auto of_row = place(index < all ? row : 0);
      const bool inside = index < all && of_row.line >= 0;
      const i64 start = p.image.first + of_row.line * p.row_elements;
      shift = static_cast<i32>(start) & (kShiftedNumbers - 1);
      chunk = (start - shift + element) >> 3;
      exists = inside && element + kShiftedNumbers > shift && element < p.row_elements + shift;
      is_stored = index < all && at + 1 < static_cast<i32>(p.loads.by);
      keep = -element;
      end = inside ? p.row_elements - element : keep;
      to = of_row.address(at);
    }
  };
};

}  // namespace wt
