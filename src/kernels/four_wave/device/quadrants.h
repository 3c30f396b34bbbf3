// SPDX-License-Identifier: Apache-2.0
// kernels/four_wave/device/quadrants.h - the products of four waves of four quadrants, and the loop around them.
//
//   two stages (shared, swizzled) --> fragments --mfma--> quadrants
//
// A wave's part of the tile is four quadrants: two halves of pixels by two halves of channels. While one stage is
// multiplied, the next k-block comes into the other: through registers, or straight (gfx950). One barrier a k-block: it
// stands between a stage's last fragment read and its being overwritten, and the first fragments of the next stage are
// read under the last two quadrants of this one:
//
//   registers   channels 1 | p0 c0   pixels 1 | p0 c1   store next, fetch next but one   barrier   pixels 0' | p1 c0
//               channels 0' | p1 c1
//   straight    the same without stores; wait for the next block's copies, barrier, copy next but one into this stage
//
// The last k-block stands after the loop, so that the loop has no branch and a schedule says which accesses go between
// which products. What the loop fetches beyond the last k-block is outside the buffer or not used.
//
// Operands of the instruction are swapped, channels as rows: a lane's accumulators are then channels of one pixel. In a
// weight gradient output channels stand for pixels, and numbers of a filter for channels.
#pragma once

#include "kernels/device/interleave.h"
#include "kernels/four_wave/device/output.h"
#include "kernels/wavelet/device/words.h"

namespace wt {

// Where byte `in_row` of a fragment's rows lies, which begin `rows` bytes into the tile, a multiple of the swizzle's.
template <int kSpan>
struct RowPlaces {
  WT_DEVICE static u32 at(u32 rows, u32 in_row) { return rows + swizzled<kSpan>(in_row); }
};

// kCopies: what fills a stage passes no register; else it is stored by kStores accesses of a thread, and loaded by
// kLoads; kStoresFirst: which overwrite what the stores take all of.
template <KernelConfig kConfig, class Places, bool kCopies, int kStores, int kLoads, bool kStoresFirst = false>
struct Quadrants {
  using Mma = typename FourWaveOutput<kConfig>::Mma;
  using Accumulators = typename FourWaveOutput<kConfig>::Accumulators;
  using Operand = typename Mma::Operand;

  static constexpr int kSpan = four_wave_layout::span(kConfig);
  static constexpr int kTileM = kConfig.gemm.tile.m, kTileN = kConfig.gemm.tile.n;
  static constexpr int kABytes = four_wave_layout::a_bytes(kConfig);
  static constexpr int kStageBytes = kABytes + four_wave_layout::b_bytes(kConfig);
  static constexpr int kEdge = kConfig.gemm.mma.m;  // of a matrix instruction, which is square
  static constexpr int kBlocksM = four_wave_layout::quadrant_m(kConfig) / kEdge;
  static constexpr int kBlocksN = four_wave_layout::quadrant_n(kConfig) / kEdge;
  static constexpr int kSteps = kSpan / four_wave_layout::step_bytes(kConfig);
  // An instruction takes a piece of 16 bytes, or several of them.
  static constexpr int kTaken = Mma::kA * static_cast<int>(sizeof(Operand));
  static constexpr int kPieces = kTaken < four_wave_layout::kChunkBytes ? four_wave_layout::kChunkBytes / kTaken : 1;
  static constexpr int kJoined = kTaken > four_wave_layout::kChunkBytes ? kTaken / four_wave_layout::kChunkBytes : 1;
  static constexpr int kProducts = kBlocksM * kBlocksN * kSteps / kJoined * kPieces;  // of a quadrant
  static_assert(kBlocksM > 0 && kBlocksN > 0 && kSteps > 0 && kSteps % kJoined == 0);
  static_assert(kConfig.gemm.mma.m == kConfig.gemm.mma.n && Mma::kA == Mma::kB && Mma::kRun == Mma::kA);

  WT_DEVICE static int wave_pixel() { return device::warp_index() % 2 * (kTileM / 2); }
  WT_DEVICE static int wave_channel() { return device::warp_index() / 2 * (kTileN / 2); }

