// SPDX-License-Identifier: Apache-2.0
// kernels/portable/device/fragment.h - an operand's fragments as a warp reads them from swizzled shared memory.
//
// A slice is as many matrix steps of k as one 16-byte access serves: sums may take k in any order that A and B share,
// so a lane of MFMA reads 16 bytes of its row and gives each step its part.
#pragma once

#include "kernels/device/gemm/tile.h"
#include "kernels/portable/device/layout.h"
#include "kernels/wavelet/device/words.h"

namespace wt {

// Elements e, e+1, .. of a lane that are neighbours along k in one row, as many as 16 bytes hold.
template <class Mma, bool kOfA>
constexpr int neighbours() {
  constexpr int kAll = kOfA ? Mma::kA : Mma::kB;
  int run = 16 / static_cast<int>(sizeof(typename Mma::Operand));
  for (; run > 1; run /= 2) {
    bool holds = kAll % run == 0;
    for (int lane = 0; lane < 64 && holds; ++lane) {
      for (int e = 0; e < kAll && holds; ++e) {
        const int first = e / run * run;
        const int k = kOfA ? Mma::a_k(lane, e) : Mma::b_k(lane, e);
        const int k0 = kOfA ? Mma::a_k(lane, first) : Mma::b_k(lane, first);
        const bool same =
            kOfA ? Mma::a_row(lane, e) == Mma::a_row(lane, first) : Mma::b_col(lane, e) == Mma::b_col(lane, first);
        holds = same && k == k0 + (e - first) && k0 % run == 0;
      }
    }
    if (holds) break;
  }
  return run;
}

// What a config's fragments have in common.
template <KernelConfig kConfig>
struct Slicing {
  using Mma = MmaOf<kConfig>;
  using Element = typename Mma::Operand;
  static constexpr int kBytes = sizeof(Element);
  // A lane of MFMA holds one run of a row; several steps make 16 bytes.
  static constexpr bool kOneRun = Mma::kA == Mma::kRun && Mma::kB == Mma::kRun && Mma::kRun * kBytes < 16;
  static constexpr int kWanted = kOneRun ? 16 / (Mma::kRun * kBytes) : 1;
  static constexpr int kShare = kConfig.gemm.tile.k / kConfig.gemm.warps.k;  // of k that a warp multiplies
  static constexpr int kSteps = kShare % (kWanted * kConfig.gemm.mma.k) == 0 ? kWanted : 1;
  static constexpr int kDepth = kSteps * kConfig.gemm.mma.k;  // of a slice
  static constexpr int kSlices = kConfig.gemm.tile.k / kDepth;
  static_assert(kSlices * kDepth == kConfig.gemm.tile.k, "matrix instructions must cover tile.k");
  // Every lane multiplies on its own (target/fma_tile.h): its fragments are rows and columns of all k.
  static constexpr bool kInLanes = Mma::kA * Mma::kB / kConfig.gemm.mma.k == Mma::kC * kConfig.gemm.mma.k;
  static constexpr bool kMatrixLoads = device::kMatrixLoads && kBytes == 2;

  // Where in a slice the k-th number of the step-th instruction lies.
  static constexpr int k_of(int k, int step) {
    return k / Mma::kRun * (Mma::kRun * kSteps) + step * Mma::kRun + k % Mma::kRun;
  }
};

// Where row r of a warp's i-th fragment lies among the warp's rows. kPaired: two fragments share their rows in turns,
// so that one access of neighbouring columns serves both (AcrossReader).
template <bool kPaired, int kEach>
constexpr int fragment_row(int i, int r) {
  return kPaired ? i / 2 * (2 * kEach) + 2 * r + i % 2 : i * kEach + r;
}

// Rows of kExtent along k. kOfA: fragments of A, else of B; kTiles of them, `kEach` rows apart.
template <KernelConfig kConfig, bool kOfA, int kExtent, int kTiles>
struct AlongReader {
  using Slices = Slicing<kConfig>;
  using Mma = typename Slices::Mma;
  using Element = typename Slices::Element;
  static constexpr int kSpan = portable_layout::along_span(kConfig), kBytes = Slices::kBytes;
  static constexpr int kEach = kOfA ? kConfig.gemm.mma.m : kConfig.gemm.mma.n;
  static constexpr int kHeld = kOfA ? Mma::kA : Mma::kB;
  static constexpr bool kPaired = false;
  // Without ldmatrix: a lane's neighbours along k of one step, accesses of a fragment and of a slice. Several steps'
  // parts of a row follow each other.
  static constexpr int kRun = Slices::kSteps > 1 ? kHeld : neighbours<Mma, kOfA>(), kRuns = kHeld / kRun;
  static constexpr int kReads = kTiles * kRuns;
  using Raw = typename RawOf<kRun * Slices::kSteps * kBytes>::Type;

