// SPDX-License-Identifier: Apache-2.0
// kernels/tcgen05/device/layout.h - how a kernel on tensor memory divides its work, shared memory and columns.
//
// Operands, regions and outputs are those of kernels/tma/device/layout.h. Freestanding: the host asks for bytes and
// blocks by the same functions that the kernel lays out by.
#pragma once

#include "kernels/tcgen05_halo/device/layout.h"
#include "target/tcgen05_words.h"

namespace wt::tcgen05_layout {

// Blocks that multiply a tile together, and those of a cluster, whose tiles share operands.
constexpr int blocks(const KernelConfig& config) { return tma_layout::tile_blocks(config); }
constexpr int cluster_tiles(const KernelConfig& config) { return tma_layout::sharing_blocks(config); }
constexpr int cluster_blocks(const KernelConfig& config) { return blocks(config) * cluster_tiles(config); }

// A warp has 32 rows, which it stores in two halves of 16: rows of a half of all four warps, and of both halves, one
// after the other.
constexpr int row_of_half(int half, int row) { return row / 16 * 32 + 16 * half + row % 16; }
constexpr int row_of_halves(int row) { return row_of_half(row / 64, row % 64); }

// Or the parts of one tile's sum, of as many blocks as the launch says.
constexpr bool sums_in_cluster(const KernelConfig& config) { return config.gemm.split_k == SplitK::kCluster; }

// A tile's columns of one block.
constexpr int columns(const KernelConfig& config) { return config.gemm.tile.n / blocks(config); }

// Tiles of a grid that has a cluster for each are handed out by launch control; else blocks walk over them in turns.
constexpr bool takes_clusters(const KernelConfig& config) { return !config.gemm.persistent; }
inline constexpr int kAnswers = 3;  // of launch control on their way

// Sums in tensor memory: two tiles', so that one is stored while the next is multiplied, or one.
constexpr int accumulators(const KernelConfig& config) { return config.gemm.double_buffer ? 2 : 1; }

// Scales of blocks: those of a row in a stage, which is 128 bytes deep. They come to tensor memory four at a time of
// 128 rows of A or columns of B, behind the sums.
constexpr bool has_scales(const KernelConfig& config) { return config.scales != BlockScales::kNone; }
constexpr int stage_scales(const KernelConfig& config) {
  return has_scales(config) ? 4 * device::tensor_scales(device::scaled_kind(config.x, config.scales)) : 0;
}
constexpr int scale_row_blocks(const KernelConfig& config) { return (config.gemm.tile.n + kRows - 1) / kRows; }
inline constexpr int kScaleCopyBytes = 4 * kRows;
constexpr int scale_bytes(const KernelConfig& config) {
  return stage_scales(config) / 4 * (1 + scale_row_blocks(config)) * kScaleCopyBytes;
}
constexpr int scale_columns(const KernelConfig& config) {
  return stage_scales(config) * (1 + scale_row_blocks(config));
}

constexpr int sum_columns(const KernelConfig& config) {
  return (sums_taps(config) ? tap_units(config) : accumulators(config)) * config.gemm.tile.n;
}
constexpr int tensor_columns(const KernelConfig& config) {
  int power = 32;
  while (power < sum_columns(config) + scale_columns(config)) power *= 2;
  return power;
}

// Warps: four store, each its quarter of the lanes; the others have a role each. Where tiles are changed between copies
// and products, three more do that, and where numbers have scales, four more bring these.
inline constexpr int kStoreWarps = 4, kScheduleWarp = 4, kLoadWarp = 5, kMultiplyWarp = 6, kResidualWarp = 7,
                     kChangeWarp = 8, kScaleWarp = 8;
constexpr int change_warps(const KernelConfig& config) { return tma_layout::changes_tiles(config) ? 3 : 0; }
constexpr int scale_warps(const KernelConfig& config) { return has_scales(config) ? 4 : 0; }
constexpr int threads(const KernelConfig& config) {
  return 32 * (kChangeWarp + change_warps(config) + scale_warps(config));
}
constexpr bool copies_residual(const KernelConfig& config) { return tma_layout::copies_residual(config); }
// Warps that read an answer of launch control, of one block.
constexpr int answer_readers(const KernelConfig& config) {
  return kStoreWarps + 2 + (copies_residual(config) ? 1 : 0) + change_warps(config) + scale_warps(config);
}

// Boxes of a stage, each with its products: of patches, taps.
constexpr int stage_boxes(const KernelConfig& config) {
  return loads_patches(config) ? config.gemm.filter_rows * patch_taps_w(config) : tma_layout::boxes(config);
}

// A slot of the ring.
constexpr int a_box_bytes(const KernelConfig& config) { return kRows * config.gemm.swizzle_a; }
constexpr int b_box_bytes(const KernelConfig& config) { return tma_layout::b_box_bytes(config) / blocks(config); }
constexpr int a_bytes(const KernelConfig& config) {
  return tma_layout::aligned(sums_taps(config) ? patch_copies(config) * patch_copy_bytes(config)
                             : loads_patches(config)
                                 ? patch_height(config) * pixel_pitch(config) * config.gemm.swizzle_a
                                 : tma_layout::boxes(config) * a_box_bytes(config));
}
constexpr int b_bytes(const KernelConfig& config) {
  return tma_layout::aligned(sums_taps(config) ? gradient_boxes(config) * gradient_box_bytes(config)
                                               : stage_boxes(config) * b_box_bytes(config));
}
// Rows of a tile that are copied, where the longest region has `rows`: all, or of a block that loads a tile by itself
// no more than exist. Products read what was there before in the others, whose sums are not stored.
constexpr int copied_rows(const KernelConfig& config, long long rows) {
  const bool alone = blocks(config) == 1 && cluster_tiles(config) == 1;
  return alone && rows < kRows ? static_cast<int>(rows + 7) / 8 * 8 : kRows;
}
// The same of a weight gradient's blocks of output channels, of which a group has `rows`.
constexpr int copied_blocks(const KernelConfig& config, long long rows) {
  const int block = tma_layout::box_k(config), all = kRows / block;
  const bool alone = blocks(config) == 1 && !tma_layout::changes_tiles(config) && rows < kRows;
  return alone ? static_cast<int>((rows + block - 1) / block) : all;
}
// Where the rows of a box begin in its slot.
constexpr int a_box_at(const KernelConfig& config, int box) {
  if (!loads_patches(config)) return box * a_box_bytes(config);
  const int wide = patch_taps_w(config);
  return (box / wide * pixel_pitch(config) + box % wide) * config.gemm.swizzle_a;
}

// A tile of one chunk's columns, or of other ones.
constexpr KernelConfig with_columns(KernelConfig config, int columns) {
  config.gemm.tile.n = static_cast<short>(columns);
  return config;
}

// Outputs leave in chunks of up to 64 columns, through two buffers in turns where they are stored in bulk. Where rows
// are copied by the warps that staged them, one is enough.
// Loads of tensor memory have 16, 32 or 64 columns, so that 48 are two chunks.
constexpr int chunk_columns(const KernelConfig& config) {
  const int n = config.gemm.tile.n;
  return n == 48 ? 32 : n < 64 ? n : 64;
}
constexpr int chunks(const KernelConfig& config) { return (config.gemm.tile.n + 63) / 64; }
inline constexpr int kChunkBytes = kRows * 128;
// What a cluster's blocks exchange at a time: a chunk of the parts of their sum.
constexpr KernelConfig exchanged(const KernelConfig& config) { return with_columns(config, chunk_columns(config)); }
constexpr int out_buffers(const KernelConfig& config) {
  return config.gemm.staging == Staging::kDirect ? 0 : config.gemm.staging == Staging::kTmaStore ? 2 : 1;
}

// Bytes from a block's first aligned one on.
struct SharedLayout {
  int a, b;      // slots
  int low;       // the low parts of both, as far from them (kernels/tma/device/remainder.h)
  int out;       // outputs on their way
  int exchange;  // rows of sums from the cluster's blocks, and their barriers (kernels/tma/device/exchange.h)
  int cluster;
  int scales;          // of the slots
  int answers;         // of launch control
  int ring, changed;   // barriers of the slots: full and empty; full where numbers are parted, or have their scales
  int summed, taken;   // of each accumulator: its products are done, and its sums are read
  int answered, read;  // of each answer
  int begun, asked;    // the loads of a tile have begun, and the scheduler has asked for the next
  int residual_full, residual_empty;
  int ordered;  // the first tile's loads are on their way
  int tensor;   // the address of tensor memory
  int bytes;
};
constexpr SharedLayout shared_layout(const KernelConfig& config) {
  const int slots = config.gemm.stages;
  Regions regions;
  SharedLayout at{};
  at.a = regions.take(slots * a_bytes(config));
  at.b = regions.take(slots * b_bytes(config));
  at.low = regions.take(tma_layout::three_products(config) ? slots * (a_bytes(config) + b_bytes(config)) : 0);
  at.out = regions.take(out_buffers(config) * kChunkBytes);
  at.exchange = regions.take(tma_layout::exchange_bytes(exchanged(config)));
  at.cluster = regions.take(sums_in_cluster(config) ? 16 : 0);
  at.scales = regions.take(slots * scale_bytes(config));
  at.answers = regions.take(16 * kAnswers);
  at.ring = regions.take(ring_bytes(slots));
  at.changed = regions.take(tma_layout::changes_tiles(config) || has_scales(config) ? ring_bytes(slots) : 0);
  at.summed = regions.take(16);
  at.taken = regions.take(16);
  at.answered = regions.take(8 * kAnswers);
  at.read = regions.take(8 * kAnswers);
  at.begun = regions.take(8 * kAnswers);
  at.asked = regions.take(8 * kAnswers);
  at.residual_full = regions.take(16);
  at.residual_empty = regions.take(16);
  at.ordered = regions.take(8);
  at.tensor = regions.take(8);
  at.bytes = regions.bytes();
  return at;
}
constexpr int shared_bytes(const KernelConfig& config) { return shared_layout(config).bytes; }

}  // namespace wt::tcgen05_layout
