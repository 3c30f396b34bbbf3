// SPDX-License-Identifier: Apache-2.0
// kernels/taps/device/filter.h - the filter of a taps kernel on its way to shared memory.
//
//   global --vectors where channels lie together, else number by number--> registers --> chunks of 16 bytes (shared)
//
// WHY in batches without branches: loads that wait for each other, or stand between branches, take most of a small
// layer's time.
#pragma once

#include "kernels/device/gemm/storage.h"
#include "kernels/taps/device/arguments.h"
#include "target/target.h"

namespace wt {

// Eight channels of a column, from `depth` on.
struct TapsChunk {
  i64 from;  // the column's first channel, in elements
  i32 depth;
  bool exists;
  SharedAddress to;
};

// `kVectors`: a chunk's channels lie together. `kBatch` chunks of a thread are on their way at a time.
template <class Element, int kThreads, bool kVectors, int kBatch, class Place>
WT_DEVICE void load_taps_chunks(const TapsArguments& p, int chunks, const Place& place) {
  constexpr int kWidth = 16 / sizeof(Element);
  using Part = Vector<Element, kWidth>;
  const auto* filter = static_cast<const Element*>(p.filter);
  for (int first = device::thread_index(); first < chunks; first += kBatch * kThreads) {
    const auto at = [&](int i) { return place(first + i * kThreads < chunks ? first + i * kThreads : first); };
    Part part[kBatch];
    WT_UNROLL for (int i = 0; i < kBatch; ++i) {
      const TapsChunk chunk = at(i);
      if constexpr (kVectors) {
        const bool inside = chunk.exists && chunk.depth < p.depth;
        part[i] = device::load_global(reinterpret_cast<const Part*>(filter + (inside ? chunk.from + chunk.depth : 0)));
      } else {
        WT_UNROLL for (int e = 0; e < kWidth; ++e) {
          const bool inside = chunk.exists && chunk.depth + e < p.depth;
          part[i].at[e] = device::load_global(filter + (inside ? chunk.from + (chunk.depth + e) * p.filter_depth : 0));
        }
      }
    }
    WT_UNROLL for (int i = 0; i < kBatch; ++i) {
      const TapsChunk chunk = at(i);
      WT_UNROLL for (int e = 0; e < kWidth; ++e) {
        if (!chunk.exists || chunk.depth + e >= p.depth) part[i].at[e] = Element{};
      }
      if (first + i * kThreads < chunks) device::store_shared(chunk.to, part[i]);
    }
  }
}

// `place(index)` is the index-th of `chunks`; those behind the first `loaded` ones hold zeros alone.
template <class Element, int kThreads, class Place>
WT_DEVICE void load_taps_filter(const TapsArguments& p, int chunks, int loaded, const Place& place) {
  constexpr int kWidth = 16 / sizeof(Element), kFew = 2;
  if (p.filter_depth == 1 && p.depth % kWidth == 0) {
    load_taps_chunks<Element, kThreads, true, 4>(p, loaded, place);
  } else if (loaded > kFew * kThreads) {
    load_taps_chunks<Element, kThreads, false, 4>(p, loaded, place);
  } else if (loaded > kThreads) {  // WHY: the chunks that fill a batch are loaded for nothing
    load_taps_chunks<Element, kThreads, false, kFew>(p, loaded, place);
  } else {
    load_taps_chunks<Element, kThreads, false, 1>(p, loaded, place);
  }
  for (int index = loaded + device::thread_index(); index < chunks; index += kThreads)
    device::store_shared(place(index).to, Vector<Element, kWidth>{});
}

}  // namespace wt
