// SPDX-License-Identifier: Apache-2.0
// kernels/tma/device/tiles.h - how a tma kernel divides its work: tiles, warpgroups and their registers, boxes of bulk
// copies. layout.h says where they lie in shared memory.
//
// Freestanding, as layout.h.
#pragma once

#include "kernels/device/gemm/regions.h"
#include "kernels/device/gemm/storage.h"

namespace wt::tma_layout {

constexpr bool is_halo(const KernelConfig& config) { return config.kind == Kind::kTmaHalo; }

// Kernels on tensor memory (kernels/tcgen05), whose operands and outputs are these too. Of a pair of blocks, which is
// one with instructions of 256 rows, each loads half of a tile's rows and half of its columns.
constexpr bool on_tensor(const KernelConfig& config) { return config.gemm.pipeline == Pipeline::kTcgen05; }
constexpr int tile_blocks(const KernelConfig& config) { return on_tensor(config) && config.gemm.mma.m == 256 ? 2 : 1; }

// Channels of one bulk copy: a row of it is one swizzle span.
constexpr int box_k(const KernelConfig& config) { return config.gemm.swizzle_a / size_of(operand_a(config)); }
// Copies a stage holds for each operand.
constexpr int boxes(const KernelConfig& config) { return (config.gemm.tile.k + box_k(config) - 1) / box_k(config); }

// Taps of a stage of a halo kernel's filter: a row of them, or one, each of a whole row of channels or half of one.
constexpr int halo_stage_taps(const KernelConfig& config) { return config.gemm.tile.k % (3 * 32) == 0 ? 3 : 1; }

// Crosswise tiles: the 64 rows of an instruction are output channels and its columns pixels, so that a tile may have
// any multiple of 8 pixels.
constexpr bool crosswise(const KernelConfig& config) { return config.gemm.swap_ab; }

// Warpgroups that multiply. Cooperative ones share a tile's rows; ping-pong ones (wave groups) take a tile each.
constexpr int consumers(const KernelConfig& config) {
  return config.gemm.warps.m * config.gemm.warps.n / 4 * config.gemm.wave_groups;
}
// In rows of the matrix instructions.
constexpr int rows_of_consumer(const KernelConfig& config) {
  const GemmConfig& gemm = config.gemm;
  return crosswise(config) ? gemm.tile.n / (gemm.warps.n / 4) : gemm.tile.m / (gemm.warps.m / 4);
}
// With warpgroups along k (kernels/tma_halo/device/parts.h), which take stages of one tile in turns.
constexpr int groups(const KernelConfig& config) { return consumers(config) * config.gemm.warps.k; }
constexpr int threads(const KernelConfig& config) { return 128 * groups(config) + 32 * config.gemm.load_warps; }

// Weight gradients sum over pixels, across which tensors lie. wgmma reads 16-bit types so; tiles of 32-bit types are
// turned round in shared memory (turn.h).
constexpr bool turns_tiles(const KernelConfig& config) {
  return config.direction == Direction::kBackwardWeight && size_of(operand_a(config)) == 4;
}

// Taps of a filter row that lie side by side as columns, so that a tile's products have so many times its columns
// (kernels/tma_fold); 1 elsewhere.
constexpr int tap_columns(const KernelConfig& config) {
  return config.kind == Kind::kTmaFold ? config.fixed.filter_w : 1;
}
constexpr bool folds_taps(const KernelConfig& config) { return config.kind == Kind::kTmaFold; }
// Rows of a consumer that have no outputs, and those of a tile that have.
constexpr int fold_reach(const KernelConfig& config) { return tap_columns(config) - 1; }
constexpr int tile_rows(const KernelConfig& config) {
  if (!folds_taps(config)) return config.gemm.tile.m;
  return config.gemm.tile.m / rows_of_consumer(config) * (rows_of_consumer(config) - fold_reach(config));
}
// What a consumer's warps give to each other, of which there are two: of one tile and of the next.
constexpr int fold_edge_bytes(const KernelConfig& config) {
  const int warps = rows_of_consumer(config) / 16, lanes = 4 * fold_reach(config);
  return warps * lanes * (config.gemm.tile.n / 4) * fold_reach(config) * 4;
}
constexpr int fold_bytes(const KernelConfig& config) {
  return folds_taps(config) ? 2 * consumers(config) * fold_edge_bytes(config) : 0;
}

// Vectors of a filter that a thread parts at once, where there are registers for them. WHY: one warp alone on its
// scheduler waited for every instruction.
constexpr int parts_at_once(const KernelConfig& config) {
  const bool parts = operand_a(config) == DataType::kF32 && config.direction != Direction::kBackwardWeight;
  return parts && !on_tensor(config) && config.min_blocks == 1 ? 4 : 1;
}

// Registers of a thread: at launch the same for all, then the producers, which need few, give to the consumers. A lone
// consumer has all it can use anyway.
constexpr int launch_registers(const KernelConfig& config) {
  const int all = threads(config) * config.min_blocks;
  const int even = all > 0 ? 65536 / all / 8 * 8 : 255;
  return even < 255 ? even : 255;
}
constexpr int producer_registers(const KernelConfig& config) {
  if (turns_tiles(config)) return 72;                 // a row of a box waits in them
  if (parts_at_once(config) > 1) return 56;           // several vectors do
  if (config.kind == Kind::kTmaWeightFew) return 56;  // load warps copy by themselves; of 40, two were spilled
  return config.min_blocks > 2 ? 24 : config.min_blocks == 1 && groups(config) == 2 ? 40 : 32;
}
constexpr int consumer_registers(const KernelConfig& config) {
  if (groups(config) <= 1) return launch_registers(config);
  // WHY: asking for more than the producers gave waits for ever.
  const int pool = launch_registers(config) * (groups(config) + 1);
  return (pool - producer_registers(config)) / groups(config) / 8 * 8;
}

// Forward reads the filter along its contiguous channels (K-major); the backward directions sum across channels, which
// wgmma does for 16-bit types. For others backward data has its filter turned round in the workspace first: one matrix
// (taps c, k) for each group.
constexpr bool b_is_mn_major(const KernelConfig& config) {
  return config.direction != Direction::kForward && size_of(operand_b(config)) == 2;
}
constexpr bool turns_filter(const KernelConfig& config) {
  return config.direction == Direction::kBackwardData && !b_is_mn_major(config);
}

// fp32 is multiplied as the sum of two tf32 (remainder.h), by three products; the low parts have buffers of their own.
constexpr bool three_products(const KernelConfig& config) { return operand_a(config) == DataType::kF32; }
constexpr bool changes_tiles(const KernelConfig& config) { return three_products(config) || turns_tiles(config); }
// Rows of A are then parted in the consumers' registers, on their way to the products (parted_rows.h); weight gradients
// have both operands parted while they are turned round.
constexpr bool parts_rows(const KernelConfig& config) {
  return three_products(config) && config.direction != Direction::kBackwardWeight && !on_tensor(config);
}
inline constexpr int kRemainderThreads = 96;  // three warps, beside the one that loads
// Columns of B as they lie in shared memory: MN-major blocks are 64 wide.
constexpr int b_columns(const KernelConfig& config) {
  const int n = config.gemm.tile.n;
  return b_is_mn_major(config) ? (n + 63) / 64 * 64 : n;
}

constexpr int a_box_bytes(const KernelConfig& config) { return config.gemm.tile.m * config.gemm.swizzle_a; }
constexpr int b_box_bytes(const KernelConfig& config) {
  return b_columns(config) * box_k(config) * size_of(operand_b(config));
}
// What copies bring of it: of blocks that are 64 wide no more than is multiplied. WHY: what lies outside the tensor
// takes as long to fill as what lies inside; on an H200 half as wide copies of 32 channels took 0.46 and 0.6 of the
// time.
constexpr int copied_columns(const KernelConfig& config) { return config.gemm.tile.n < 64 ? config.gemm.tile.n : 64; }
constexpr int b_copied_bytes(const KernelConfig& config) {
  return b_is_mn_major(config) ? b_box_bytes(config) / b_columns(config) * config.gemm.tile.n : b_box_bytes(config);
}
// The columns of a last block that is narrower than those before it; it has a map of its own.
constexpr int tail_columns(const KernelConfig& config) {
  return b_is_mn_major(config) && config.gemm.tile.n > 64 ? config.gemm.tile.n % 64 : 0;
}
// The same of the channels of a weight gradient, which are whole vectors of 16 bytes; blocks of 32-bit types are turned
// round whole.
constexpr int copied_channels(const KernelConfig& config, long long channels) {
  const int vector = 16 / size_of(operand_a(config));
  const long long whole = (channels + vector - 1) / vector * vector;
  return turns_tiles(config) || whole > box_k(config) ? box_k(config) : static_cast<int>(whole);
}
// The same of the channels that are summed over: `depth` of them evenly in as few boxes as there must be, each of whole
// steps along k, of which kernels multiply at least half a box's.
constexpr bool skips_steps(const KernelConfig& config) {
  return boxes(config) == 1 && !three_products(config) && config.gemm.swizzle_a > 32;
}
constexpr int copied_depth(const KernelConfig& config, long long depth) {
  const int box = box_k(config), step = 32 / size_of(operand_a(config));
  const bool halo = is_halo(config);
  if (depth <= 0 || !(halo || skips_steps(config))) return box;
  const long long count = (depth + box - 1) / box, each = (depth + count - 1) / count;
  const int whole = static_cast<int>((each + step - 1) / step * step);
  return whole > box / 2 ? whole : box / 2;
}
// Every box must start on a repeat of its swizzle.
constexpr int aligned(int bytes) { return (bytes + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment; }
constexpr int a_bytes(const KernelConfig& config) { return aligned(boxes(config) * a_box_bytes(config)); }
constexpr int b_bytes(const KernelConfig& config) {
  return aligned((is_halo(config) ? halo_stage_taps(config) : boxes(config) * tap_columns(config)) *
                 b_box_bytes(config));
}

}  // namespace wt::tma_layout
