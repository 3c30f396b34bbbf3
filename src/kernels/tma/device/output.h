// SPDX-License-Identifier: Apache-2.0
// kernels/tma/device/output.h - a consumer's accumulators on their way to global memory.
//
//   registers --epilogue--> pairs of columns to global memory
//             --epilogue--> swizzled shared memory --> bulk stores of consecutive rows, or vectors of rows anywhere
//
// 16-bit numbers reach shared memory by matrices of 8x8, 32-bit ones by pairs (stage_words.h).
#pragma once

#include "kernels/device/epilogue.h"
#include "kernels/device/gemm/any_rows.h"
#include "kernels/tma/device/arguments.h"
#include "kernels/tma/device/layout.h"
#include "kernels/tma/device/stage_words.h"
#include "target/hopper.h"

namespace wt {

// The rows of a fragment that lie one after the other in a region.
struct RegionRows {
  const TmaRegion& region;
  i64 first;

  // Where row `row` of the fragment goes, in elements; -1: it does not exist.
  WT_DEVICE i64 offset(int row) const {
    const i64 at = first + row;
    if (at >= region.rows) return -1;
    // WHY: dividing 64-bit numbers takes several times as long, and few problems have that many rows.
    return region.rows >> 31 == 0 ? offset_in<u32>(static_cast<u32>(at)) : offset_in<i64>(at);
  }

 private:
  template <class Index>
  WT_DEVICE i64 offset_in(Index row) const {
    i64 offset = region.out_base;
    WT_UNROLL for (int i = 2; i >= 0; --i) {
      const auto size = static_cast<Index>(region.size[i]);
      const Index rest = row / size;
      offset += static_cast<i64>(row - rest * size) * region.out_stride[i + 1];
      row = rest;
    }
    return offset + static_cast<i64>(row) * region.out_stride[0];
  }
};

// The rows of a fragment in one part of the workspace, `base` elements from its start.
template <class Rows>
struct PartRows {
  Rows rows;
  i64 base;
  WT_DEVICE i64 offset(int row) const {
    const i64 at = rows.offset(row);
    return at < 0 ? at : at + base;
  }
};

// Neighbouring results, `left` of which exist, in vectors as long as their place allows. The first one's channel
// is `channel`, the next one's `channel_step` further on.
template <class Steps, int kCount>
WT_DEVICE void store_neighbours(const EpilogueArguments& epilogue, void* out, const float (&d)[kCount], i32 left,
                                i64 offset, i64 channel, int channel_step, Steps& steps) {
  using Element = typename Steps::Element;
  constexpr int kRoom = 16 / static_cast<int>(sizeof(Element)), kLong = kRoom < kCount ? kRoom : kCount;
  auto* to = static_cast<Element*>(out) + offset;
  if (left >= kCount && offset % kLong == 0) {
    WT_UNROLL for (int first = 0; first < kCount; first += kLong) {
      float sums[kLong];
      WT_UNROLL for (int i = 0; i < kLong; ++i) sums[i] = d[first + i];
      const auto part =
          steps.template apply_run<kLong>(epilogue, sums, offset + first, channel + channel_step * first, channel_step);
      Steps::write(reinterpret_cast<Vector<Element, kLong>*>(to + first), part);
    }
  } else {
    WT_UNROLL for (int i = 0; i < kCount; ++i) {
      if (i < left) Steps::write(to + i, steps.apply(epilogue, d[i], offset + i, channel + channel_step * i));
    }
  }
}

// A kernel that writes sums as they are, in fp32; split_sum.h adds them and does the rest.
constexpr KernelConfig parts_of(KernelConfig config) {
  config.epilogue = {};
  (config.direction == Direction::kForward ? config.y : config.x) = DataType::kF32;
  return config;
}

// The residual of the places that packed pairs go to, in the same order: four matrices, or two of an odd number.
template <bool kTransposed, bool kOdd>
WT_DEVICE void load_staged(u32 (&to)[4], SharedAddress address, bool four) {
  if (!kOdd || four) {
    device::load_matrix<kTransposed>(to, address);
  } else {
    u32 two[2];
    device::load_matrix<kTransposed>(two, address);
    to[0] = two[0];
    to[1] = two[1];
  }
}

// Scale and bias of two neighbouring channels, `left` of which exist. Without branches: the loads of several are on their
// way together.
template <class Steps>
struct ChannelPair {
  float scale[2] = {1, 1}, bias[2] = {0, 0};

