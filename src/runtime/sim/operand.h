// SPDX-License-Identifier: Apache-2.0
// runtime/sim/operand.h - a wgmma operand in shared memory, as its descriptor lays it out.
//
// PTX manual, "Strides" and "Canonical layouts" of wgmma: in 16-byte chunks, with rows for the M or N index,
//   K-major,  no swizzle: rows ((8, r)) : (1, stride)       k chunks : leading
//   K-major,  swizzle s : rows ((8, r)) : (s/16, stride)    k chunks : 1
//   MN-major, no swizzle: row chunks    : stride            k ((8, c)) : (1, leading)
//   MN-major, swizzle s : row chunks ((s/16, r)) : (1, leading)   k ((8, c)) : (s/16, stride)
// and the swizzle applies to the address.
#pragma once

#include <cstdint>
#include <cstring>

#include "runtime/sim/engine.h"
#include "runtime/sim/tensor_walk.h"

namespace wt::sim {

class Operand {
 public:
  Operand() = default;
  // Rows from `first_row` on, a multiple of 64; chunks: of 16 bytes along k, which a product has two of.
  Operand(u64 descriptor, bool mn_major, int rows, DataType type, int first_row = 0, int chunks = 2)
      : start_(static_cast<uint32_t>(descriptor & 0x3fff) << 4),
        leading_(static_cast<uint32_t>(descriptor >> 16 & 0x3fff) << 4),
        stride_(static_cast<uint32_t>(descriptor >> 32 & 0x3fff) << 4),
        mn_major_(mn_major),
        rows_(rows),
        first_row_(first_row),
        chunks_(chunks),
        type_(type) {
    constexpr uint32_t kSwizzles[4] = {0, 128, 64, 32};
    swizzle_ = kSwizzles[descriptor >> 62];
  }

  // visit(address) of every chunk that one product reads.
  template <class Visit>
  void for_chunks(Visit visit) const {
    if (mn_major_) {
      for (int row = 0; row < rows_; row += chunk_elements()) {
        for (int k = 0; k < 2 * chunk_elements(); ++k) visit(mn_chunk(row, k));
      }
    } else {
      for (int row = 0; row < rows_; ++row) {
        for (int chunk = 0; chunk < chunks_; ++chunk) visit(k_chunk(row, chunk));
      }
    }
  }

  // visit(row, k, byte) of an operand along k, and visit(row, word, bits).
  template <class Visit>
  void for_bytes(Block& block, Visit visit) const {
    for (int row = 0; row < rows_; ++row) {
      for (int k = 0; k < 16 * chunks_; ++k) visit(row, k, block.host(k_chunk(row, k / 16))[k % 16]);
    }
  }
  template <class Visit>
  void for_words(Block& block, Visit visit) const {
    for (int row = 0; row < rows_; ++row) {
      for (int word = 0; word < 4 * chunks_; ++word) {
        uint32_t bits;
        std::memcpy(&bits, block.host(k_chunk(row, word / 4)) + 4 * (word % 4), sizeof bits);
        visit(row, word, bits);
      }
    }
  }

  // Element (row, k) as a float at to[row * pitch + k], and at to[k * kColumnPitch + row].
  static constexpr int kColumnPitch = 64;
  void widen_rows(Block& block, float* to, int pitch) const;
  void widen_columns(Block& block, float* to) const;

 private:
  uint32_t k_chunk(int row, int chunk) const {
    const auto r = static_cast<uint32_t>(first_row_ + row), c = static_cast<uint32_t>(chunk);
    const uint32_t address = swizzle_ ? start_ + r / 8 * stride_ + r % 8 * swizzle_ + c * 16
                                      : start_ + r / 8 * stride_ + r % 8 * 16 + c * leading_;
    return swizzled(address, swizzle_);
  }
  int chunk_elements() const { return 16 / size_of(type_); }
  // The chunk with rows row .. row + chunk_elements() - 1 of column k.
  uint32_t mn_chunk(int row, int k) const {
    const auto r = static_cast<uint32_t>((first_row_ + row) / chunk_elements()), c = static_cast<uint32_t>(k);
    const uint32_t wide = swizzle_ / 16;
    const uint32_t address = swizzle_
                                 ? start_ + r / wide * leading_ + r % wide * 16 + c / 8 * stride_ + c % 8 * swizzle_
                                 : start_ + r * stride_ + c / 8 * leading_ + c % 8 * 16;
    return swizzled(address, swizzle_);
  }

  uint32_t start_ = 0, leading_ = 0, stride_ = 0, swizzle_ = 0;
  bool mn_major_ = false;
  int rows_ = 0, first_row_ = 0, chunks_ = 2;
  DataType type_ = DataType::kF32;
};

// A in registers: thread t of the warpgroup holds rows and columns as mma.sync's A of its warp's 16 rows.
// Element (row, k) goes to to[k * 64 + row].
void widen_registers(const std::array<u32, 4>* registers, DataType type, float* to);

}  // namespace wt::sim
