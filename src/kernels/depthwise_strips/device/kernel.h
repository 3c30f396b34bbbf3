// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_strips/device/kernel.h - depthwise forward and backward data of any filter, stride, dilation and
// multiplier on matrix instructions.
//
//   tile of x or dy --cp.async--> lines (shared) --fragments--> mma with the rows of the filter --> staged rows --> y,
//   dx
//
// A block keeps its channels' weights and takes tile after tile. All sizes are run-time values: only the rows of a band
// and the width of copies are compiled in.
// WHY finite_only: B's zeros are multiplied too, and 0 x infinity reaches the other outputs of a strip.
#pragma once

#include "kernels/depthwise_strips/device/product.h"
#include "kernels/device/direct/channels.h"
#include "kernels/device/epilogue.h"
#include "kernels/device/gemm/storage.h"

namespace wt {

template <KernelConfig kConfig>
struct DepthwiseStrips {
  using Params = StripsArguments;
  static constexpr int kThreads = kConfig.direct.block_size;
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    Block block = Block::make(p);
    WT_UNROLL for (int i = 0; i < kBuffers; ++i) block.copy_next(p, i);
    Taps::make_table(p, Block::table());
    Taps::stage(p, block.channel, Block::weights(p));
    Block::clear_zeros(p);

    Steps steps;
    int buffer = 0;
    for (i32 tile = block.tile - kBuffers * p.workers; tile < p.tiles; tile += p.workers) {
      const StripsTile at = StripsTile::make(p, tile);
      Block::enter(p, at);
      device::copy_async_wait<kBuffers - 1>();
      device::sync_block();
      multiply(p, block, Block::buffer(p, buffer), steps);
      // WHY no barrier first: each round of `multiply` ends with one.
      block.copy_next(p, buffer);
      buffer = buffer + 1 == kBuffers ? 0 : buffer + 1;
    }
    steps.finish(p.epilogue);
  }

 private:
  using Element = Storage<kConfig.x>;
  using Block = StripsBlock<kConfig>;
  using Product = StripsProduct<kConfig>;
  using Taps = StripsTaps<kConfig>;
  using Mma = typename Product::Mma;
  using Steps = Epilogue<kConfig.epilogue, output_type(kConfig)>;
  static constexpr int kBuffers = kConfig.direct.prefetch, kRows = Product::kRows, kChannels = Product::kChannels;
  static constexpr int kMatrices = strips::matrices(kConfig), kChannelWarps = strips::channel_warps(kConfig);
  static constexpr int kPixels = strips::kRows * strips::kColumns;  // of a matrix's row
  static constexpr bool kForward = kConfig.direction == Direction::kForward;
  static constexpr int kFold = Product::kFold, kOut = Product::kOut;
  static constexpr bool kScatters = kForward && !strips::single(kConfig);  // channels of y that a warp has lie apart
  static constexpr bool kOnce = !kScatters && !strips::reads_apart(kConfig);
  using Packed = u32[(kOut + 1) / 2];

  // Channels of the output that a block has, and all that there are.
  WT_DEVICE static i32 out_channels(const Params& p) {
    return strips::channels(kConfig) / kFold * (kScatters ? p.multiplier : 1);
  }
  WT_DEVICE static i32 all_channels(const Params& p) { return p.channels / kFold * (kScatters ? p.multiplier : 1); }
  WT_DEVICE static i32 first_channel(const Params& p, const Block& block) {
    return block.channel / kFold * (kScatters ? p.multiplier : 1);
  }

  // The tile's matrices, some at a time: each to its own warps, then all together to global memory.
  WT_DEVICE static void multiply(const Params& p, const Block& block, SharedAddress tile, Steps& steps) {
    const i32 warp = device::warp_index(), channel = warp % kChannelWarps * kChannels;
    const i32 mine = warp / kChannelWarps, all = p.classes * p.class_tiles;
    for (i32 first = 0; first < all; first += kMatrices) {
      const i32 matrix = first + mine;
      if (matrix < all) {
        const auto lane = Product::Lane::make(p, tile, matrix, channel);
        const i32 of_class = matrix / p.class_tiles;
        typename Product::Sums sum;
        Product::clear(sum);
        if constexpr (kOnce) {
          Product::add(p, lane, of_class, 0, sum);
          stage(p, block, matrix, mine, channel, 0, sum, steps);
        } else {
          for (i32 multiple = 0; multiple < p.multiplier; ++multiple) {
            Product::add(p, lane, of_class, multiple, sum);
            if constexpr (!kScatters) continue;
            stage(p, block, matrix, mine, channel, multiple, sum, steps);
            Product::clear(sum);
          }
          if constexpr (!kScatters) stage(p, block, matrix, mine, channel, 0, sum, steps);
        }
      }
      device::sync_block();
      write(p, block, first, all);
      device::sync_block();
    }
  }

