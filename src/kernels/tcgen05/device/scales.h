// SPDX-License-Identifier: Apache-2.0
// kernels/tcgen05/device/scales.h - scales of blocks: from rows in global memory to the columns that products read.
//
//   scales of x and w --four warps, each its slots--> slot --copies of the warp that multiplies--> tensor memory
//
// A copy brings four scales of 128 rows: 16 bytes for each of 32 lanes, with those of rows lane, lane + 32, lane + 64
// and lane + 96. So a lane gathers the words of four rows and writes them at once; padding and what lies past the last
// channel get byte 0, which meets zeros.
#pragma once

#include "kernels/tcgen05/device/arguments.h"
#include "kernels/tcgen05/device/product.h"
#include "kernels/tma/device/operand.h"

namespace wt {

template <KernelConfig kConfig>
struct TensorScales {
  using Shared = Tcgen05Shared<kConfig>;
  static constexpr int kWords = tcgen05_layout::stage_scales(kConfig) / 4;  // of a row in a stage
  static constexpr int kBlocksB = tcgen05_layout::scale_row_blocks(kConfig);
  static constexpr int kNumberBytes = scale_block(kConfig.scales) / packed_in_byte(kConfig.x);  // of a scale
  static constexpr int kTileN = kConfig.gemm.tile.n;
  static constexpr device::ScaledKind kKind = device::scaled_kind(kConfig.x, kConfig.scales);

  // The words of one stage: of 128 rows of A, and of the columns of B.
  struct Held {
    u32 a[4][kWords], b[4 * kBlocksB][kWords];
  };
  // A lane's four rows of A.
  struct Rows {
    WalkStart start[4];
    bool exists[4];
  };

  WT_DEVICE static Rows rows_of(const TmaRegion& region, i64 first_row) {
    Rows rows;
    WT_UNROLL for (int i = 0; i < 4; ++i) {
      const i64 row = first_row + device::lane_index() + 32 * i;
      rows.exists[i] = row < region.rows;
      rows.start[i] = walk_start_at(region, rows.exists[i] ? row : 0);
    }
    return rows;
  }

  // `channel`: the stage's first byte of a group's channels.
  template <class Params>
  WT_DEVICE static void gather(const Params& p, const Rows& rows, const TapCursor& at, i32 channel, i32 group,
                               i32 column, Held& held) {
    const BlockScaleArguments& s = p.scales;
    const i32 first = channel / kNumberBytes, left = s.group - first;
    const bool whole = s.group % 4 == 0 && first % 4 == 0;  // words of four, at multiples of four
    WT_UNROLL for (int i = 0; i < 4; ++i) {
      bool inside = rows.exists[i];
      i64 pixel = rows.start[i].image;
      WT_UNROLL for (int d = 0; d < 3; ++d) {
        const i32 place = rows.start[i].at[d] + at.offset[d];
        inside = inside && place >= 0 && place < s.all[d];
        pixel = pixel * s.size[d] + s.first[d] + place * s.apart[d];
      }
      read(s.x + (inside ? pixel * s.pixel + group * s.group + first : 0), inside ? left : 0, whole, held.a[i]);
    }
    WT_UNROLL for (int i = 0; i < 4 * kBlocksB; ++i) {
      const i32 n = device::lane_index() + 32 * i, k = column + n;
      const bool inside = n < kTileN && k < p.columns;
      const i64 filter = static_cast<i64>(group) * p.columns + k;
      read(s.w + (inside ? filter * s.filter + at.filter * s.group + first : 0), inside ? left : 0, whole, held.b[i]);
    }
  }

  WT_DEVICE static void put(const Held& held, SharedAddress slot) {
    WT_UNROLL for (int q = 0; q < kWords; ++q) {
      put_rows(held.a, 0, q, slot + q * kCopyBytes);
      WT_UNROLL for (int block = 0; block < kBlocksB; ++block)
          put_rows(held.b, 4 * block, q, slot + (kWords + q * kBlocksB + block) * kCopyBytes);
    }
  }

  // By the thread that multiplies, before a stage's products; in the order of those before and after. `columns`: the
  // first that hold scales.
  WT_DEVICE static void copy(SharedAddress slot, u32 columns) {
    WT_UNROLL for (int i = 0; i < kWords * (1 + kBlocksB); ++i) {
      device::tensor_copy<device::TensorCopy::k32x128Four, 1>(
          columns + 4 * i, device::tensor_descriptor(slot + i * kCopyBytes, 512, 128, device::TensorSwizzle::kNone));
    }
  }

  WT_DEVICE static void multiply(u32 d, SharedAddress a, SharedAddress b, u32 columns, int step, bool accumulate) {
    using Along = TensorAlong<kConfig.gemm.swizzle_a>;
    constexpr int kEach = device::tensor_scales(kKind);
    constexpr u32 kWord =
        device::tensor_word_scaled(kKind, operand_a(kConfig), operand_b(kConfig), kConfig.gemm.tile.m, kTileN, 0, 0);
    const u32 first = static_cast<u32>(step * kEach), q = first / 4, byte = first % 4;
    device::tensor_multiply_scaled<kKind, 1>(d, Along::descriptor(a, step), Along::descriptor(b, step),
                                             kWord | byte << 4 | byte << 29, columns + 4 * q,
                                             columns + 4 * (kWords + q * kBlocksB), accumulate);
  }

 private:
  static constexpr int kCopyBytes = tcgen05_layout::kScaleCopyBytes;

  // Scales of one row, `left` of which there are.
  WT_DEVICE static void read(const u8* from, i32 left, bool whole, u32 (&words)[kWords]) {
    WT_UNROLL for (int q = 0; q < kWords; ++q) {
      words[q] = 0;
      if (whole) {
        if (4 * q < left) words[q] = device::load_global(reinterpret_cast<const u32*>(from + 4 * q));
      } else {
        WT_UNROLL for (int j = 0; j < 4; ++j) {
          if (4 * q + j < left) words[q] |= static_cast<u32>(device::load_global(from + 4 * q + j)) << 8 * j;
        }
      }
    }
  }

  template <int kRows>
  WT_DEVICE static void put_rows(const u32 (&words)[kRows][kWords], int row, int q, SharedAddress to) {
    const Vector<u32, 4> four{{words[row][q], words[row + 1][q], words[row + 2][q], words[row + 3][q]}};
    device::store_shared(to + device::lane_index() * 16, four);
  }
};

}  // namespace wt