  WT_DEVICE ChannelPair(const EpilogueArguments& p, i64 channel, i32 left, i32 step = 1) {
    WT_UNROLL for (int i = 0; i < 2; ++i) {
      if (i * step >= left) continue;
      scale[i] = Steps::scale_of(p, channel + i * step);
      bias[i] = Steps::bias_of(p, channel + i * step);
    }
  }
};

// One 64-row fragment of a consumer; crosswise ones are those of output_crosswise.h. Accumulator i: row 16 * warp +
// lane / 4 + 8 * (i / 2 % 2), column 8 * (i / 4) + 2 * (lane % 4) + i % 2. Rows are RegionRows or alike.
template <KernelConfig kConfig, class Arguments, bool kCrosswise = tma_layout::crosswise(kConfig)>
struct TmaOutput {
  using Steps = Epilogue<kConfig.epilogue, output_type(kConfig)>;
  using Element = typename Steps::Element;
  static constexpr int kColumns = kConfig.gemm.tile.n;
  static constexpr int kBoxes = tma_layout::out_boxes(kConfig), kBoxBytes = 64 * 128;
  static constexpr int kBoxColumns = tma_layout::out_span(kConfig);
  static constexpr int kFragmentBytes = kBoxBytes * kBoxes;  // staged for bulk stores

  struct Place {
    i64 column;  // first of the tile, within the group
    i32 group;
  };

  // Columns of the tile that exist, and the first one's channel.
  WT_DEVICE static i32 columns_left(const Arguments& p, const Place& place) {
    const i64 left = p.columns - place.column;
    return left < kColumns ? static_cast<i32>(left) : kColumns;
  }
  WT_DEVICE static i64 first_channel(const Arguments& p, const Place& place) {
    return static_cast<i64>(place.group) * p.columns + place.column;
  }

  template <class Rows>
  WT_DEVICE static void store_direct(const Arguments& p, const Rows& rows, const Place& place,
                                     const float (&d)[kColumns / 2], Steps& steps) {
    const int thread = device::thread_index() % 128, lane = thread % 32;
    const i32 columns = columns_left(p, place);
    const i64 channel = first_channel(p, place);
    WT_UNROLL for (int half = 0; half < 2; ++half) {
      const i64 start = rows.offset(thread / 32 * 16 + lane / 4 + 8 * half);
      if (start < 0) continue;
      const i64 offset = start + channel;
      auto* out = static_cast<Element*>(p.y) + offset;
      // A pair of columns is one aligned store where the row starts at an even element.
      const bool paired = (offset & 1) == 0;
      WT_UNROLL for (int j = 0; j < kColumns / 8; ++j) {
        const i32 column = 8 * j + 2 * (lane % 4);
        if (column >= columns) break;
        const float low = d[4 * j + 2 * half], high = d[4 * j + 2 * half + 1];
        const i64 at = offset + column, at_channel = channel + column;
        if (paired && column + 1 < columns) {
          Steps::write(reinterpret_cast<Vector<Element, 2>*>(out + column),
                       steps.template apply_run<2>(p.epilogue, {low, high}, at, at_channel));
          continue;
        }
        Steps::write(out + column, steps.apply(p.epilogue, low, at, at_channel));
        if (column + 1 < columns) Steps::write(out + column + 1, steps.apply(p.epilogue, high, at + 1, at_channel + 1));
      }
    }
  }