  int first;  // row of the warp

  WT_DEVICE static int row_of(int lane, int e) { return kOfA ? Mma::a_row(lane, e) : Mma::b_col(lane, e); }
  WT_DEVICE static int k_of(int lane, int e) { return kOfA ? Mma::a_k(lane, e) : Mma::b_k(lane, e); }
  WT_DEVICE static SharedAddress address(SharedAddress tile, int row, int k) {
    return tile + swizzled<kSpan>(static_cast<u32>(row * kSpan + k * kBytes));
  }
  // Row `in` of the i-th fragment. WHY apart on AMD: fragments begin at whole repeats of the swizzle, so that lanes
  // work out one place and the rest is an instruction's offset.
  WT_DEVICE SharedAddress address_in(SharedAddress tile, int i, int in, int k) const {
    if constexpr (is_amd(kConfig.target)) {
      return address(tile, in, k) + static_cast<u32>((first + i * kEach) * kSpan);
    }
    return address(tile, first + i * kEach + in, k);
  }

  // fragment[tile][step][element] of the slice.
  WT_DEVICE void read(SharedAddress tile, int slice, Element (&fragment)[kTiles][Slices::kSteps][kHeld]) const {
    if constexpr (Slices::kMatrixLoads) {
      read_matrices(tile, slice, fragment);
    } else {
      Raw raw[kReads];
      load(tile, slice, raw);
      unpack(raw, fragment);
    }
  }
  // The same in two steps: the accesses, and what is made of them.
  WT_DEVICE void load(SharedAddress tile, int slice, Raw (&raw)[kReads]) const {
    const int lane = device::lane_index();
    WT_UNROLL for (int at = 0; at < kReads; ++at) {
      const int i = at / kRuns, e = at % kRuns * kRun;
      const int k = slice * Slices::kDepth + k_of(lane, e) * Slices::kSteps;
      raw[at] = device::load_shared<Raw>(address_in(tile, i, row_of(lane, e), k));
    }
  }
  WT_DEVICE static void unpack(const Raw (&raw)[kReads], Element (&fragment)[kTiles][Slices::kSteps][kHeld]) {
    WT_UNROLL for (int at = 0; at < kReads; ++at) {
      const int i = at / kRuns, first = at % kRuns * kRun;
      const auto run = __builtin_bit_cast(Vector<Element, kRun * Slices::kSteps>, raw[at]);
      WT_UNROLL for (int step = 0; step < Slices::kSteps; ++step) {
        WT_UNROLL for (int j = 0; j < kRun; ++j) fragment[i][step][first + j] = run.at[step * kRun + j];
      }
    }
  }

 private:
  // ldmatrix: four 8x8 matrices at once, which are one fragment of A (16 rows, 16 of k) or two of B (8 rows each).
  WT_DEVICE void read_matrices(SharedAddress tile, int slice, Element (&fragment)[kTiles][1][kHeld]) const {
    const int lane = device::lane_index();
    const int row = first + lane % 8 + (kOfA ? lane / 8 % 2 * 8 : lane / 16 * 8);
    const int k = slice * Slices::kDepth + (kOfA ? lane / 16 * 8 : lane / 8 % 2 * 8);
    load_fragments<false, kOfA>(fragment, [&](int i) { return address(tile, row + i * kEach, k); });
  }
};

// kTiles fragments of A, one ldmatrix each, or of B, one for two. `address` takes the first tile that is loaded.
template <bool kTransposed, bool kOfA, class Element, int kTiles, int kHeld, class Address>
WT_DEVICE void load_fragments(Element (&fragment)[kTiles][1][kHeld], Address&& address) {
  constexpr int kAtOnce = kOfA ? 1 : 2;
  static_assert(kHeld * kAtOnce == 8 && kTiles % kAtOnce == 0);
  WT_UNROLL for (int i = 0; i < kTiles; i += kAtOnce) {
    u32 words[4];
    device::load_matrix<kTransposed>(words, address(i));
    WT_UNROLL for (int w = 0; w < 4; ++w) {
      const auto two = __builtin_bit_cast(Vector<Element, 2>, words[w]);
      WT_UNROLL for (int j = 0; j < 2; ++j) fragment[i + w * 2 / kHeld][0][w * 2 % kHeld + j] = two.at[j];
    }
  }
}

// Columns of kExtent across k: a row of k after the other, blocks of up to 128 bytes.
template <KernelConfig kConfig, bool kOfA, int kExtent, int kTiles>
struct AcrossReader {
  using Slices = Slicing<kConfig>;
  using Mma = typename Slices::Mma;
  using Element = typename Slices::Element;
  static constexpr int kSpan = portable_layout::across_span(kConfig, kExtent), kBytes = Slices::kBytes;
  static constexpr int kEach = kOfA ? kConfig.gemm.mma.m : kConfig.gemm.mma.n;
  static constexpr int kHeld = kOfA ? Mma::kA : Mma::kB;
  // Without ldmatrix, 16-bit elements are read by twos.
  static constexpr bool kPaired = !Slices::kMatrixLoads && kBytes == 2 && kTiles % 2 == 0;
  static constexpr int kWidth = kPaired ? 2 : 1;
  static constexpr int kReads = kTiles / kWidth * Slices::kSteps * kHeld;  // accesses of a slice
  using Raw = typename RawOf<kWidth * kBytes>::Type;

