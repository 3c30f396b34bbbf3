// SPDX-License-Identifier: Apache-2.0
// kernels/wavelet/device/layout.h - how a wavelet kernel divides its warps, registers and shared memory.
//
// Freestanding: the host asks for threads and bytes by the same functions that the kernel lays out by.
#pragma once

#include "kernels/device/gemm/regions.h"
#include "kernels/device/gemm/storage.h"

namespace wt::wavelet_layout {

inline constexpr int kChunkBytes = 16;  // what a load thread writes at once

// Warpgroups that multiply; the load warps follow them in the block.
constexpr int groups(const KernelConfig& config) { return config.gemm.warps.m / 4; }
constexpr int rows_of_group(const KernelConfig& config) { return config.gemm.tile.m / groups(config); }
constexpr int load_threads(const KernelConfig& config) { return 32 * config.gemm.load_warps; }
constexpr int threads(const KernelConfig& config) { return 128 * groups(config) + load_threads(config); }

// Registers of a thread by role. Loaders hold coordinates of their rows, multipliers the accumulators. With 256 threads
// a block everyone has enough. WHY these: 384 threads start with 168 each, and what some take others must have given.
constexpr bool moves_registers(const KernelConfig& config) { return threads(config) == 384 && config.min_blocks == 1; }
constexpr int load_registers(const KernelConfig& config) { return config.gemm.load_warps == 8 ? 128 : 120; }
constexpr int math_registers(const KernelConfig& config) {
  if (moves_registers(config)) return config.gemm.load_warps == 8 ? 240 : 192;
  const int even = 65536 / (threads(config) * config.min_blocks) / 8 * 8;
  return even < 255 ? even : 255;
}

// What is gathered under the taps. Weight gradients have two operands of one type, and gather either.
constexpr DataType gathered_type(const KernelConfig& config) { return operand_a(config); }

// Forward reads the filter along k; backward data across its channels, and weight gradients read both operands so.
constexpr bool a_is_mn_major(const KernelConfig& config) { return config.direction == Direction::kBackwardWeight; }
constexpr bool b_is_mn_major(const KernelConfig& config) { return config.direction != Direction::kForward; }

// Backward data with a stride either walks its phases one by one, or has them all as columns of one product. The second
// way reads dy once for all phases, and multiplies it by zeros where a phase lacks a tap.
constexpr bool has_phase_columns(const KernelConfig& config) {
  // Merged groups are finite_only for a reason of their own.
  return config.direction == Direction::kBackwardData && config.finite_only && config.gemm.groups_per_tile == 1;
}
constexpr bool walks_phases(const KernelConfig& config) {
  return config.direction == Direction::kBackwardData && !has_phase_columns(config);
}

// Bytes of tile.k numbers: the swizzle's span where an operand lies along k.
constexpr int span(const KernelConfig& config) { return config.gemm.tile.k * size_of(operand_a(config)); }

constexpr int aligned(int bytes) { return (bytes + 1023) / 1024 * 1024; }
// MN-major operands lie in blocks of 64 columns, 128 bytes per row.
constexpr int operand_bytes(const KernelConfig& config, int rows, bool mn_major) {
  return mn_major ? (rows + 63) / 64 * 128 * config.gemm.tile.k : aligned(rows * span(config));
}
constexpr int a_bytes(const KernelConfig& config) {
  return operand_bytes(config, config.gemm.tile.m, a_is_mn_major(config));
}
constexpr int b_bytes(const KernelConfig& config) {
  return operand_bytes(config, config.gemm.tile.n, b_is_mn_major(config));
}

// Coordinates of a tile's rows (of a k-block's pixels in weight gradients), twice: the next ones are written while the
// last ones are read.
inline constexpr int kRowBytes = 16;
constexpr int tile_table_bytes(const KernelConfig& config) {
  const int rows = a_is_mn_major(config) ? config.gemm.tile.k : config.gemm.tile.m;
  return 2 * kRowBytes * (rows + (has_phase_columns(config) ? config.gemm.tile.n : 0));
}
// Where columns go that are phases.
constexpr int out_table_bytes(const KernelConfig& config) {
  return has_phase_columns(config) ? kRowBytes * config.gemm.tile.n : 0;
}
// Tables of tiles, of a k-block's rows of a filter whose columns are phases, and of these.
constexpr int table_bytes(const KernelConfig& config) {
  const int rows = has_phase_columns(config) ? 2 * kRowBytes * config.gemm.tile.k : 0;
  return tile_table_bytes(config) + rows + out_table_bytes(config);
}

// The regions of a block's shared memory: slots of the gathered operand, and `filter_slots` of the other, as many, or,
// where the filter stays, one for each k-block. Addresses from `base` in the kernel; the host asks for the end, from 0.
struct RegionBytes {
  int a, b_slot, table, ring;
};
constexpr RegionBytes region_bytes(const KernelConfig& config) {
  return {config.gemm.stages * a_bytes(config), b_bytes(config), table_bytes(config), ring_bytes(config.gemm.stages)};
}
template <class Address>
struct SharedLayout {
  Address a, b, table, ring, end;

  constexpr SharedLayout(Address base, RegionBytes bytes, int filter_slots)
      : a(base),
        b(a + bytes.a),
        table(b + filter_slots * bytes.b_slot),
        ring(table + bytes.table),
        end(ring + bytes.ring) {}
};
constexpr int shared_bytes(const KernelConfig& config, int filter_slots) {
  return kSharedAlignment + SharedLayout<int>(0, region_bytes(config), filter_slots).end;
}
constexpr int shared_bytes(const KernelConfig& config) { return shared_bytes(config, config.gemm.stages); }

// Stride phases that the parameter block has room for, of all dimensions together.
constexpr int phases(const KernelConfig& config) { return walks_phases(config) ? 96 : 3; }

}  // namespace wt::wavelet_layout