  // Columns `column` to `column` + 7 of row `row` of `rows`, in as long vectors as they lie.
  template <class Rows>
  WT_DEVICE static void store_eight(const Arguments& p, const Rows& rows, const Place& place, int row, i32 column,
                                    const float (&d)[8], Steps& steps) {
    const i64 start = rows.offset(row);
    const i32 left = columns_left(p, place) - column;
    if (start < 0 || left <= 0) return;
    const i64 channel = first_channel(p, place) + column, offset = start + channel;
    store_neighbours(p.epilogue, p.y, d, left, offset, channel, 1, steps);
  }

  // Writes the fragment into `staging` (64 rows, boxes as wide as a swizzle span of 128 or 64 bytes), in the place of
  // the residual where that was copied there.
  template <class Rows>
  WT_DEVICE static void stage(const Arguments& p, const Rows& rows, const Place& place, const float (&d)[kColumns / 2],
                              Steps& steps, SharedAddress staging) {
    if constexpr (sizeof(Element) == 4) {
      stage_boxes<0, kBoxes>(p, rows, place, d, steps, staging);
    } else {
      stage_halves(p, rows, place, d, steps, staging);
    }
  }

  // The same of `kCount` boxes from number `kFirst` on, of 32-bit outputs.
  template <int kFirst, int kCount, class Rows>
  WT_DEVICE static void stage_boxes(const Arguments& p, const Rows& rows, const Place& place,
                                    const float (&d)[kColumns / 2], Steps& steps, SharedAddress staging) {
    constexpr int kEnd = kFirst + kCount < kBoxes ? (kFirst + kCount) * kBoxColumns : kColumns;
    stage_words<kConfig, kFirst * kBoxColumns, kEnd>(p, rows, columns_left(p, place), first_channel(p, place), d, steps,
                                                     staging);
  }

  template <class Rows>
  WT_DEVICE static void stage_halves(const Arguments& p, const Rows& rows, const Place& place,
                                     const float (&d)[kColumns / 2], Steps& steps, SharedAddress staging) {
    static_assert(sizeof(Element) == 2, "matrices of 8x8 are of 16-bit outputs");
    constexpr EpilogueConfig kSteps = kConfig.epilogue;
    // WHY: what is read at a place ends with the tensor, and amax counts what is stored. Bulk stores drop what lies
    // outside the tensor, so nothing else asks where a row is: to find out takes three divisions.
    constexpr bool kBounded = tma_layout::placed_steps(kConfig).placed() || kSteps.amax;
    constexpr bool kAnyRows = kConfig.gemm.staging == Staging::kShared && kConfig.gemm.vector_c == 1;
    constexpr int kBlocks = kColumns / 8;
    const int thread = device::thread_index() % 128, lane = thread % 32, warp = thread / 32;
    const i32 columns = columns_left(p, place);
    const i64 channel = first_channel(p, place);
    bool inside[2] = {true, true};
    i64 offset[2] = {0, 0};
    if constexpr (kBounded) {
      WT_UNROLL for (int half = 0; half < 2; ++half) {
        const i64 start = rows.offset(warp * 16 + lane / 4 + 8 * half);
        inside[half] = start >= 0;
        offset[half] = start + channel;
      }
    }
    // Lane l gives the address of row l % 16 of the warp's 16, in column block j + l / 16.
    const int matrix_row = warp * 16 + lane % 16;
    constexpr int kPitch = tma_layout::out_box_columns(kConfig) * static_cast<int>(sizeof(Element)),
                  kChunks = kPitch / 16;
    static_assert(kPitch == 128 || kPitch == 64);
    const SharedAddress row_address = staging + matrix_row * kPitch;
    const int turned = matrix_row * kPitch / 128 % kChunks;  // by the swizzle
    const auto columns_of = [&](int block) {
      const i32 column = 8 * block + 2 * (lane % 4);
      return ChannelPair<Steps>(p.epilogue, channel + column, block < kBlocks ? columns - column : 0);
    };
    ChannelPair<Steps> next[2] = {columns_of(0), columns_of(1)};
    WT_UNROLL for (int j = 0; j < kBlocks; j += 2) {
      const int matrix = j + 1 < kBlocks ? j + lane / 16 : j;
      const SharedAddress address =
          row_address + (matrix / kChunks) * (64 * kPitch) + (((matrix % kChunks) ^ turned) * 16);
      u32 packed[4] = {0, 0, 0, 0};
      if constexpr (tma_layout::copies_residual(kConfig))
        load_staged<false, (kBlocks % 2 != 0)>(packed, address, j + 1 < kBlocks);
      // WHY ahead: each would wait for its memory, and nothing moves them across the store to shared memory.
      const ChannelPair<Steps> channels[2] = {next[0], next[1]};
      next[0] = columns_of(j + 2), next[1] = columns_of(j + 3);
      WT_UNROLL for (int quarter = 0; quarter < 4; ++quarter) {
        const int block = j + quarter / 2, half = quarter % 2;
        const i32 column = 8 * block + 2 * (lane % 4);
        if (block >= kBlocks || (kBounded && (!inside[half] || column >= columns))) continue;
        // Rows of any length may be odd, and what lies behind their end is not the tensors'.
        const int count = kBounded && kAnyRows && column + 1 >= columns ? 1 : 2;
        const i64 at = offset[half] + column;
        const auto residual =
            residual_pair<tma_layout::copies_residual(kConfig), kAnyRows>(p.epilogue, packed[quarter], at, count);
        Vector<Element, 2> pair{};
        WT_UNROLL for (int i = 0; i < 2; ++i) {
          if (i >= count) continue;
          pair.at[i] =
              steps.apply(p.epilogue, d[4 * block + 2 * half + i], channels[quarter / 2].scale[i],
                          channels[quarter / 2].bias[i], device::to_float(residual.at[i]), at + i);
        }
        packed[quarter] = __builtin_bit_cast(u32, pair);
      }
      if (j + 1 < kBlocks) {
        device::store_matrix<false>(address, packed);
      } else {
        device::store_matrix<false>(address, {packed[0], packed[1]});
      }
    }
  }