  int first;  // column of the warp

  WT_DEVICE static SharedAddress address(SharedAddress tile, int column, int k) {
    const u32 byte = static_cast<u32>(column * kBytes);
    return tile + byte / kSpan * (kConfig.gemm.tile.k * kSpan) +
           swizzled<kSpan>(static_cast<u32>(k * kSpan) + byte % kSpan);
  }
  // The same of row `row` of the i-th fragment, k of a slice. On AMD apart as above, where slices begin at whole
  // repeats of the swizzle and all lanes' columns lie in one block.
  WT_DEVICE SharedAddress address_in(SharedAddress tile, int i, int row, int slice, int k) const {
    if constexpr (is_amd(kConfig.target) && Slices::kDepth % 8 == 0 && kSpan % (kWidth * kEach * kBytes) == 0) {
      const u32 before = static_cast<u32>((first + i * kEach) * kBytes);
      const u32 blocks = before / kSpan * (kConfig.gemm.tile.k * kSpan);
      return tile + blocks + static_cast<u32>(slice * Slices::kDepth * kSpan) +
             swizzled<kSpan>(static_cast<u32>(k * kSpan) + before % kSpan + static_cast<u32>(row * kWidth * kBytes));
    }
    return address(tile, first + fragment_row<kPaired, kEach>(i, row), slice * Slices::kDepth + k);
  }

  WT_DEVICE void read(SharedAddress tile, int slice, Element (&fragment)[kTiles][Slices::kSteps][kHeld]) const {
    if constexpr (Slices::kMatrixLoads) {
      const int lane = device::lane_index();
      const int column = first + (kOfA ? lane / 8 % 2 * 8 : lane / 16 * 8);
      const int k = slice * Slices::kDepth + lane % 8 + (kOfA ? lane / 16 * 8 : lane / 8 % 2 * 8);
      load_fragments<true, kOfA>(fragment, [&](int i) { return address(tile, column + i * kEach, k); });
    } else {
      Raw raw[kReads];
      load(tile, slice, raw);
      unpack(raw, fragment);
    }
  }
  WT_DEVICE void load(SharedAddress tile, int slice, Raw (&raw)[kReads]) const {
    const int lane = device::lane_index();
    WT_UNROLL for (int at = 0; at < kReads; ++at) {
      const int i = at / (Slices::kSteps * kHeld) * kWidth, step = at / kHeld % Slices::kSteps, e = at % kHeld;
      const int row = kOfA ? Mma::a_row(lane, e) : Mma::b_col(lane, e);
      const int k = Slices::k_of(kOfA ? Mma::a_k(lane, e) : Mma::b_k(lane, e), step);
      raw[at] = device::load_shared<Raw>(address_in(tile, i, row, slice, k));
    }
  }
  WT_DEVICE static void unpack(const Raw (&raw)[kReads], Element (&fragment)[kTiles][Slices::kSteps][kHeld]) {
    WT_UNROLL for (int at = 0; at < kReads; ++at) {
      const int i = at / (Slices::kSteps * kHeld) * kWidth, step = at / kHeld % Slices::kSteps, e = at % kHeld;
      const auto columns = __builtin_bit_cast(Vector<Element, kWidth>, raw[at]);
      WT_UNROLL for (int j = 0; j < kWidth; ++j) fragment[i + j][step][e] = columns.at[j];
    }
  }
};

template <bool kAcross, KernelConfig kConfig, bool kOfA, int kExtent, int kTiles>
struct ReaderOf {
  using Type = AlongReader<kConfig, kOfA, kExtent, kTiles>;
};
template <KernelConfig kConfig, bool kOfA, int kExtent, int kTiles>
struct ReaderOf<true, kConfig, kOfA, kExtent, kTiles> {
  using Type = AcrossReader<kConfig, kOfA, kExtent, kTiles>;
};

}  // namespace wt
