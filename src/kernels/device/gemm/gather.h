// SPDX-License-Identifier: Apache-2.0
// kernels/device/gemm/gather.h - the loader that takes every problem: one element at a time, through registers.
//
//   coordinate tables (shared) -> global element or zero -> registers -> tile (shared)
//
// The tables are coordinates.h; the tile's layout is tile.h.
#pragma once

#include "kernels/device/gemm/coordinates.h"
#include "kernels/device/gemm/tile.h"
#include "target/number.h"

namespace wt {

// The storage number as the type the matrix instruction multiplies.
template <DataType kMultiply, class Stored>
WT_DEVICE auto to_operand(Stored value) {
  if constexpr (kMultiply == DataType::kF32) {
    return device::to_float(value);
  } else if constexpr (kMultiply == DataType::kTf32) {
    return device::round_tf32(device::to_float(value));
  } else if constexpr (kSame<Storage<kMultiply>, Stored>) {
    return value;
  } else {
    return device::from_float<Storage<kMultiply>>(device::to_float(value));
  }
}

// kRows x tile.k elements of one operand. kGather: positions can leave the image, and then the element is zero.
template <KernelConfig kConfig, int kRows, DataType kStored, bool kGather, bool kRowFastest>
struct GatherLoader {
  using Map = Coordinates<kConfig.direction>;
  using Tile = OperandTile<kConfig, kRows>;
  using Element = typename Tile::Element;
  static constexpr int kThreads = Tile::kThreads;
  static constexpr int kDepth = kConfig.gemm.tile.k;
  static constexpr int kPerThread = kRows * kDepth / kThreads;
  static_assert(kRows * kDepth % kThreads == 0, "the tile must divide evenly among the threads");

  WT_DEVICE static int row_of(int index) { return kRowFastest ? index % kRows : index / kDepth; }
  WT_DEVICE static int k_of(int index) { return kRowFastest ? index / kRows : index % kDepth; }

  // The operand's k-block into `tile`; numbers with scales are multiplied by them on the way. A few loads are in flight
  // at a time: more would only make the code longer, and this kernel is for what the others decline.
  WT_DEVICE static void copy(const GemmArguments& p, const void* tensor, const u8* scales, SharedAddress rows,
                             SharedAddress ks, Tile tile) {
    const auto* elements = static_cast<const Storage<kStored>*>(tensor);
    constexpr int kBatch = kPerThread % 4 == 0 ? 4 : kPerThread % 2 == 0 ? 2 : 1;
    WT_ROLLED for (int first = 0; first < kPerThread; first += kBatch) {
      Element held[kBatch];
      WT_UNROLL for (int i = 0; i < kBatch; ++i) {
        const int index = device::thread_index() + (first + i) * kThreads;
        const Coordinate row = device::load_shared<Coordinate>(rows + row_of(index) * sizeof(Coordinate));
        const Coordinate k = device::load_shared<Coordinate>(ks + k_of(index) * sizeof(Coordinate));
        i64 offset = row.offset + k.offset;
        bool valid = row.valid && k.valid;
        if constexpr (kGather) valid = valid && place(p, row, k, offset);
        if constexpr (kConfig.scales != BlockScales::kNone) {
          held[i] = valid ? device::from_float<Element>(scaled(elements, scales, offset)) : Element{};
        } else {
          held[i] = valid ? to_operand<multiply_type(kConfig)>(device::load_global(elements + offset)) : Element{};
        }
      }
      WT_UNROLL for (int i = 0; i < kBatch; ++i) {
        const int index = device::thread_index() + (first + i) * kThreads;
        device::store_shared(tile.address(row_of(index), k_of(index)), held[i]);
      }
    }
  }

 private:
  // The number at `offset` times its block's scale.
  WT_DEVICE static float scaled(const Storage<kStored>* elements, const u8* scales, i64 offset) {
    const float scale =
        number::scale_to_float(kConfig.scales, device::load_global(scales + offset / scale_block(kConfig.scales)));
    if constexpr (kStored == DataType::kE2m1) {
      return number::to_float(device::load_global(elements + offset / 2), static_cast<int>(offset % 2)) * scale;
    } else {
      return device::to_float(device::load_global(elements + offset)) * scale;
    }
  }

  // Adds the position's share to the offset; false where it lies outside the image or between two strides.
  WT_DEVICE static bool place(const GemmArguments& p, const Coordinate& row, const Coordinate& k, i64& offset) {
    bool inside = true;
    WT_UNROLL for (int i = 0; i < 3; ++i) {
      i32 position = row.position[i] + k.position[i];
      if constexpr (Map::kDivide) {
        const i32 stride = p.shape.stride[i];
        // WHY: a negative position is outside already; the division below only has to be right from zero on.
        inside = inside && position >= 0 && position % stride == 0;
        position /= stride;
      }
      inside = inside && position >= 0 && position < Map::extent(p)[i];
      offset += position * Map::gathered(p).spatial[i];
    }
    return inside;
  }
};

}  // namespace wt
