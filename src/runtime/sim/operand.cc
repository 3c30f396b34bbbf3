// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/operand.h"

#include <cstring>

#include "base/check.h"
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

// The 16 bytes of a chunk as floats, `step` apart. WHY always inlined: with a constant type and step it is a few
// instructions, and there are as many chunks as anything.
template <DataType kType>
[[gnu::always_inline]] inline void widen_chunk(const uint8_t* from, float* to, int step) {
  if constexpr (kType == DataType::kBf16 || kType == DataType::kF16) {
    uint16_t values[8];
    std::memcpy(values, from, 16);
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) to[i * step] = kType == DataType::kBf16 ? widen_bf16(values[i]) : widen_f16(values[i]);
  } else if constexpr (kType == DataType::kTf32 || kType == DataType::kF32) {
    uint32_t values[4];
    std::memcpy(values, from, 16);
    // The unit reads a tf32 as the upper 19 bits.
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) to[i * step] = std::bit_cast<float>(values[i] & 0xffffe000u);
  } else {
    const float* table = fp8_table(kType);
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) to[i * step] = table[from[i]];
  }
}

// Calls work with the type as a constant.
template <class Work>
void with_type(DataType type, Work work) {
  switch (type) {
    case DataType::kBf16:
      return work.template operator()<DataType::kBf16>();
    case DataType::kF16:
      return work.template operator()<DataType::kF16>();
    case DataType::kTf32:
    case DataType::kF32:
      return work.template operator()<DataType::kTf32>();
    case DataType::kE4m3:
      return work.template operator()<DataType::kE4m3>();
    case DataType::kE5m2:
      return work.template operator()<DataType::kE5m2>();
    case DataType::kE2m1:
      WT_CHECK(false, "numbers of e2m1 have scales: tcgen05_scales.cc");
    case DataType::kI8:
      break;  // no simulated instruction reads it from shared memory
  }
}

}  // namespace

void Operand::widen_rows(Block& block, float* to, int pitch) const {
  with_type(type_, [&]<DataType kType>() {
    constexpr int kElements = 16 / size_of(kType);
    if (mn_major_) {
      for (int row = 0; row < rows_; row += kElements) {
        for (int k = 0; k < 2 * kElements; ++k)
          widen_chunk<kType>(block.host(mn_chunk(row, k)), to + row * pitch + k, pitch);
      }
      return;
    }
    for (int row = 0; row < rows_; ++row) {
      widen_chunk<kType>(block.host(k_chunk(row, 0)), to + row * pitch, 1);
      widen_chunk<kType>(block.host(k_chunk(row, 1)), to + row * pitch + kElements, 1);
    }
  });
}

void Operand::widen_columns(Block& block, float* to) const {
  with_type(type_, [&]<DataType kType>() {
    constexpr int kElements = 16 / size_of(kType);
    if (mn_major_) {
      for (int k = 0; k < 2 * kElements; ++k) {
        for (int row = 0; row < rows_; row += kElements)
          widen_chunk<kType>(block.host(mn_chunk(row, k)), to + k * kColumnPitch + row, 1);
      }
      return;
    }
    for (int row = 0; row < rows_; ++row) {
      widen_chunk<kType>(block.host(k_chunk(row, 0)), to + row, kColumnPitch);
      widen_chunk<kType>(block.host(k_chunk(row, 1)), to + kElements * kColumnPitch + row, kColumnPitch);
    }
  });
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
      with_type(type, [&]<DataType kType>() { widen_chunk<kType>(chunk, values, 1); });
      for (int e = 0; e < elements; ++e) to[(k + e) * 64 + row] = values[e];
    }
  }
}

}  // namespace wt::sim