  // The residual of two neighbours, `count` of which exist: as it was copied, or from where it lies.
  template <bool kCopied, bool kAnyRows>
  WT_DEVICE static Vector<Element, 2> residual_pair(const EpilogueArguments& p, u32 copied, i64 at, int count) {
    if constexpr (!kConfig.epilogue.residual) return {};
    if constexpr (kCopied) return __builtin_bit_cast(Vector<Element, 2>, copied);
    const auto* from = static_cast<const Element*>(p.residual) + at;
    if constexpr (!kAnyRows) return device::load_global(reinterpret_cast<const Vector<Element, 2>*>(from));
    Vector<Element, 2> pair{};
    WT_UNROLL for (int i = 0; i < 2; ++i) {
      if (i < count) pair.at[i] = device::load_global(from + i);
    }
    return pair;
  }

  // Copies the fragment's staged rows to wherever they go, neighbouring lanes neighbouring vectors of a row; where
  // vectors are of one number, rows that start anywhere. Each warp copies the 16 rows that it staged itself: `kCount`
  // boxes of them, from number `kFirst` on.
  template <int kFirst = 0, int kCount = kBoxes, class Rows>
  WT_DEVICE static void copy_rows(const Arguments& p, const Rows& rows, const Place& place, SharedAddress staging) {
    constexpr int kFirstColumn = kFirst * kBoxColumns;
    constexpr int kWide = (kFirst + kCount < kBoxes ? (kFirst + kCount) * kBoxColumns : kColumns) - kFirstColumn;
    constexpr int kWidth = kConfig.gemm.vector_c, kVectors = kWide / kWidth, kRows = 16;
    constexpr int kChunk = 16 / static_cast<int>(sizeof(Element));
    using Part = Vector<Element, kWidth>;
    const int thread = device::thread_index() % 128, lane = thread % 32, warp = thread / 32;
    const i32 columns = columns_left(p, place) - kFirstColumn;
    const i64 start = rows.offset(warp * kRows + lane % kRows);
    const i64 channel = first_channel(p, place) + kFirstColumn;
    if constexpr (kWidth == 1) {
      static_assert(kCount == kBoxes && sizeof(Element) == 2);
      AnyRows<kColumns>{p.y, start < 0 ? start : start + channel, columns, staging}.store();
      return;
    }
    device::sync_warp();
    // WHY few: unrolled as a whole, its addresses push the accumulators of the other fragments out of the registers.
    WT_UNROLL_FEW for (int first = 0; first < kRows * kVectors; first += 32) {
      const int at = first + lane, in_warp = at / kVectors % kRows, column = at % kVectors * kWidth;
      const u32 low = device::shuffle(static_cast<u32>(start), in_warp);
      const u32 high = device::shuffle(static_cast<u32>(static_cast<u64>(start) >> 32), in_warp);
      const i64 offset = static_cast<i64>(static_cast<u64>(high) << 32 | low);
      if (at >= kRows * kVectors || offset < 0 || column >= columns) continue;
      const int chunk = column % kBoxColumns / kChunk ^ in_warp % 8;
      const SharedAddress from = staging + column / kBoxColumns * kBoxBytes + (warp * kRows + in_warp) * 128 +
                                 chunk * 16 + column % kChunk * static_cast<int>(sizeof(Element));
      i64 to = offset + channel + column;
      if constexpr (tma_layout::stores_patches(kConfig))
        to += quotient(static_cast<u32>(channel + column), p.run) * p.run_gap;
      device::store_global(reinterpret_cast<Part*>(static_cast<Element*>(p.y) + to), device::load_shared<Part>(from));
    }
    device::sync_warp();  // the next fragment is staged in the same place
  }

