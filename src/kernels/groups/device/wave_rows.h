// SPDX-License-Identifier: Apache-2.0
// kernels/groups/device/wave_rows.h - rows of a block's channels on AMD: through registers into one of two stages.
//
//   global --16 bytes a lane--> registers, while the step before is multiplied --> stage (LDS)
//
// rows.h says where a thread's chunks lie, and writes the staged output rows.
#pragma once

#include "kernels/groups/device/rows.h"

namespace wt {

template <KernelConfig kConfig>
struct WaveRows : GroupRows<kConfig> {
  using Base = GroupRows<kConfig>;
  using Element = typename Base::Element;
  using Chunk = Vector<u32, 4>;

  // A thread's chunks of one row on their way; zeros where there is no pixel.
  template <int kCount>
  struct Row {
    Chunk at[kCount];

    WT_DEVICE void fetch(const DirectImage& image, const void* data, i32 row, const u32 (&offset)[kCount], u32 pixels) {
      const bool exists = row >= 0 && row < image.size[1];
      const auto* from = static_cast<const Element*>(data) + (exists ? row * image.spatial[1] : 0);
      WT_UNROLL for (int i = 0; i < kCount; ++i) {
        at[i] = Chunk{{0, 0, 0, 0}};
        if (exists && (pixels >> (i + 4) & 1))
          at[i] = device::load_global(reinterpret_cast<const Chunk*>(from + offset[i]));
      }
    }
    template <int kCols>
    WT_DEVICE void put(SharedAddress to, u32 places) const {
      WT_UNROLL for (int i = 0; i < kCount; ++i) {
        if (places >> (i + 4) & 1) device::store_shared(to + i * Base::template kStep<kCols>, at[i]);
      }
    }
  };

  // The rows of a step; backward weight has one of dy beside those of x.
  static constexpr bool kWeight = kConfig.direction == Direction::kBackwardWeight;
  Row<Base::kReads> held[Base::kInRows];
  Row<Base::kWrites> held_out;
  bool has_out;

  WT_DEVICE void fetch(const GroupsArguments& p, i32 step) {
    WT_UNROLL for (int i = 0; i < Base::kInRows; ++i) {
      held[i].fetch(p.from, p.first, step * Base::kInRows + i + p.in_row, this->source, this->in_pixels);
    }
  }
  WT_DEVICE void fetch_out(const GroupsArguments& p, i32 row, bool exists) {
    has_out = exists;
    if (exists) held_out.fetch(p.to, p.second, row, this->target, this->out_pixels);
  }

  // What was fetched, into the stage at `to`, whose rows are `bytes` apart.
  WT_DEVICE void put(SharedAddress to, u32 bytes) const {
    const SharedAddress in = to + Base::template place<Base::kInCols>(this->pixel, this->chunk);
    WT_UNROLL for (int i = 0; i < Base::kInRows; ++i) {
      held[i].template put<Base::kInCols>(in + i * bytes, this->in_places);
    }
    if constexpr (kWeight) {
      const SharedAddress out = to + Base::kInRows * bytes + Base::template place<1>(this->pixel, this->chunk);
      if (has_out) held_out.template put<1>(out, this->out_places);
    }
  }
};

// What a lane holds of 16 channels or positions along k, as many as the instruction gives it. WHY words: numbers of 16
// bits would take a register each, and be put together for every product.
template <class Mma>
struct WaveFragment {
  using Element = typename Mma::Operand;
  static constexpr int kCount = Mma::kA;
  static constexpr int kPiece = kCount < 8 ? kCount : 8;  // numbers of one access
  using Piece = Vector<u32, kPiece / 2>;
  static_assert(Mma::kA == Mma::kB && Mma::kRun == kCount && sizeof(Element) == 2);

  u32 word[kCount / 2];

  // The lane's first of the 16.
  WT_DEVICE static int first() { return Mma::a_k(device::lane_index(), 0); }

  // Neighbours in memory, of the 16 that begin at the address.
  WT_DEVICE void read(SharedAddress from) {
    WT_UNROLL for (int i = 0; i < kCount; i += kPiece) set(i, device::load_shared<Piece>(from + 2 * (first() + i)));
  }
  WT_DEVICE void read(const Element* from) {
    WT_UNROLL for (int i = 0; i < kCount; i += kPiece) {
      set(i, device::load_global(reinterpret_cast<const Piece*>(from + first() + i)));
    }
  }
  // One by one, as `number` has them.
  template <class Number>
  WT_DEVICE void gather(Number number) {
    WT_UNROLL for (int i = 0; i < kCount / 2; ++i) {
      word[i] = static_cast<u32>(number(2 * i).bits) | static_cast<u32>(number(2 * i + 1).bits) << 16;
    }
  }
  WT_DEVICE void clear() { WT_UNROLL for (int i = 0; i < kCount / 2; ++i) word[i] = 0; }

  WT_DEVICE static void multiply(float (&sum)[Mma::kC], const WaveFragment& rows, const WaveFragment& columns) {
    Element a[kCount], b[kCount];
    __builtin_memcpy(a, rows.word, sizeof a);
    __builtin_memcpy(b, columns.word, sizeof b);
    Mma::multiply(sum, a, b);
  }

 private:
  WT_DEVICE void set(int first_number, const Piece& piece) {
    WT_UNROLL for (int i = 0; i < kPiece / 2; ++i) word[first_number / 2 + i] = piece.at[i];
  }
};

}  // namespace wt
