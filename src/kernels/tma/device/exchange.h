// SPDX-License-Identifier: Apache-2.0
// kernels/tma/device/exchange.h - the parts of a sum that is divided over a cluster meet in each other's shared memory.
//
//   registers --st.async--> rows of the block that finishes them --in the order of ranks--> 8 columns a thread --> body
//
// Each block finishes an equal share of the tile's rows. Its barrier counts the bytes that come, its own among them, so
// that nothing is fenced. WHY rows: their threads store long vectors. WHY loops: this code runs once a tile, mostly
// once a launch, and every instruction of it comes from the L2 or from further away. No workspace, and the order of the
// additions is fixed: results repeat bit for bit.
#pragma once

#include "kernels/tma/device/output.h"

namespace wt {

template <KernelConfig kConfig>
struct ClusterSum {
  static constexpr int kConsumers = tma_layout::consumers(kConfig);
  static constexpr int kFragments = tma_layout::rows_of_consumer(kConfig) / 64;
  static constexpr int kRows = kConfig.gemm.tile.m, kColumns = kConfig.gemm.tile.n, kVectors = kColumns / 8;
  static constexpr int kPitch = tma_layout::exchange_pitch(kConfig);

  SharedAddress parts, barriers;

  WT_DEVICE SharedAddress filled() const { return barriers; }       // all parts of this block's rows are here
  WT_DEVICE SharedAddress emptied() const { return barriers + 8; }  // all have read what was sent to them

  WT_DEVICE void init() const {
    device::mbarrier_init(filled(), 1);
    device::mbarrier_init(emptied(), device::cluster_blocks() * 4 * kConsumers);
  }

  // Calls body(row, column, sums) for every 8 columns of the block's rows; `round` counts the block's tiles.
  template <class Body>
  WT_DEVICE void sum(const float (&d)[kFragments][kColumns / 2], int consumer, int round, bool last,
                     Body&& body) const {
    const int members = static_cast<int>(device::cluster_blocks()), rank = static_cast<int>(device::cluster_rank());
    const int share = tma_layout::rows_of_member(kConfig, members), first = rank * share;
    const int rows = kRows - first < share ? kRows - first : share;  // none left for some: 7 shares hold all of 8
    if (round > 0) device::mbarrier_wait(emptied(), static_cast<u32>(round - 1) & 1);
    if (device::thread_index() == 0 && rows > 0)
      device::mbarrier_arrive_expect(filled(), static_cast<u32>(members * rows * kColumns * 4));
    send(d, consumer, rank, share);
    if (rows > 0) device::mbarrier_wait(filled(), static_cast<u32>(round) & 1);
    WT_ROLLED for (int at = device::thread_index(); at < rows * kVectors; at += 128 * kConsumers) {
      const int row = at / kVectors, column = at % kVectors * 8;
      float sums[8] = {};
      for (int from = 0; from < members; ++from) {
        const SharedAddress part = parts + (from * share + row) * kPitch + column * 4;
        WT_UNROLL for (int half = 0; half < 2; ++half) {
          const auto four = device::load_shared<Vector<float, 4>>(part + 16 * half);
          WT_UNROLL for (int e = 0; e < 4; ++e) sums[4 * half + e] += four.at[e];
        }
      }
      body(first + row, column, sums);
    }
    // WHY not after the last tile: nobody waits, and the others may be gone.
    if (!last) arrive_everywhere(members);
  }

 private:
  WT_DEVICE void arrive_everywhere(int members) const {
    device::sync_warp();
    if (device::lane_index() != 0) return;
    for (int other = 0; other < members; ++other) device::mbarrier_arrive_remote(emptied(), static_cast<u32>(other));
  }

  // A thread has pairs of columns of two rows of a fragment. Neighbours swap pairs, so that each has four columns of
  // one row. WHY: a store into another block takes its time whatever it holds, up to 16 bytes.
  WT_DEVICE void send(const float (&d)[kFragments][kColumns / 2], int consumer, int rank, int share) const {
    const int thread = device::thread_index() % 128, lane = thread % 32;
    const bool odd = lane % 2 != 0;
    WT_UNROLL for (int i = 0; i < kFragments; ++i) {
      const int row = (consumer * kFragments + i) * 64 + thread / 32 * 16 + lane / 4 + (odd ? 8 : 0);
      const int owner = static_cast<int>(static_cast<u32>(row) / static_cast<u32>(share));
      const SharedAddress place = parts + (rank * share + row - owner * share) * kPitch + lane % 4 / 2 * 16;
      const u32 to = device::cluster_address(place, static_cast<u32>(owner));
      const u32 barrier = device::cluster_address(filled(), static_cast<u32>(owner));
      WT_UNROLL for (int j = 0; j < kVectors; ++j) {
        const float(&four)[kColumns / 2] = d[i];
        const float low = device::shuffle_xor(odd ? four[4 * j] : four[4 * j + 2], 1);
        const float high = device::shuffle_xor(odd ? four[4 * j + 1] : four[4 * j + 3], 1);
        const Vector<float, 4> sums{{odd ? low : four[4 * j], odd ? high : four[4 * j + 1], odd ? four[4 * j + 2] : low,
                                     odd ? four[4 * j + 3] : high}};
        device::store_cluster_counted(to + 32 * j, sums, barrier);
      }
    }
  }
};

}  // namespace wt
