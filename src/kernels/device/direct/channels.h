// SPDX-License-Identifier: Apache-2.0
// kernels/device/direct/channels.h - neighbouring channels of one pixel: as they lie in memory, and as floats.
//
// WHY words of 32 bits: the compiler joins them into one access of up to 16 bytes, which it does not do for many small
// members.
#pragma once

#include "target/target.h"

namespace wt {

template <bool kFirst, class First, class Second>
struct Choose {
  using Type = First;
};
template <class First, class Second>
struct Choose<false, First, Second> {
  using Type = Second;
};

template <class T, int kCount>
struct Channels {
  static constexpr int kBytes = static_cast<int>(sizeof(T)) * kCount;
  static constexpr int kAccess = kBytes < 16 ? kBytes : 16;  // bytes of one instruction
  using Word = typename Choose<(kBytes < 4), typename Choose<kBytes == 2, u16, u8>::Type, u32>::Type;
  static constexpr int kWords = kAccess / static_cast<int>(sizeof(Word));
  static constexpr int kPieces = kBytes / kAccess;
  static constexpr int kPerWord = static_cast<int>(sizeof(Word) / sizeof(T));
  using Piece = Vector<Word, kWords>;
  static_assert(kBytes == kPieces * kAccess && (kAccess & (kAccess - 1)) == 0, "a power of two of channels");

  Piece piece[kPieces];

  WT_DEVICE static Channels zero() {
    Channels none;
    WT_UNROLL for (int i = 0; i < kPieces; ++i) { WT_UNROLL for (int j = 0; j < kWords; ++j) none.piece[i].at[j] = 0; }
    return none;
  }
  // Zeros where the pixel does not exist.
  WT_DEVICE static Channels load(const T* from, bool exists) {
    Channels loaded = zero();
    if (exists) {
      WT_UNROLL for (int i = 0; i < kPieces; ++i) {
        loaded.piece[i] = device::load_global(reinterpret_cast<const Piece*>(from) + i);
      }
    }
    return loaded;
  }
  WT_DEVICE static Channels from_shared(SharedAddress from) {
    Channels loaded;
    WT_UNROLL for (int i = 0; i < kPieces; ++i) loaded.piece[i] = device::load_shared<Piece>(from + i * kAccess);
    return loaded;
  }
  WT_DEVICE void store(T* to) const {
    WT_UNROLL for (int i = 0; i < kPieces; ++i) device::store_global(reinterpret_cast<Piece*>(to) + i, piece[i]);
  }

  WT_DEVICE T get(int index) const {
    const int word = index / kPerWord;
    const Word bits = piece[word / kWords].at[word % kWords];
    if constexpr (kPerWord == 1) {
      return __builtin_bit_cast(T, bits);
    } else {
      return T{static_cast<decltype(T::bits)>(bits >> (index % kPerWord * 8 * static_cast<int>(sizeof(T))))};
    }
  }
  WT_DEVICE void set(int index, T value) {
    const int word = index / kPerWord;
    Word& bits = piece[word / kWords].at[word % kWords];
    if constexpr (kPerWord == 1) {
      bits = __builtin_bit_cast(Word, value);
    } else {
      bits |= static_cast<Word>(static_cast<Word>(value.bits) << (index % kPerWord * 8 * static_cast<int>(sizeof(T))));
    }
  }
  // Elements index and index + 1 at once, index even, of 16 bits each.
  WT_DEVICE void set_pair(int index, u32 both) {
    const int word = index / kPerWord;
    piece[word / kWords].at[word % kWords] = both;
  }
  WT_DEVICE float value(int index) const { return device::to_float(get(index)); }
};

// kCount weights of neighbouring channels from shared memory.
template <int kCount>
WT_DEVICE void read_weights(SharedAddress at, float (&weights)[kCount]) {
  constexpr int kWidth = kCount < 4 ? kCount : 4;
  WT_UNROLL for (int i = 0; i < kCount; i += kWidth) {
    const auto run = device::load_shared<Vector<float, kWidth>>(at + i * 4);
    WT_UNROLL for (int j = 0; j < kWidth; ++j) weights[i + j] = run.at[j];
  }
}

}  // namespace wt
