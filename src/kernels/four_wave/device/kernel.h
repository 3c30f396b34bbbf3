// SPDX-License-Identifier: Apache-2.0
// kernels/four_wave/device/kernel.h - implicit GEMM by four waves on CDNA: a matrix product whose A loader knows
// pixels. Backward data is the same of dy and the transposed filter, phase by phase.
//
//   global --loader.h--> two stages (shared, swizzled) --> fragments --mfma--> quadrants --output.h--> global
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
// Operands of the instruction are swapped, channels as rows: a lane's accumulators are then channels of one pixel.
#pragma once

#include "kernels/beside/device/transpose_filter.h"
#include "kernels/four_wave/device/loader.h"
#include "kernels/four_wave/device/order.h"
#include "kernels/four_wave/device/output.h"

namespace wt {

template <KernelConfig kConfig>
struct FourWaveGemm {
  using Params = FourWaveArguments<four_wave_layout::phases(kConfig)>;
  static constexpr int kThreads = four_wave_layout::kThreads;
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    const u32 index = chiplet_order(static_cast<u32>(device::block_index().x), p.tiles, p.chiplets);
    const FourWavePhase& phase = p.phases[phase_of(p, index)];
    const TilePlace place =
        tile_place(index - phase.first_tile, phase.tiles_m, p.tiles_n, kConfig.gemm.block_swizzle);
    const u32 pixel = place.m * kTileM, channel = place.n * kTileN;
    Accumulators c;
    accumulate(p, phase, place.group, pixel, channel, c);
    device::sync_block();  // the stages are free
    FourWaveOutput<kConfig>::write(p, phase, place.group, pixel + wave_pixel(), channel + wave_channel(), c);
  }

 private:
  using Mma = typename FourWaveOutput<kConfig>::Mma;
  using Operand = typename Mma::Operand;
  using Accumulators = typename FourWaveOutput<kConfig>::Accumulators;
  static constexpr int kTileM = kConfig.gemm.tile.m, kTileN = kConfig.gemm.tile.n;
  static constexpr int kSpan = four_wave_layout::span(kConfig);
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
  static constexpr bool kCopies = four_wave_layout::copies(kConfig);
  static_assert(kBlocksM > 0 && kBlocksN > 0 && kSteps > 0 && kSteps % kJoined == 0);
  static_assert(kConfig.gemm.mma.m == kConfig.gemm.mma.n && Mma::kA == Mma::kB && Mma::kRun == Mma::kA);

  // kBlocks matrix instructions' rows, all of a stage's k. WHY 16 bytes per lane at a time: one instruction takes 8 of
  // them for most types, and which k a lane holds does not matter as long as both operands agree.
  template <int kBlocks>
  struct Fragments {
    Vector<u32, 4> at[kBlocks][kSteps];

    WT_DEVICE void read(SharedAddress tile, int row) {
      const int lane = device::lane_index();
      const int own = Mma::a_row(lane, 0) * kSpan + Mma::a_k(lane, 0) / Mma::kA * four_wave_layout::kChunkBytes;
      WT_UNROLL for (int s = 0; s < kSteps; ++s) {
        const u32 place = swizzled<kSpan>(static_cast<u32>(own + s * four_wave_layout::step_bytes(kConfig)));
        WT_UNROLL for (int b = 0; b < kBlocks; ++b) {
          at[b][s] = device::load_shared<Vector<u32, 4>>(tile + static_cast<u32>((row + b * kEdge) * kSpan) + place);
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

  // The last whose tiles do not start behind this one.
  WT_DEVICE static u32 phase_of(const Params& p, u32 tile) {
    u32 phase = 0;
    if constexpr (four_wave_layout::phases(kConfig) > 1) {
      while (phase + 1 < p.phase_count && p.phases[phase + 1].first_tile <= tile) ++phase;
    }
    return phase;
  }

  WT_DEVICE static int wave_pixel() { return device::warp_index() % 2 * (kTileM / 2); }
  WT_DEVICE static int wave_channel() { return device::warp_index() / 2 * (kTileN / 2); }

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

  // Of `count`, what goes to the at-th of `slots`.
  static constexpr int share(int count, int at, int slots) {
    return at < 0 || at >= slots ? 0 : count * (at + 1) / slots - count * at / slots;
  }
  // Of two quadrants' products: reads of fragments among the first half, what fills the other stage among the second.
  template <int kReads, int kWrites, int kLoads, int kAt = 0>
  WT_DEVICE static void interleave() {
    if constexpr (kAt < 2 * kProducts) {
      constexpr int kLate = kAt - kProducts;
      device::schedule<device::Slot::kMatrix, 1>();
      device::schedule<device::Slot::kSharedRead, share(kReads, kAt, kProducts)>();
      device::schedule<device::Slot::kSharedWrite, share(kWrites, kLate, kProducts)>();
      device::schedule<device::Slot::kGlobalRead, share(kLoads, kLate, kProducts)>();
      interleave<kReads, kWrites, kLoads, kAt + 1>();
    }
  }

  WT_DEVICE static void accumulate(const Params& p, const FourWavePhase& phase, u32 group, u32 pixel, u32 channel, Accumulators& c) {
    using LoaderA = PixelLoader<kConfig>;
    using LoaderB = MatrixLoader<kConfig, kTileN>;
    LoaderA load_a;
    load_a.start(p, phase, group, pixel);
    LoaderB load_b;
    const u32 left = static_cast<u32>(p.columns) - channel, rows = left < kTileN ? left : kTileN;
    load_b.start(static_cast<const char*>(p.b) + (static_cast<i64>(group) * p.columns + channel) * p.filter_bytes +
                     phase.filter_start,
                 static_cast<i64>(rows) * p.filter_bytes - phase.filter_start, static_cast<u32>(p.filter_bytes),
                 phase.depth);

    const SharedAddress base = device::shared_base();
    const i32 blocks = (phase.depth + kConfig.gemm.tile.k - 1) / kConfig.gemm.tile.k;
    typename LoaderA::Chunk chunk_a;
    typename LoaderB::Chunk chunk_b;
    const auto fetch = [&](SharedAddress stage) {
      if constexpr (kCopies) {
        chunk_a.aim(stage);
        chunk_b.aim(stage + kABytes);
      }
      load_a.fetch(p, phase, chunk_a);
      load_b.fetch(p, phase, chunk_b);
    };
    const auto store = [&](SharedAddress stage) {
      if constexpr (kCopies) return;
      chunk_a.store(stage);
      chunk_b.store(stage + kABytes);
    };
    fetch(base);
    store(base);
    if constexpr (kCopies) device::copy_buffer_wait<0>();
    fetch(base + kStageBytes);
    c.clear();
    device::sync_block();

    const int row_m = wave_pixel(), row_n = wave_channel();
    constexpr int kHalfM = four_wave_layout::quadrant_m(kConfig), kHalfN = four_wave_layout::quadrant_n(kConfig);
    constexpr int kReads = (kBlocksM + kBlocksN) * kSteps;
    constexpr int kRows = LoaderA::Chunk::kRows + LoaderB::Chunk::kRows;
    constexpr int kLoads = kRows * LoaderA::Chunk::kVectors;
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
      interleave<kReads, kCopies ? 0 : kRows, kCopies ? 0 : kLoads>();
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
      interleave<kReads, 0, 0>();
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
};

}  // namespace wt
