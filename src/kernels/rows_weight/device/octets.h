// SPDX-License-Identifier: Apache-2.0
// kernels/rows_weight/device/octets.h - how a lane of rows_weight/device/kernel.h reads its words of a step of 16
// outputs.
//
//   ring of image rows --32-bit loads--> words of two octets of outputs --turned round--> fragments of A
#pragma once

#include "kernels/rows_weight/device/layout.h"
#include "kernels/rows_weight/device/walk.h"
#include "target/hopper.h"

namespace wt {

template <KernelConfig kConfig>
struct RowsWeightOctets {
  using Params = RowsWeightArguments;
  static constexpr int kFragments = rows_weight_layout::fragments(kConfig) / rows_weight_layout::groups_m(kConfig);
  static constexpr int kStepBytes = 16 * 128;  // 16 outputs of 64 channels
  static constexpr bool kPlanes = kConfig.dims == 3;

  // The words of one step of 16 outputs, two octets, as they were read; and how they become registers.
  template <bool kOdd>
  struct Words {
    static constexpr int kPerPair = kOdd ? 3 : 2;
    u32 at[kFragments][2][kPerPair] = {};
    u32 selectors[kOdd ? 2 : 1][2];
  };

  // Where a lane's words lie: bytes from the first row of a unit's windows.
  struct OwnWords {
    i32 at[kFragments];
    i32 plane[kPlanes ? kFragments : 1];  // and of their filter plane's ring from the first one's
    bool has_last;                        // whether any lane of the warp has a word in the last fragment

    WT_DEVICE OwnWords(const Params& p, i32 first_word) {
      const int lane = device::lane_index(), warp = device::thread_index() % 128 / 32;
      WT_UNROLL for (int f = 0; f < kFragments; ++f) {
        const i32 index = first_word + 32 * f + 8 * warp + lane / 4;
        const auto own = rows_weight_layout::word_of(p.filter_rows, p.row_words, index < p.words ? index : 0);
        i32 row = own.row;
        if constexpr (kPlanes) {
          const auto of_filter = static_cast<i32>(quotient(static_cast<u32>(row), p.plane_rows));
          row -= of_filter * static_cast<i32>(p.plane_rows.by);
          plane[f] = of_filter * p.plane_bytes;
        }
        at[f] = row * p.pitch + own.at * 4 + p.before;  // beyond the last word the sum is dropped
      }
      has_last = first_word + 32 * (kFragments - 1) + 8 * warp < p.words;
    }
    WT_DEVICE i32 plane_of(int f) const { return kPlanes ? plane[kPlanes ? f : 0] : 0; }
  };

  // A group's place in its unit: one octet of outputs after the other, along the rows.
  template <bool kOdd>
  struct Octets {
    using Step = Words<kOdd>;
    OwnWords words;
    SharedAddress address[kFragments];  // the same for this row of outputs
    SharedAddress end;                  // of the ring
    i32 ring_bytes, row_bytes, step_bytes;
    i32 octet, rows_left;
    // Bytes along the row: of the lane's first output in this octet, in the row's first, and of the last that exists;
    // of the last that may be first in a pair.
    i32 at, first, limit, last_pair;

    WT_DEVICE Octets(const Params& p, SharedAddress rows, i32 first_word) : words(p, first_word) {
      ring_bytes = p.ring_chunks * p.chunk_rows * p.pitch;
      row_bytes = p.stride_h * p.pitch;
      step_bytes = 2 * p.step;
      end = rows + ring_bytes;
      first = device::lane_index() % 4 * 2 * step_bytes;
    }

    // Bytes of dy from one octet of a step to the other; and a step's place, steps being asked for in turns.
    WT_DEVICE static u32 octet_pitch(const Params&) { return 1024; }
    WT_DEVICE static void next_step(const Params&, u64& b) { b += kStepBytes / 16; }  // descriptors count 16 bytes

    // Steps of the unit.
    WT_DEVICE i32 enter(const Params& p, const RowsWalk& walk) {
      const RowsUnit unit = walk.unit(p);
      const SharedAddress top = end - ring_bytes + walk.first_row(p) * p.pitch;
      WT_UNROLL for (int f = 0; f < kFragments; ++f) address[f] = wrapped(f, top + words.plane_of(f) + words.at[f]);
      octet = 0;
      at = first;
      rows_left = unit.rows - 1;
      limit = (unit.columns - 1) * step_bytes;
      last_pair = (unit.columns - 1) / 2 * 2 * step_bytes;
      return (unit.rows * p.octets + 1) / 2;
    }

    WT_DEVICE void read(const Params& p, Words<kOdd>& to) {
      WT_UNROLL for (int half = 0; half < 2; ++half) {
        const i32 second = at + step_bytes;
        if constexpr (kOdd) {
          const i32 low = at < last_pair ? at : last_pair;
          const i32 even = low + p.even_at, odd = low + p.odd_at;
          WT_UNROLL for (int f = 0; f < kFragments; ++f) {
            if (f == kFragments - 1 && !words.has_last) continue;
            to.at[f][half][0] = device::load_shared<u32>(address[f] + even);
            to.at[f][half][1] = device::load_shared<u32>(address[f] + odd);
            to.at[f][half][2] = device::load_shared<u32>(address[f] + odd + 4);
          }
          // In a pair, the output at an even element has its numbers in one word, the other in two; where the second
          // output does not exist, the first stands for it.
          const bool both = second <= limit, even_first = p.even_at == 0;
          to.selectors[half][0] = both ? (even_first ? 0x7610 : 0x1076) : (even_first ? 0x1010 : 0x7676);
          to.selectors[half][1] = both ? (even_first ? 0x5432 : 0x3254) : (even_first ? 0x3232 : 0x5454);
        } else {
          const i32 low = at < limit ? at : limit, high = second < limit ? second : limit;
          WT_UNROLL for (int f = 0; f < kFragments; ++f) {
            if (f == kFragments - 1 && !words.has_last) continue;
            to.at[f][half][0] = device::load_shared<u32>(address[f] + low);
            to.at[f][half][1] = device::load_shared<u32>(address[f] + high);
          }
        }
        next(p);
      }
    }

