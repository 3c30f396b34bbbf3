// SPDX-License-Identifier: Apache-2.0
// kernels/rows/device/store.h - where the sums of rows/kernel.h go: the outputs of a patch, and how fragments are
// stored.
//
//   sums --epilogue--> staging --> vectors of output rows, or rows that start anywhere
//                  --> vectors and pairs from registers
//
// Outputs are counted in pixels of their patch, in 32 bits: a fragment's addresses are then one multiplication each.
#pragma once

#include "kernels/rows/device/arguments.h"
#include "kernels/rows/device/layout.h"
#include "kernels/tma/device/output.h"

namespace wt {

// What a block loads at once, and where its outputs are.
struct RowsPatch {
  i32 image, row, column;  // of the first output
  i32 rows, columns;       // of outputs that exist
};

WT_DEVICE RowsPatch rows_patch(const RowsArguments& p, u32 index) {
  const u32 line = quotient(index, p.strips), image = quotient(line, p.row_blocks);
  const i32 column = static_cast<i32>(index - line * p.strips.by) * p.strip;
  const i32 row = static_cast<i32>(line - image * p.row_blocks.by) * p.tile_rows;
  const i32 rows = p.out[0] - row, columns = p.out[1] - column;
  return {static_cast<i32>(image), row, column, rows < p.tile_rows ? rows : p.tile_rows,
          columns < p.strip ? columns : p.strip};
}

// The outputs of one class in a patch, counted row by row.
template <KernelConfig kConfig>
struct RowsOutputs {
  const RowsArguments& p;
  RowsPatch patch;
  i64 origin;  // the patch's first output, in pixels
  i32 first;   // of the fragment
  i32 of_class;

  struct At {
    i32 row, column;  // in the patch
  };
  WT_DEVICE At at(i32 row) const {
    if constexpr (rows_layout::may_spread(kConfig)) {
      const i32 eights = row >> 3, among = eights & ((1 << p.spread) - 1);
      row = ((eights - among) << 3) + ((row & 7) << p.spread) + among;
    }
    const auto number = static_cast<u32>(first + row);
    const u32 line = quotient(number, p.class_strip);
    return {static_cast<i32>(line), static_cast<i32>(number - line * p.class_strip.by) * p.classes + of_class};
  }
  // The output's pixel, counted from the patch's first; -1: it does not exist.
  WT_DEVICE i32 pixel(i32 row) const {
    const At place = at(row);
    return place.row >= patch.rows || place.column >= patch.columns ? -1 : place.row * p.out[1] + place.column;
  }
  // From the patch's first output to this one, in elements. WHY 32 bits of each, without signs: one multiplication, not
  // three; there are fewer than 2^31 channels.
  WT_DEVICE i64 further(i32 of_row) const {
    return static_cast<i64>(static_cast<u64>(static_cast<u32>(of_row)) * static_cast<u32>(p.columns));
  }
  // Where the output goes, in elements; -1: nowhere.
  WT_DEVICE i64 offset(int row) const {
    const i32 of_row = pixel(row);
    return of_row < 0 ? -1 : origin * p.columns + further(of_row);
  }
};

template <KernelConfig kConfig>
struct RowsStore {
  using Output = TmaOutput<kConfig, RowsArguments>;
  using Steps = typename Output::Steps;
  using Element = typename Steps::Element;
  using Outputs = RowsOutputs<kConfig>;
  static constexpr int kColumns = kConfig.gemm.tile.n;

  const RowsArguments& p;
  typename Output::Place columns;
  i32 columns_left;
  SharedAddress staging;  // of the warpgroup

  WT_DEVICE RowsStore(const RowsArguments& arguments, i32 first_column, SharedAddress staged)
      : p(arguments),
        columns{first_column, 0},
        columns_left(static_cast<i32>(arguments.columns) - first_column),
        staging(staged) {}

  // The block's columns of a patch's first output, in elements. WHY kept, and by halves: else every store computes
  // them, and a pointer would no longer be one to global memory.
  WT_DEVICE i64 start_of(i64 origin) const {
    const auto start = static_cast<u64>(origin * p.columns + columns.column);
    const u32 low = device::keep(static_cast<u32>(start)), high = device::keep(static_cast<u32>(start >> 32));
    return static_cast<i64>(static_cast<u64>(high) << 32 | low);
  }

