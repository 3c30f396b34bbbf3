// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/operand.h"

#include <cstring>

#include "runtime/sim/multiply.h"
#include "target/number.h"

namespace wt::sim {
namespace {

const float* fp8_table(DataType type) {
  struct Tables {
    float e4m3[256], e5m2[256];
    Tables() {
      for (int i = 0; i < 256; ++i) {
        e4m3[i] = number::to_float(E4m3{static_cast<u8>(i)});
        e5m2[i] = number::to_float(E5m2{static_cast<u8>(i)});
      }
    }
  };
  static const Tables tables;
  return type == DataType::kE4m3 ? tables.e4m3 : tables.e5m2;
}

// The 16 bytes of a chunk as floats, `step` apart.
void widen_chunk(const uint8_t* from, DataType type, float* to, int step) {
  switch (type) {
    case DataType::kBf16: {
      uint16_t values[8];
      std::memcpy(values, from, 16);
      for (int i = 0; i < 8; ++i) to[i * step] = widen_bf16(values[i]);
      return;
    }
    case DataType::kF16: {
      uint16_t values[8];
      std::memcpy(values, from, 16);
      for (int i = 0; i < 8; ++i) to[i * step] = widen_f16(values[i]);
      return;
    }
    case DataType::kTf32:
    case DataType::kF32: {
      uint32_t values[4];
      std::memcpy(values, from, 16);
      // The unit reads a tf32 as the upper 19 bits.
      for (int i = 0; i < 4; ++i) to[i * step] = std::bit_cast<float>(values[i] & 0xffffe000u);
      return;
    }
    case DataType::kE4m3:
    case DataType::kE5m2: {
      const float* table = fp8_table(type);
      for (int i = 0; i < 16; ++i) to[i * step] = table[from[i]];
      return;
    }
  }
}

}  // namespace

void Operand::widen_rows(Block& block, float* to, int pitch) const {
  if (mn_major_) {
    for (int row = 0; row < rows_; row += 8) {
      for (int k = 0; k < 16; ++k) widen_chunk(block.host(mn_chunk(row, k)), type_, to + row * pitch + k, pitch);
    }
    return;
  }
  const int elements = 16 / size_of(type_);
  for (int row = 0; row < rows_; ++row) {
    for (int chunk = 0; chunk < 2; ++chunk) {
      widen_chunk(block.host(k_chunk(row, chunk)), type_, to + row * pitch + chunk * elements, 1);
    }
  }
}

void Operand::widen_columns(Block& block, float* to, int pitch) const {
  if (mn_major_) {
    for (int k = 0; k < 16; ++k) {
      for (int row = 0; row < rows_; row += 8)
        widen_chunk(block.host(mn_chunk(row, k)), type_, to + k * pitch + row, 1);
    }
    return;
  }
  const int elements = 16 / size_of(type_);
  for (int row = 0; row < rows_; ++row) {
    for (int chunk = 0; chunk < 2; ++chunk) {
      widen_chunk(block.host(k_chunk(row, chunk)), type_, to + chunk * elements * pitch + row, pitch);
    }
  }
}

// PTX manual, "Register Fragments and Shared Memory Matrix Layouts" of wgmma: registers 0 and 1 hold the first half of
// k for rows lane / 4 and lane / 4 + 8, registers 2 and 3 the second half; each holds 4 bytes of neighbours along k.
void widen_registers(const std::array<u32, 4>* registers, DataType type, float* to) {
  const int elements = 4 / size_of(type), half = 16 / size_of(type);
  for (int thread = 0; thread < 128; ++thread) {
    for (int r = 0; r < 4; ++r) {
      const int row = thread / 32 * 16 + thread % 32 / 4 + 8 * (r & 1);
      const int k = thread % 4 * elements + half * (r >> 1);
      uint8_t chunk[16] = {};
      float values[16];
      std::memcpy(chunk, &registers[thread][r], 4);
      widen_chunk(chunk, type, values, 1);
      for (int e = 0; e < elements; ++e) to[(k + e) * 64 + row] = values[e];
    }
  }
}

}  // namespace wt::sim
