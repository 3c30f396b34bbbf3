// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_banded/device/tile.h - a warp's fragments of a depthwise convolution as matrix products, a channel
// at a time.
//
//   A (16 strips, 16 pixels of a strip's window) x B (16 pixels, 8 outputs: the filter's row as a band) -> C
//
// The order of k is free, so that pixels j and j+4 make the pair that a lane needs: lanes read the channels of a
// pixel in one access and no transposition follows. Outputs are ordered alike, so that a lane's two are j and j+4.
#pragma once

#include "kernels/depthwise_banded/device/rows.h"

namespace wt {

// The lane's place in a fragment: row `strip` (and strip + 8), pixel `pixel` (and + 4).
struct BandedLane {
  int strip, pixel;
  bool swapped;  // WHY: lanes of odd strips read pixel + 4 first, which spreads a warp over twice the banks

  WT_DEVICE static BandedLane make() {
    const int lane = device::lane_index();
    return {lane / 4, lane % 4, (lane / 4 & 1) != 0};
  }
};

template <KernelConfig kConfig>
struct BandedTile {
  using Element = Storage<kConfig.x>;
  using Mma = device::Mma<kConfig.x, 16, 8, 16>;
  using Rows = BandedRows<kConfig>;
  static constexpr int kChannels = 4;  // of a warp
  // Where images are so narrow that each takes one strip, neighbouring strips share no pixels.
  static constexpr bool kShared = kConfig.direct.images == 1;
  static_assert(kConfig.direct.vector_in == kChannels);
  using Words = Vector<u32, kChannels / 2>;  // a pixel's

  // Two pixels of all channels as the pairs of their fragments.
  struct Pixels {
    Words first, second;
  };

  SharedAddress near, far;  // offsets of the lane's two pixels in a column block
  u32 even, odd;            // selectors that pair a channel of both

  WT_DEVICE void prepare(const BandedLane& lane, int warp) {
    const int bytes = warp * kChannels * 2;
    const int one = lane.swapped ? lane.pixel + 4 : lane.pixel, two = lane.swapped ? lane.pixel : lane.pixel + 4;
    near = Rows::place(one, bytes);
    far = Rows::place(two, bytes);
    even = lane.swapped ? 0x1054 : 0x5410;
    odd = lane.swapped ? 0x3276 : 0x7632;
  }

  WT_DEVICE Pixels read(SharedAddress block) const {
    // WHY peek: strips beyond the image read pixels that no copy brings; their outputs are not stored.
    return {device::peek_shared<Words>(block + near), device::peek_shared<Words>(block + far)};
  }
  // Fragments of every channel, as pairs of elements.
  using Pairs = u32[kChannels][Mma::kA / 2];

  // The fragments of an input row. `strips` are the shared addresses of the windows of the lane's two strips.
  WT_DEVICE void read_row(const SharedAddress (&strips)[2], Pairs& a) const {
    constexpr u32 kBlock = kBandedPixels * Rows::kPixelBytes;
    Pixels left[2], right[2];
    left[0] = read(strips[0]);
    right[0] = read(strips[0] + kBlock);
    if constexpr (kShared) {
      left[1] = right[0];
      right[1] = read(strips[0] + 2 * kBlock);
    } else {
      left[1] = read(strips[1]);
      right[1] = read(strips[1] + kBlock);
    }
    WT_UNROLL for (int c = 0; c < kChannels; ++c) {
      WT_UNROLL for (int i = 0; i < 2; ++i) {
        a[c][i] = pair_of(left[i], c);
        a[c][2 + i] = pair_of(right[i], c);
      }
    }
  }

  // Writes the channels of pixels j and j+4 of a strip, as pairs of channels.
  WT_DEVICE void stage(const BandedLane& lane, SharedAddress block, const u32 (&packed)[2][kChannels / 2]) const {
    WT_UNROLL for (int i = 0; i < 2; ++i) {
      Words words;
      WT_UNROLL for (int w = 0; w < kChannels / 2; ++w) words.at[w] = lane.swapped ? packed[1 - i][w] : packed[i][w];
      device::store_shared(block + (i == 0 ? near : far), words);
    }
  }

 private:
  // Channel `channel` of both pixels.
  WT_DEVICE u32 pair_of(const Pixels& from, int channel) const {
    return device::permute_bytes(from.first.at[channel / 2], from.second.at[channel / 2], channel % 2 ? odd : even);
  }
};

}  // namespace wt
