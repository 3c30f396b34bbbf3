// SPDX-License-Identifier: Apache-2.0
// kernels/tma/device/output_crosswise.h - accumulators whose rows are output channels, on their way to rows of pixels.
//
//   registers --epilogue--> swizzled shared memory, turned round --> bulk stores of consecutive pixels
//   residual --bulk copies--> the same places of shared memory, turned round --> epilogue
//
// 16-bit numbers are turned round 8x8 at a time by matrix stores, 32-bit ones are stored one by one, which meet in no
// bank: a warp's lie in four rows of pixels, two to eight apart, by 8 channels.
#pragma once

#include "kernels/tma/device/output.h"

namespace wt {

// One fragment of a consumer: 64 channels of all pixels of the tile. Accumulator i: channel
// 16 * warp + lane / 4 + 8 * (i / 2 % 2), pixel 8 * (i / 4) + 2 * (lane % 4) + i % 2. Rows are RegionRows.
template <KernelConfig kConfig, class Arguments>
struct TmaOutput<kConfig, Arguments, true> {
  using Steps = Epilogue<kConfig.epilogue, output_type(kConfig)>;
  using Element = typename Steps::Element;
  static constexpr int kPixels = kConfig.gemm.tile.m;
  static constexpr int kBoxes = tma_layout::out_boxes(kConfig), kBoxBytes = kPixels * 128;
  static constexpr int kBoxColumns = tma_layout::out_span(kConfig);
  static constexpr int kFragmentBytes = kBoxes * kBoxBytes;  // staged

  static constexpr bool kCopied = tma_layout::copies_residual(kConfig);
  static constexpr bool kPlaced = tma_layout::placed_steps(kConfig).placed() || kConfig.epilogue.amax;
  static constexpr bool kBounded = kPlaced || kConfig.epilogue.scale || kConfig.epilogue.bias;

  struct Place {
    i64 column;  // first of the fragment, within the group
    i32 group;
  };
  WT_DEVICE static i64 first_channel(const Arguments& p, const Place& place) {
    return static_cast<i64>(place.group) * p.columns + place.column;
  }

  // Writes the fragment into `staging`: rows of 128 bytes for each pixel, 128-byte swizzle; in the place of the
  // residual where that was copied there.
  template <class Rows>
  WT_DEVICE static void stage(const Arguments& p, const Rows& rows, const Place& place, const float (&d)[kPixels / 2],
                              Steps& steps, SharedAddress staging) {
    if constexpr (sizeof(Element) == 4) {
      stage_each(p, rows, place, d, steps, staging);
    } else {
      stage_halves(p, rows, place, d, steps, staging);
    }
  }

  template <class Rows>
  WT_DEVICE static void stage_halves(const Arguments& p, const Rows& rows, const Place& place,
                                     const float (&d)[kPixels / 2], Steps& steps, SharedAddress staging) {
    constexpr EpilogueConfig kSteps = kConfig.epilogue;
    constexpr int kBlocks = kPixels / 8;
    const int thread = device::thread_index() % 128, lane = thread % 32, warp = thread / 32;
    const i32 in_fragment = warp * 16 + lane / 4;
    const i64 channel = first_channel(p, place) + in_fragment, left = p.columns - place.column - in_fragment;
    const ChannelPair<Steps> channels(p.epilogue, channel, left < 64 ? static_cast<i32>(left) : 64, 8);
    // Lane l gives the address of pixel l % 8 of block j + l / 16, channels 8 * (l / 8 % 2) on of the warp's 16.
    const int chunk = (warp * 2 + lane / 8 % 2) ^ (lane % 8);
    const SharedAddress address = staging + (lane / 16 * 8 + lane % 8) * 128 + chunk * 16;
    WT_UNROLL for (int j = 0; j < kBlocks; j += 2) {
      u32 packed[4] = {0, 0, 0, 0};
      if constexpr (kCopied) load_staged<true, (kBlocks % 2 != 0)>(packed, address + j * 8 * 128, j + 1 < kBlocks);
      WT_UNROLL for (int pair = 0; pair < 2 && j + pair < kBlocks; ++pair) {
        const int block = j + pair, pixel = 8 * block + 2 * (lane % 4);
        i64 start[2] = {0, 0};
        if constexpr (kPlaced) {
          WT_UNROLL for (int e = 0; e < 2; ++e) start[e] = rows.offset(pixel + e);
        }
        WT_UNROLL for (int half = 0; half < 2; ++half) {
          if (kPlaced && 8 * half >= left) continue;
          const i64 at = channel + 8 * half;
          const auto residual = __builtin_bit_cast(Vector<Element, 2>, packed[2 * pair + half]);
          Vector<Element, 2> pixels{};
          WT_UNROLL for (int e = 0; e < 2; ++e) {
            if (kPlaced && start[e] < 0) continue;
            const float sum = d[4 * block + 2 * half + e];
            float other = 0;
            if constexpr (kCopied) {
              other = device::to_float(residual.at[e]);
            } else if constexpr (kSteps.residual) {
              other = device::to_float(
                  device::load_global(static_cast<const Element*>(p.epilogue.residual) + start[e] + at));
            }
            pixels.at[e] =
                steps.apply(p.epilogue, sum, channels.scale[half], channels.bias[half], other, start[e] + at);
          }
          packed[2 * pair + half] = __builtin_bit_cast(u32, pixels);
        }
      }
      if (j + 1 < kBlocks) {
        device::store_matrix<true>(address + j * 8 * 128, packed);
      } else {
        device::store_matrix<true>(address + j * 8 * 128, {packed[0], packed[1]});
      }
    }
  }

