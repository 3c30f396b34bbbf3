// SPDX-License-Identifier: Apache-2.0
// kernels/device/gemm/storage.h - how much shared memory a GEMM kernel takes; the host asks for it, the kernel lays it
// out.
//
// Freestanding: the constraint table (config/) and the kernels read the same formula.
#pragma once

#include "config/kernel_config.h"

namespace wt {

// Targets whose portable kernels multiply fp8 as it is, where both operands have the same one; and those whose basic
// kernel does too. gfx1250's instruction takes more numbers along k than the basic kernel's tiles have.
constexpr bool multiplies_fp8(Target target) {
  return target == Target::kGfx1201 || target == Target::kGfx12Generic || target == Target::kGfx1250;
}
constexpr bool multiplies_fp8(Target target, Kind kind) {
  return multiplies_fp8(target) && !(target == Target::kGfx1250 && kind == Kind::kBasic);
}

// fp8 is widened to fp16, exactly, on its way into shared memory; everything else is multiplied as it is stored.
constexpr DataType multiply_type(DataType type) {
  return type == DataType::kE4m3 || type == DataType::kE5m2 ? DataType::kF16 : type;
}

// The stored types of the GEMM operands A and B.
constexpr DataType operand_a(const KernelConfig& config) {
  return config.direction == Direction::kForward ? config.x : config.y;
}
constexpr DataType operand_b(const KernelConfig& config) {
  return config.direction == Direction::kBackwardWeight ? config.x : config.w;
}
constexpr DataType output_type(const KernelConfig& config) {
  switch (config.direction) {
    case Direction::kForward:
      return config.y;
    case Direction::kBackwardData:
      return config.x;
    case Direction::kBackwardWeight:
      return config.w;
  }
  return config.y;
}

// The type both operands are multiplied in. Mixed 8-bit types meet in fp16, anything with tf32 in tf32.
// wgmma and the four-wave kernels multiply fp8 as it is. Bulk copies bring fp32 whole, and
// each number is multiplied as two tf32.
constexpr DataType multiply_type(const KernelConfig& config) {
  // A number times its scale has 6 bits at most.
  if (config.kind == Kind::kBasic && config.scales != BlockScales::kNone) return DataType::kBf16;
  const bool bulk = config.kind >= Kind::kTma && config.kind <= Kind::kTcgen05Halo;
  if (bulk && operand_a(config) == DataType::kF32) return DataType::kTf32;
  const bool as_stored = config.kind != Kind::kBasic && config.kind != Kind::kPortable;
  if (as_stored || config.gemm.pipeline == Pipeline::kWavelet) return operand_a(config);
  if (multiplies_fp8(config.target, config.kind) && operand_a(config) == operand_b(config)) return operand_a(config);
  const DataType a = multiply_type(operand_a(config)), b = multiply_type(operand_b(config));
  if (a == b) return a;
  return a == DataType::kTf32 || b == DataType::kTf32 ? DataType::kTf32 : DataType::kF32;
}

namespace gemm_storage {

// Tables of row and column coordinates (kernels/device/gemm/coordinates.h): offset, three coordinates and validity.
inline constexpr int kCoordinateBytes = 24;

// A tile row in shared memory, in elements: 16 bytes of padding keep neighbouring rows in different banks.
constexpr int pitch(const KernelConfig& config) { return config.gemm.tile.k + 16 / size_of(multiply_type(config)); }

constexpr int coordinate_bytes(const KernelConfig& config) {
  return (config.gemm.tile.m + config.gemm.tile.n + 2 * config.gemm.tile.k) * kCoordinateBytes;
}
constexpr int operand_bytes(const KernelConfig& config) {
  return (config.gemm.tile.m + config.gemm.tile.n) * pitch(config) * size_of(multiply_type(config));
}

// Accumulators leave through shared memory, one matrix instruction's rows of every warp at a time.
constexpr int out_rows(const KernelConfig& config) { return config.gemm.warps.m * config.gemm.mma.m; }
constexpr int out_pitch(const KernelConfig& config) { return config.gemm.tile.n + 1; }
constexpr int out_bytes(const KernelConfig& config) { return out_rows(config) * out_pitch(config) * 4; }

constexpr int tile_bytes(const KernelConfig& config) {
  return operand_bytes(config) > out_bytes(config) ? operand_bytes(config) : out_bytes(config);
}

}  // namespace gemm_storage

// Dynamic shared memory of the kernel, in bytes.
constexpr int shared_bytes(const KernelConfig& config) {
  return gemm_storage::coordinate_bytes(config) + gemm_storage::tile_bytes(config);
}

}  // namespace wt