   private:
    WT_DEVICE SharedAddress wrapped(int f, SharedAddress place) const {
      return place >= end + words.plane_of(f) ? place - ring_bytes : place;
    }
    // WHY the last row stays: of an odd number of octets, the last step's second reads what the first has read.
    WT_DEVICE void next(const Params& p) {
      at += 8 * step_bytes;
      if (++octet < p.octets) return;
      octet = 0;
      at = first;
      if (rows_left == 0) return;
      --rows_left;
      WT_UNROLL for (int f = 0; f < kFragments; ++f) address[f] = wrapped(f, address[f] + row_bytes);
    }
  };

  // Pairs of rows with whole octets: no output is missing, so that all lanes read at one distance from their first
  // words, and a load has no arithmetic of its own.
  struct PairedOctets {
    using Step = Words<false>;
    OwnWords words;
    SharedAddress address[2][kFragments];  // of the lane's first output in both rows
    SharedAddress end;                     // of the ring
    i32 ring_bytes, row_bytes, step_bytes, octet_bytes;
    i32 pairs_left;
    i32 at, second, row_end;  // bytes along the rows
    i32 left, row_steps;      // of the rows of dy: steps to the next pair
    u64 pair_step;

    WT_DEVICE PairedOctets(const Params& p, SharedAddress rows, i32 first_word) : words(p, first_word) {
      ring_bytes = p.ring_chunks * p.chunk_rows * p.pitch;
      row_bytes = p.stride_h * p.pitch;
      step_bytes = 2 * p.step;
      octet_bytes = 8 * step_bytes;
      end = rows + ring_bytes;
      row_end = p.octets * octet_bytes;
      row_steps = p.octets;
      pair_step = static_cast<u64>(octet_pitch(p) / 16);
      WT_UNROLL for (int f = 0; f < kFragments; ++f) words.at[f] += device::lane_index() % 4 * 2 * step_bytes;
    }

    WT_DEVICE static u32 octet_pitch(const Params& p) { return static_cast<u32>(p.strip) * 128; }
    WT_DEVICE void next_step(const Params&, u64& b) {
      b += 1024 / 16;
      if (--left > 0) return;
      left = row_steps;
      b += pair_step;
    }

    WT_DEVICE i32 enter(const Params& p, const RowsWalk& walk) {
      const SharedAddress top = end - ring_bytes + walk.first_row(p) * p.pitch;
      WT_UNROLL for (int f = 0; f < kFragments; ++f) {
        address[0][f] = wrapped(f, top + words.plane_of(f) + words.at[f]);
        address[1][f] = wrapped(f, address[0][f] + row_bytes);
      }
      at = 0;
      second = step_bytes;
      left = row_steps;
      pairs_left = p.tile_rows / 2;
      return pairs_left * p.octets;
    }

    WT_DEVICE void read(Step& to) {
      WT_UNROLL for (int half = 0; half < 2; ++half) {
        WT_UNROLL for (int f = 0; f < kFragments; ++f) {
          if (f == kFragments - 1 && !words.has_last) continue;
          to.at[f][half][0] = device::load_shared<u32>(address[half][f] + at);
          to.at[f][half][1] = device::load_shared<u32>(address[half][f] + second);
        }
      }
      at += octet_bytes;
      second += octet_bytes;
      if (at < row_end) return;
      at = 0;
      second = step_bytes;
      if (--pairs_left <= 0) return;  // what is read beyond the last step is what was read before
      WT_UNROLL for (int f = 0; f < kFragments; ++f) {
        address[0][f] = wrapped(f, address[1][f] + row_bytes);
        address[1][f] = wrapped(f, address[0][f] + row_bytes);
      }
    }

   private:
    WT_DEVICE SharedAddress wrapped(int f, SharedAddress place) const {
      return place >= end + words.plane_of(f) ? place - ring_bytes : place;
    }
  };

  // WHY kept: registers that are made between products make the compiler order the products anew.
  template <bool kOdd>
  WT_DEVICE static void turn(const Words<kOdd>& words, u32 (&a)[kFragments][4]) {
    WT_UNROLL for (int f = 0; f < kFragments; ++f) {
      WT_UNROLL for (int half = 0; half < 2; ++half) {
        const auto& at = words.at[f][half];
        if constexpr (kOdd) {
          a[f][2 * half] = device::keep(device::permute_bytes(at[0], at[1], words.selectors[half][0]));
          a[f][2 * half + 1] = device::keep(device::permute_bytes(at[0], at[2], words.selectors[half][1]));
        } else {
          a[f][2 * half] = device::keep(device::permute_bytes(at[0], at[1], 0x5410));
          a[f][2 * half + 1] = device::keep(device::permute_bytes(at[0], at[1], 0x7632));
        }
      }
    }
  }
};

}  // namespace wt
