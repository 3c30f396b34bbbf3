// SPDX-License-Identifier: Apache-2.0
// kernels/wavelet/device/words.h - 16 bytes on their way from global memory through registers to swizzled shared
// memory.
//
// For every target: the portable pipelines load by the same words.
#pragma once

#include "kernels/device/raw.h"

namespace wt {

// Byte `offset` of a tile whose rows are `kSpan` bytes long, with the swizzle of that span.
template <int kSpan>
WT_DEVICE u32 swizzled(u32 offset) {
  static_assert(kSpan == 128 || kSpan == 64 || kSpan == 32);
  return offset ^ (offset >> 3 & (kSpan - 16));
}

// A chunk on its way through registers; parts of kBytes at compile-time places.
struct ChunkWords {
  u32 word[4];

  WT_DEVICE void clear() { WT_UNROLL for (int i = 0; i < 4; ++i) word[i] = 0; }

  // The index-th part of kBytes: what is at `from`, or zeros.
  template <int kBytes>
  WT_DEVICE void load(int index, const void* from, bool inside) {
    using Raw = typename RawOf<kBytes>::Type;
    Raw raw{};
    if (inside) raw = device::load_global(static_cast<const Raw*>(from));
    put<kBytes>(index, raw);
  }
  template <int kBytes>
  WT_DEVICE void put(int index, const typename RawOf<kBytes>::Type& raw) {
    if constexpr (kBytes >= 4) {
      const auto words = __builtin_bit_cast(Vector<u32, kBytes / 4>, raw);
      WT_UNROLL for (int i = 0; i < kBytes / 4; ++i) word[index * (kBytes / 4) + i] = words.at[i];
    } else {
      word[index * kBytes / 4] |= static_cast<u32>(raw) << 8 * (index * kBytes % 4);
    }
  }

  WT_DEVICE void mask(const u32 (&keep)[4]) { WT_UNROLL for (int i = 0; i < 4; ++i) word[i] &= keep[i]; }

  // WHY: wgmma reads the upper 19 bits of a tf32, so that what is not rounded is cut off.
  template <DataType kType>
  WT_DEVICE void round() {
    if constexpr (kType == DataType::kTf32) {
      WT_UNROLL for (int i = 0; i < 4; ++i) {
        word[i] = number::bits_of(device::round_tf32(number::float_of(word[i])));
      }
    }
  }

  WT_DEVICE void store(SharedAddress to) const {
    device::store_shared(to, Vector<u32, 4>{{word[0], word[1], word[2], word[3]}});
  }
};

}  // namespace wt