  // `start`: of the outputs' patch.
  WT_DEVICE void operator()(const Outputs& outputs, i64 start, const float (&d)[kColumns / 2], Steps& steps) const {
    if constexpr (rows_layout::stores_octets(kConfig)) {
      store_octets(outputs, start, d, steps);
    } else if constexpr (kConfig.gemm.staging == Staging::kDirect) {
      Output::store_direct(p, outputs, columns, d, steps);
    } else {
      Output::stage(p, outputs, columns, d, steps, staging);
      if constexpr (kConfig.gemm.vector_c == 1) {
        const i32 pixel = outputs.pixel(device::thread_index() % 128 / 32 * 16 + device::lane_index() % 16);
        AnyRows<kColumns>{p.y, pixel < 0 ? -1 : start + outputs.further(pixel), left(), staging}.store();
      } else {
        copy_rows(outputs, start);
      }
    }
  }

 private:
  static constexpr int kOctet = rows_layout::kOctet;

  WT_DEVICE i32 left() const { return columns_left < kColumns ? columns_left : kColumns; }

  // A lane's sums of 32 columns are eight neighbours (rows_layout::place_of), and four lanes' two sectors.
  WT_DEVICE void store_octets(const Outputs& outputs, i64 start, const float (&d)[kColumns / 2], Steps& steps) const {
    using Octet = Vector<Element, kOctet>;
    const int thread = device::thread_index() % 128, lane = thread % 32;
    WT_UNROLL for (int half = 0; half < 2; ++half) {
      const i32 pixel = outputs.pixel(thread / 32 * 16 + lane / 4 + 8 * half);
      if (pixel < 0) continue;
      const i64 offset = start + outputs.further(pixel);
      WT_UNROLL for (int block = 0; block < kColumns / 32; ++block) {
        const i32 column = 32 * block + lane % 4 * kOctet;
        if (column >= columns_left) break;
        const i64 at = offset + column, channel = columns.column + column;
        Octet octet;
        WT_UNROLL for (int i = 0; i < kOctet; ++i) {
          octet.at[i] = steps.apply(p.epilogue, d[4 * (4 * block + i / 2) + 2 * half + i % 2], at + i, channel + i);
        }
        Steps::write(reinterpret_cast<Octet*>(static_cast<Element*>(p.y) + at), octet);
      }
    }
  }

  // A warp's 16 staged rows, by vectors.
  WT_DEVICE void copy_rows(const Outputs& outputs, i64 start) const {
    constexpr int kWidth = kConfig.gemm.vector_c, kVectors = kColumns / kWidth, kRows = 16;
    constexpr int kCount = (kRows * kVectors + 31) / 32;  // of a lane
    constexpr bool kOneColumn = 32 % kVectors == 0;       // of a lane, in all rows
    constexpr int kBatch = !kOneColumn ? 1 : kCount % 4 == 0 ? 4 : kCount % 2 == 0 ? 2 : 1;
    using Part = Vector<Element, kWidth>;
    const int thread = device::thread_index() % 128, lane = thread % 32, warp = thread / 32;
    const auto mine = static_cast<u32>(outputs.pixel(warp * kRows + lane % kRows));
    device::sync_warp();
    // WHY batches: all of their loads are on their way before the first store waits, which branches would prevent. WHY
    // one where columns change: the places of more are kept in registers, which others need.
    WT_UNROLL_FEW for (int first = 0; first < kCount; first += kBatch) {
      Part part[kBatch];
      i32 pixel[kBatch], column[kBatch];
      WT_UNROLL for (int i = 0; i < kBatch; ++i) {
        const int at = (first + i) * 32 + lane;
        const int row = kOneColumn ? (first + i) * (32 / kVectors) + lane / kVectors : at / kVectors % kRows;
        column[i] = (kOneColumn ? lane : at) % kVectors * kWidth;
        const bool exists = (kRows * kVectors % 32 == 0 || at < kRows * kVectors) && column[i] < columns_left;
        const auto of_row = static_cast<i32>(device::shuffle(mine, row));
        pixel[i] = exists ? of_row : -1;
        const int chunk = column[i] % 64 / 8 ^ row % 8;
        part[i] = device::load_shared<Part>(staging + column[i] / 64 * (64 * 128) + (warp * kRows + row) * 128 +
                                            chunk * 16 + column[i] % 8 * static_cast<int>(sizeof(Element)));
      }
      WT_UNROLL for (int i = 0; i < kBatch; ++i) {
        if (pixel[i] < 0) continue;
        Element* to = static_cast<Element*>(p.y) + (start + outputs.further(pixel[i]) + column[i]);
        device::store_global(reinterpret_cast<Part*>(to), part[i]);
      }
    }
    device::sync_warp();  // the next fragment is staged in the same place
  }
};

}  // namespace wt
