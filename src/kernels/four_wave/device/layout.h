// SPDX-License-Identifier: Apache-2.0
// kernels/four_wave/device/layout.h - how a four-wave kernel divides its tile, its threads and its shared memory.
//
// Freestanding: the host asks for threads and bytes by the same functions that the kernel lays out by.
//
//   block tile (m pixels, n channels) = 2x2 waves; a wave's part = 2x2 quadrants; a quadrant = whole matrix
//   instructions
#pragma once

#include "kernels/device/gemm/storage.h"

namespace wt::four_wave_layout {

inline constexpr int kWaveSize = 64, kWaves = 4, kThreads = kWaves * kWaveSize;
inline constexpr int kStages = 2;
inline constexpr int kChunkBytes = 16;  // what a thread writes to shared memory, and a lane reads from it, at once

// Bytes of tile.k numbers: a row of either operand in shared memory.
constexpr int span(const KernelConfig& config) { return config.gemm.tile.k * size_of(operand_a(config)); }
constexpr int a_bytes(const KernelConfig& config) { return config.gemm.tile.m * span(config); }
constexpr int b_bytes(const KernelConfig& config) { return config.gemm.tile.n * span(config); }

// Backward data has a phase for each residue of its strides; what has more is left to others.
inline constexpr int kMostPhases = 16;
constexpr int phases(const KernelConfig& config) { return config.direction == Direction::kForward ? 1 : kMostPhases; }

// What a quadrant of one wave has of the block's tile.
constexpr int quadrant_m(const KernelConfig& config) { return config.gemm.tile.m / 4; }
constexpr int quadrant_n(const KernelConfig& config) { return config.gemm.tile.n / 4; }

// Along k, what the 16 bytes of all lanes make: some lanes share a row, and each has its own 16 bytes of it.
constexpr int step_bytes(const KernelConfig& config) { return kWaveSize / config.gemm.mma.m * kChunkBytes; }

// gfx950 loads 16 bytes straight to shared memory. WHY whole chunks only: lanes have no other place to go to.
constexpr bool copies(const KernelConfig& config) {
  return config.target == Target::kGfx950 && config.gemm.vector_a * size_of(operand_a(config)) == kChunkBytes;
}

// gfx942 multiplies FNUZ numbers: a launch before makes them of e4m3 (kernels/beside/device/fnuz_copy.h), or the loader
// does.
constexpr bool multiplies_fnuz(const KernelConfig& config) {
  return config.target == Target::kGfx942 && operand_a(config) == DataType::kE4m3;
}
constexpr bool converts(const KernelConfig& config) { return multiplies_fnuz(config) && !config.gemm.aligned_copy; }

// A quadrant on its way out, fp32, with room between its rows against bank conflicts; each wave has its own.
constexpr int out_pitch(const KernelConfig& config) { return quadrant_n(config) + 4; }
constexpr int out_bytes(const KernelConfig& config) { return quadrant_m(config) * out_pitch(config) * 4; }

constexpr int shared_bytes(const KernelConfig& config) {
  const int stages = kStages * (a_bytes(config) + b_bytes(config)), out = kWaves * out_bytes(config);
  return stages > out ? stages : out;
}

}  // namespace wt::four_wave_layout