  // Where a channel of pixel `pixel` of row `row` of a matrix is staged.
  WT_DEVICE static SharedAddress staged_at(const Params& p, SharedAddress staged, i32 row, i32 pixel, i32 channel) {
    const SharedAddress at = staged + static_cast<u32>(row * kPixels * out_channels(p) * 2);
    if constexpr (kScatters) {
      // WHY turned: a warp's pixels, whose channels are stored one by one, would all meet in one bank.
      const i32 units = out_channels(p) / 8, turn = ((pixel >> 3) + (pixel >> 6)) & (units >= 8   ? 7
                                                                                     : units >= 4 ? 3
                                                                                                  : 1);
      const i32 unit = channel / 8 + turn;
      return at + static_cast<u32>((pixel * units + (unit >= units ? unit - units : unit)) * 16 + channel % 8 * 2);
    }
    constexpr int kWidth = strips::channels(kConfig) / kFold;
    if constexpr (kWidth % 8 != 0) return at + static_cast<u32>((pixel * kWidth + channel) * 2);
    return at + static_cast<u32>(strips::turned_unit<kWidth / 8>(pixel, channel / 8) * 16 + channel % 8 * 2);
  }

  // A band's sums through the epilogue.
  WT_DEVICE static void stage(const Params& p, const Block& block, i32 matrix, i32 mine, i32 channel, i32 multiple,
                              const typename Product::Sums& sum, Steps& steps) {
    const int t = device::lane_index() % 4;
    // WHY apart: most layers only round, and write without a branch what is not stored.
    const bool rounds = kRounds && p.epilogue.alpha == 1;
    WT_UNROLL for (int i = 0; i < 2; ++i) {
      const i32 index = Product::strip_of(i);
      if (rounds) {
        WT_UNROLL for (int half = 0; half < 2; ++half) {
          const i32 pixel = index * strips::kColumns + t + 4 * half;
          const Staged at = Staged::make(p, mine * kRows, pixel, channel, multiple);
          WT_UNROLL for (int r = 0; r < kRows; ++r) {
            Packed packed;
            WT_UNROLL for (int w = 0; w < (kOut + 1) / 2; ++w) {
              packed[w] = device::from_floats<Element>(sum[r][2 * w][2 * i + half],
                                                       sum[r][kOut > 1 ? 2 * w + 1 : 0][2 * i + half]);
            }
            at.put(p, r, packed);
          }
        }
        continue;
      }
      const StripPlace strip = StripPlace::at(Block::places(p), matrix * strips::kRows + index);
      WT_UNROLL for (int r = 0; r < kRows; ++r) {
        if (r >= strip.rows()) continue;
        WT_UNROLL for (int half = 0; half < 2; ++half) {
          const i32 column = t + 4 * half;
          Packed packed;
          apply(p, block, channel, strip, r, column, multiple, sum[r], 2 * i + half, steps, packed);
          Staged::make(p, mine * kRows, index * strips::kColumns + column, channel, multiple).put(p, r, packed);
        }
      }
    }
  }
  // Where a warp's channels of a pixel are staged, from row `row` of the round on.
  struct Staged {
    SharedAddress at[kScatters ? kOut : 1];