  // The sum of `blocks` k-blocks; none counts as one. fetch(stage): the next k-block from global memory, to registers
  // or straight to the stage; store(stage): what was fetched from registers to the stage.
  template <class Fetch, class Store>
  WT_DEVICE static void accumulate(SharedAddress base, i32 blocks, Fetch&& fetch, Store&& store, Accumulators& c) {
    fetch(base);
    store(base);
    if constexpr (kCopies) device::copy_buffer_wait<0>();
    fetch(base + kStageBytes);
    c.clear();
    device::sync_block();

    const int row_m = wave_pixel(), row_n = wave_channel();
    constexpr int kHalfM = four_wave_layout::quadrant_m(kConfig), kHalfN = four_wave_layout::quadrant_n(kConfig);
    constexpr int kReads = (kBlocksM + kBlocksN) * kSteps;
    Pixels pixels[2];
    Channels channels[2];
    pixels[0].read(base, row_m);
    channels[0].read(base + kABytes, row_n);
    SharedAddress stage = base, next = base + kStageBytes;
    WT_ROLLED for (i32 block = 1; block < blocks; ++block) {
      channels[1].read(stage + kABytes, row_n + kHalfN);
      multiply(c.at[0][0], pixels[0], channels[0]);
      pixels[1].read(stage, row_m + kHalfM);
      multiply(c.at[0][1], pixels[0], channels[1]);
      store(next);
      if constexpr (!kCopies) fetch(stage);
      interleave<2 * kProducts, kReads, kCopies ? 0 : kStores, kCopies ? 0 : kLoads, kStoresFirst>();
      device::schedule_end();
      if constexpr (kCopies) device::copy_buffer_wait<0>();
      device::sync_block();
      if constexpr (kCopies) {
        fetch(stage);
        device::schedule_end();  // WHY: the sooner they start, the less is left of them at the next wait
      }
      pixels[0].read(next, row_m);
      multiply(c.at[1][0], pixels[1], channels[0]);
      channels[0].read(next + kABytes, row_n);
      multiply(c.at[1][1], pixels[1], channels[1]);
      interleave<2 * kProducts, kReads, 0, 0>();
      const SharedAddress last = stage;
      stage = next;
      next = last;
    }
    channels[1].read(stage + kABytes, row_n + kHalfN);
    multiply(c.at[0][0], pixels[0], channels[0]);
    pixels[1].read(stage, row_m + kHalfM);
    multiply(c.at[0][1], pixels[0], channels[1]);
    multiply(c.at[1][0], pixels[1], channels[0]);
    multiply(c.at[1][1], pixels[1], channels[1]);
    if constexpr (kCopies) device::copy_buffer_wait<0>();  // the output overwrites where they land
  }

 private:
  // kBlocks matrix instructions' rows, all of a stage's k. WHY 16 bytes per lane at a time: one instruction takes 8 of
  // them for most types, and which k a lane holds does not matter as long as both operands agree.
  template <int kBlocks>
  struct Fragments {
    Vector<u32, 4> at[kBlocks][kSteps];

    WT_DEVICE void read(SharedAddress tile, int row) {
      const int lane = device::lane_index();
      const int own = Mma::a_row(lane, 0) * kSpan + Mma::a_k(lane, 0) / Mma::kA * four_wave_layout::kChunkBytes;
      WT_UNROLL for (int s = 0; s < kSteps; ++s) {
        const int in_row = own + s * four_wave_layout::step_bytes(kConfig);
        WT_UNROLL for (int b = 0; b < kBlocks; ++b) {
          const u32 place = Places::at(static_cast<u32>((row + b * kEdge) * kSpan), static_cast<u32>(in_row));
          at[b][s] = device::load_shared<Vector<u32, 4>>(tile + place);
        }
      }
    }
    // What one instruction takes of block b.
    WT_DEVICE void piece(int b, int s, int index, Operand (&to)[Mma::kA]) const {
      constexpr int kWords = kTaken / 4;
      Vector<u32, kWords> words;
      WT_UNROLL for (int w = 0; w < kWords; ++w) words.at[w] = at[b][s + w / 4].at[(index * kWords + w) % 4];
      const auto numbers = __builtin_bit_cast(Vector<Operand, Mma::kA>, words);
      WT_UNROLL for (int e = 0; e < Mma::kA; ++e) to[e] = numbers.at[e];
    }
  };
  using Pixels = Fragments<kBlocksM>;
  using Channels = Fragments<kBlocksN>;

  WT_DEVICE static void multiply(float (&c)[kBlocksN][kBlocksM][Mma::kC], const Pixels& pixels,
                                 const Channels& channels) {
    WT_UNROLL for (int s = 0; s < kSteps; s += kJoined) {
      WT_UNROLL for (int i = 0; i < kPieces; ++i) {
        Operand b[kBlocksM][Mma::kB];
        WT_UNROLL for (int m = 0; m < kBlocksM; ++m) pixels.piece(m, s, i, b[m]);
        WT_UNROLL for (int n = 0; n < kBlocksN; ++n) {
          Operand a[Mma::kA];
          channels.piece(n, s, i, a);
          device::multiply_row<Mma>(c[n], a, b);
        }
      }
    }
  }
};

}  // namespace wt