  // Of 32-bit outputs.
  template <class Rows>
  WT_DEVICE static void stage_each(const Arguments& p, const Rows& rows, const Place& place,
                                   const float (&d)[kPixels / 2], Steps& steps, SharedAddress staging) {
    const int thread = device::thread_index() % 128, lane = thread % 32, warp = thread / 32;
    const i32 in_fragment = warp * 16 + lane / 4;
    const i64 channel = first_channel(p, place) + in_fragment, left = p.columns - place.column - in_fragment;
    const SharedAddress box = staging + in_fragment / kBoxColumns * kBoxBytes;
    WT_UNROLL for (int block = 0; block < kPixels / 8; ++block) {
      WT_UNROLL for (int i = 0; i < 4; ++i) {
        const int half = i / 2, pixel = 8 * block + 2 * (lane % 4) + i % 2;
        const i64 start = kPlaced ? rows.offset(pixel) : 0, at = channel + 8 * half;
        const SharedAddress address = word_place(box, pixel, (in_fragment + 8 * half) % kBoxColumns);
        Element value{};
        if ((kBounded && 8 * half >= left) || (kPlaced && start < 0)) {
          // Zeros, which bulk stores drop.
        } else if constexpr (kCopied) {
          const float residual = device::to_float(device::load_shared<Element>(address));
          value = steps.apply(p.epilogue, d[4 * block + i], Steps::scale_of(p.epilogue, at),
                              Steps::bias_of(p.epilogue, at), residual, start + at);
        } else {
          value = steps.apply(p.epilogue, d[4 * block + i], start + at, at);
        }
        device::store_shared(address, value);
      }
    }
  }

  // Copies the residual of the tile's pixels to where they will be staged; by one thread. `full` gets kResidualBytes.
  static constexpr u32 kResidualBytes = kFragmentBytes;
  WT_DEVICE static void fetch_residual(const Arguments& p, i64 row, const Place& place, SharedAddress staging,
                                       SharedAddress full) {
    const auto channel = static_cast<i32>(first_channel(p, place));
    WT_UNROLL for (int box = 0; box < kBoxes; ++box) {
      device::tma_load(staging + box * kBoxBytes, p.residual, full, channel + kBoxColumns * box, static_cast<i32>(row));
    }
  }

  // Sends the tile's pixels, from row `row` on; by one thread, after the writers' proxy fence and barrier.
  WT_DEVICE static void send(const Arguments& p, i64 row, const Place& place, SharedAddress staging) {
    const auto channel = static_cast<i32>(first_channel(p, place));
    WT_UNROLL for (int box = 0; box < kBoxes; ++box) {
      device::tma_store(p.out, staging + box * kBoxBytes, channel + kBoxColumns * box, static_cast<i32>(row));
    }
    device::bulk_commit();
  }
};

}  // namespace wt