    WT_DEVICE static Staged make(const Params& p, i32 row, i32 pixel, i32 channel, i32 multiple) {
      Staged staged;
      if constexpr (kScatters) {
        WT_UNROLL for (int c = 0; c < kOut; ++c) {
          staged.at[c] = staged_at(p, Block::staged(p), row, pixel, (channel + c) * p.multiplier + multiple);
        }
      } else {
        staged.at[0] = staged_at(p, Block::staged(p), row, pixel, channel / kFold);
      }
      return staged;
    }
    // `further` rows below.
    WT_DEVICE void put(const Params& p, int further, const Packed& packed) const {
      const u32 rows = static_cast<u32>(further * kPixels * out_channels(p) * 2);
      if constexpr (kScatters) {
        WT_UNROLL for (int c = 0; c < kOut; ++c) {
          device::store_shared(at[c] + rows, static_cast<u16>(packed[c / 2] >> (16 * (c % 2))));
        }
      } else if constexpr (kOut == 1) {
        device::store_shared(at[0] + rows, static_cast<u16>(packed[0]));
      } else {
        Vector<u32, kOut / 2> words;
        WT_UNROLL for (int w = 0; w < kOut / 2; ++w) words.at[w] = packed[w];
        device::store_shared(at[0] + rows, words);
      }
    }
  };

  // Steps that look at nothing but the sum; and none at all.
  static constexpr bool kPlain =
      !kConfig.epilogue.scale && !kConfig.epilogue.bias && !kConfig.epilogue.placed() && !kConfig.epilogue.amax;
  static constexpr bool kRounds = kPlain && kConfig.epilogue.activation == Activation::kNone;

  // Output `column` of row `row` of a strip, of the warp that begins with channel `warp_channel` of the block.
  WT_DEVICE static void apply(const Params& p, const Block& block, i32 warp_channel, const StripPlace& strip, int row,
                              i32 column, i32 multiple, const float (&sum)[kOut][Mma::kC], int element, Steps& steps,
                              Packed& packed) {
    const i64 pixel = i64{strip.offset} + row * row_pitch(p) + column * p.to.spatial[2];
    WT_UNROLL for (int c = 0; c < kOut; ++c) {
      const i32 local = warp_channel / kFold + c;
      const i32 channel = first_channel(p, block) + (kScatters ? local * p.multiplier + multiple : local);
      Element value{0};
      // WHY: amax must not see what is not stored, and residual and bias must not be read there.
      if (kPlain || (column < strip.columns() && channel < all_channels(p)))
        value = steps.apply(p.epilogue, sum[c][element], pixel + channel, i64{channel});
      packed[c / 2] = c % 2 == 0 ? value.bits : packed[c / 2] | static_cast<u32>(value.bits) << 16;
    }
  }
  // From one row of a band to the next.
  WT_DEVICE static i64 row_pitch(const Params& p) { return p.classes * p.residues * p.to.spatial[1]; }

  // By all threads: the staged rows of a round. WHY a thread takes a column of all rows: they have one place.
  WT_DEVICE static void write(const Params& p, const Block& block, i32 first, i32 all) {
    constexpr int kVector = kConfig.direct.vector_out;
    using Chunk = Channels<Element, kVector>;
    const i32 chunks = out_channels(p) / kVector, left = all_channels(p) - first_channel(p, block);
    const i32 count = all - first < kMatrices ? all - first : kMatrices;
    auto* out = static_cast<Element*>(p.out) + first_channel(p, block);
    // WHY 32 bits: so many elements the kernel takes at most.
    const u32 next_row = static_cast<u32>(row_pitch(p)), next_column = static_cast<u32>(p.to.spatial[2]);
    const u32 next_staged = static_cast<u32>(kPixels * out_channels(p) * 2);
    for (i32 i = device::thread_index(); i < count * kPixels * chunks; i += kThreads) {
      const i32 channel = i % chunks * kVector, pixel = i / chunks % kPixels, matrix = i / chunks / kPixels;
      const StripPlace strip =
          StripPlace::at(Block::places(p), (first + matrix) * strips::kRows + pixel / strips::kColumns);
      const i32 column = pixel % strips::kColumns;
      if (column >= strip.columns() || channel >= left) continue;
      const i32 rows = strip.rows();
      SharedAddress from = staged_at(p, Block::staged(p), matrix * kRows, pixel, channel);
      u32 to = strip.offset + static_cast<u32>(column) * next_column + static_cast<u32>(channel);
      WT_UNROLL for (int r = 0; r < kRows; ++r) {
        if (r < rows) Chunk::from_shared(from).store(out + to);
        from += next_staged;
        to += next_row;
      }
    }
  }
};

}  // namespace wt
