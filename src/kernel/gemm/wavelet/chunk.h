// SPDX-License-Identifier: Apache-2.0
// kernel/gemm/wavelet/chunk.h - how a load thread fills 16 bytes of shared memory from vectors in global memory.
//
//   asynchronous: global --cp.async--> shared           through registers: global -> words -> shared
//
// Swizzled addresses are those that TMA would write and wgmma reads.
#pragma once

#include "kernel/gemm/wavelet/layout.h"
#include "target/hopper.h"

namespace wt {

// Byte `offset` of a tile whose rows are `kSpan` bytes long, with the swizzle of that span.
template <int kSpan>
WT_DEVICE u32 swizzled(u32 offset) {
  static_assert(kSpan == 128 || kSpan == 64 || kSpan == 32);
  return offset ^ (offset >> 3 & (kSpan - 16));
}

// kBytes as one load.
template <int kBytes>
struct RawOf;
template <>
struct RawOf<1> {
  using Type = u8;
};
template <>
struct RawOf<2> {
  using Type = u16;
};
template <>
struct RawOf<4> {
  using Type = u32;
};
template <>
struct RawOf<8> {
  using Type = Vector<u32, 2>;
};
template <>
struct RawOf<16> {
  using Type = Vector<u32, 4>;
};

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

// Whether an operand with this loader lands by itself, and the arrivals a load thread makes when it has filled a slot.
constexpr bool lands_by_itself(Loader loader) { return loader == Loader::kAsync; }
constexpr int arrivals_of_thread(const KernelConfig& config) {
  const bool a = lands_by_itself(config.gemm.loader_a), b = lands_by_itself(config.gemm.loader_b);
  return a == b ? 1 : 2;
}

// WHY two arrivals where the loaders differ: the asynchronous one waits for copies only, and the plain one publishes
// stores only.
template <KernelConfig kConfig>
WT_DEVICE void publish(SharedAddress full) {
  constexpr bool kA = lands_by_itself(kConfig.gemm.loader_a), kB = lands_by_itself(kConfig.gemm.loader_b);
  if constexpr (kA || kB) device::copy_async_arrive(full);
  if constexpr (!kA || !kB) {
    device::fence_async_shared();
    device::mbarrier_arrive(full);
  }
}

}  // namespace wt
