// SPDX-License-Identifier: Apache-2.0
// kernels/four_wave/device/chunk.h - an operand's k-block on its way: buffer descriptor -> registers -> shared memory,
// or without the registers (four_wave_layout::copies).
//
// A thread owns one 16-byte chunk of every kRowStep-th row. What lies outside the tensor, or beyond the last number
// that is summed over, is zero in both operands: nothing that exists is multiplied by padding of the other operand's k.
#pragma once

#include "kernels/four_wave/device/layout.h"
#include "kernels/wavelet/device/words.h"
#include "target/cdna.h"

namespace wt {

// A part of a tensor that a block reads, at most 2^31 bytes: offsets count from `shift` on.
struct BufferWindow {
  device::BufferView view;
  u32 shift;

  WT_DEVICE static BufferWindow make(const char* from, i64 bytes) {
    constexpr i64 kMost = i64{1} << 31;
    // WHY: descriptors want an aligned base, and a group's or an image's first number can lie anywhere.
    const u32 shift = static_cast<u32>(reinterpret_cast<u64>(from)) & 15;
    const i64 all = bytes + shift;
    return {device::buffer_view(from - shift, static_cast<u32>(all < kMost ? all : kMost)), shift};
  }
};

template <KernelConfig kConfig, int kTileRows>
struct Chunks {
  static constexpr int kSpan = four_wave_layout::span(kConfig);
  static constexpr int kAbreast = kSpan / four_wave_layout::kChunkBytes;
  static constexpr int kRowStep = four_wave_layout::kThreads / kAbreast;
  static constexpr int kRows = kTileRows / kRowStep;
  static constexpr int kVector = kConfig.gemm.vector_a;
  static constexpr int kVectorBytes = kVector * size_of(operand_a(kConfig));
  static constexpr int kVectors = four_wave_layout::kChunkBytes / kVectorBytes;
  static_assert(kRows * kRowStep == kTileRows, "threads must cover the tile's rows");
  static_assert(kRowStep * kSpan % 1024 == 0, "a thread's rows share their place in the swizzle");

  static constexpr bool kCopies = four_wave_layout::copies(kConfig);

  u32 word[kRows][4];
  SharedAddress own;  // kCopies: where this wave's chunks of the next fetch go

  WT_DEVICE static int first_row() { return device::thread_index() / kAbreast; }
  // WHY swizzled: copies fill shared memory in the order of lanes, so that a lane loads what belongs there.
  WT_DEVICE static int first_number() {
    const u32 at = static_cast<u32>(device::thread_index() * four_wave_layout::kChunkBytes);
    return static_cast<int>((kCopies ? swizzled<kSpan>(at) : at) % kSpan) / size_of(operand_a(kConfig));
  }
  WT_DEVICE void aim(SharedAddress tile) {
    own = tile + static_cast<u32>(device::warp_index() * device::kWarpSize * four_wave_layout::kChunkBytes);
  }

  WT_DEVICE void clear() {
    if constexpr (kVectorBytes < 4) {
      WT_UNROLL for (int i = 0; i < kRows; ++i) { WT_UNROLL for (int w = 0; w < 4; ++w) word[i][w] = 0; }
    }
  }

  // The index-th vector of row i.
  WT_DEVICE void load(int i, int index, const BufferWindow& window, u32 offset) {
    if constexpr (kCopies) {
      device::copy_buffer(window.view, offset, own + static_cast<u32>(i * kRowStep * kSpan));
      return;
    }
    using Raw = typename RawOf<kVectorBytes>::Type;
    const Raw raw = device::load_buffer<Raw>(window.view, offset);
    if constexpr (kVectorBytes >= 4) {
      const auto words = __builtin_bit_cast(Vector<u32, kVectorBytes / 4>, raw);
      WT_UNROLL for (int w = 0; w < kVectorBytes / 4; ++w) word[i][index * (kVectorBytes / 4) + w] = words.at[w];
    } else {
      word[i][index * kVectorBytes / 4] |= static_cast<u32>(raw) << 8 * (index * kVectorBytes % 4);
    }
  }

  WT_DEVICE void store(SharedAddress tile) const {
    const u32 place = swizzled<kSpan>(static_cast<u32>(device::thread_index() * four_wave_layout::kChunkBytes));
    WT_UNROLL for (int i = 0; i < kRows; ++i) {
      Vector<u32, 4> chunk;
      WT_UNROLL for (int w = 0; w < 4; ++w) chunk.at[w] = as_operand(word[i][w]);
      device::store_shared(tile + place + static_cast<u32>(i * kRowStep * kSpan), chunk);
    }
  }

 private:
  // WHY: gfx942 multiplies FNUZ numbers. Halves of e4m3 numbers are exact there; the output is multiplied by four.
  WT_DEVICE static u32 as_operand(u32 four) {
    if constexpr (four_wave_layout::converts(kConfig)) return number::halved_to_fnuz(four);
    return four;
  }
};

}  // namespace wt