  // Sends 64 staged rows; by one thread, after the writers' proxy fence and barrier.
  template <int kFirst = 0, int kCount = kBoxes>
  WT_DEVICE static void send(const Arguments& p, i64 row, const Place& place, SharedAddress staging) {
    const i32 column = static_cast<i32>(static_cast<i64>(place.group) * p.columns + place.column);
    WT_UNROLL for (int box = kFirst; box < kFirst + kCount; ++box) {
      device::tma_store(is_tail(box) ? p.out_tail : p.out, staging + (box - kFirst) * kBoxBytes,
                        column + kBoxColumns * box, static_cast<i32>(row));
    }
    device::bulk_commit();
  }
  // Whether a box is narrower than the others.
  WT_DEVICE static bool is_tail(int box) { return kColumns % kBoxColumns != 0 && box == kColumns / kBoxColumns; }

  // Copies the residual of 64 rows to where they will be staged; by one thread. `full` gets kResidualBytes.
  static constexpr u32 kResidualBytes = 64 * kColumns * sizeof(Element);
  WT_DEVICE static void fetch_residual(const Arguments& p, i64 row, const Place& place, SharedAddress staging,
                                       SharedAddress full) {
    const i32 column = static_cast<i32>(static_cast<i64>(place.group) * p.columns + place.column);
    WT_UNROLL for (int box = 0; box < kBoxes; ++box) {
      device::tma_load(staging + box * kBoxBytes, is_tail(box) ? p.residual_tail : p.residual, full,
                       column + kBoxColumns * box, static_cast<i32>(row));
    }
  }

  // The same of 64 patches in one column of them, `first` and those below it; the map ends with the last one.
  WT_DEVICE static void send_patches(const Arguments& p, i32 patch_column, i32 first, const Place& place,
                                     SharedAddress staging) {
    WT_UNROLL for (int box = 0; box < kBoxes; ++box) {
      device::tma_store(is_tail(box) ? p.out_tail : p.out, staging + box * kBoxBytes,
                        static_cast<i32>(place.column) + kBoxColumns * box, patch_column, first);
    }
    device::bulk_commit();
  }
};

}  // namespace wt
