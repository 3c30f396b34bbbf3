// SPDX-License-Identifier: Apache-2.0
// kernels/tma/device/layout.h - how a tma kernel divides its work and its shared memory.
//
// Freestanding: the host asks for threads, boxes and bytes by the same functions that the kernel lays out by.
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

// Staging of the output: boxes of 128 bytes per row, 64 columns of 16-bit numbers or 32 of 32-bit ones. Bulk stores
// read it while the next fragment is made; a warp that copies its rows itself is done with one fragment before the
// next. A weight gradient's boxes are as wide as the blocks of channels that it multiplies, because the next block may
// belong to another tap.
constexpr bool stages_words(const KernelConfig& config) { return size_of(output_type(config)) == 4; }
constexpr int out_span(const KernelConfig& config) { return stages_words(config) ? 32 : 64; }
constexpr int out_box_columns(const KernelConfig& config) {
  return config.direction == Direction::kBackwardWeight ? box_k(config) : out_span(config);
}
// Of a fragment of 64 rows; of a crosswise one, whose rows are channels, boxes of all pixels.
constexpr int out_boxes(const KernelConfig& config) {
  return ((crosswise(config) ? 64 : config.gemm.tile.n) + out_span(config) - 1) / out_span(config);
}
constexpr int out_box_bytes(const KernelConfig& config) { return 128 * (crosswise(config) ? config.gemm.tile.m : 64); }
// The boxes that a consumer makes of what it stages at once: its tile, or where it copies rows itself a fragment. Of
// 32-bit numbers that may be as much as the ring: they are then staged by two boxes, the next while one leaves.
inline constexpr int kBoxesInTurns = 2;
constexpr int tile_boxes(const KernelConfig& config) {
  const GemmConfig& gemm = config.gemm;
  const bool whole = gemm.staging == Staging::kTmaStore && (crosswise(config) ? gemm.warps.n : gemm.warps.m) >= 4;
  const int fragments = whole ? rows_of_consumer(config) / 64 : 1;
  return fragments * out_boxes(config);
}
constexpr bool stages_in_turns(const KernelConfig& config) {
  constexpr int kMost = 4;  // boxes that leave the ring its room
  return stages_words(config) && !crosswise(config) && config.gemm.staging != Staging::kDirect &&
         tile_boxes(config) > (three_products(config) ? kBoxesInTurns : kMost);
}
constexpr int out_bytes(const KernelConfig& config) {
  if (config.gemm.staging == Staging::kDirect) return 0;
  const int boxes = stages_in_turns(config) ? kBoxesInTurns : tile_boxes(config);
  return consumers(config) * boxes * out_box_bytes(config);
}

// A halo kernel's patch: a tile is 8 pixels wide and as high as its fragments of 8x8, the patch two more each way; of
// filters one tap wide, two more rows.
inline constexpr int kHaloEdge = 8, kHaloFilter = 3;
constexpr int halo_filter_width(const KernelConfig& config) {
  return config.gemm.specialization == Specialization::kFilter3x3 ? kHaloFilter : 1;
}
constexpr int halo_taps(const KernelConfig& config) { return kHaloFilter * halo_filter_width(config); }
constexpr int halo_pitch(const KernelConfig& config) { return kHaloEdge + halo_filter_width(config) - 1; }
constexpr int halo_tile_height(const KernelConfig& config) { return config.gemm.tile.m / kHaloEdge; }
constexpr int halo_patch_height(const KernelConfig& config) { return halo_tile_height(config) + kHaloFilter - 1; }
// Matrix instructions along a row of 128 bytes: half of them where the channels fill half of it.
constexpr int halo_steps(const KernelConfig& config) {
  return config.gemm.tile.k / halo_stage_taps(config) * size_of(operand_a(config)) / 32;
}
// Kernels that divide sums also stack fragments of images up to 8 pixels high, each with a halo of its own: the images
// of a tile, of `images` that are so many rows `high`.
constexpr bool halo_stacks(const KernelConfig& config) {
  return is_halo(config) && config.gemm.split_k != SplitK::kNone && config.gemm.tile.m > 64;
}
constexpr int halo_stacked(const KernelConfig& config, long long high, long long images) {
  return halo_stacks(config) && high <= kHaloEdge && images > 1 ? config.gemm.tile.m / 64 : 1;
}
// Rows of pixels from one fragment to the next, and of one image's part of a patch.
constexpr int halo_fragment_rows(int stacked) { return stacked > 1 ? kHaloEdge + kHaloFilter - 1 : kHaloEdge; }
constexpr int halo_copied_rows(const KernelConfig& config, int stacked) {
  return stacked > 1 ? kHaloEdge + kHaloFilter - 1 : halo_patch_height(config);
}
constexpr int patch_bytes(const KernelConfig& config) {
  const int stacked = config.gemm.tile.m / 64;
  const int rows = halo_stacks(config) ? stacked * halo_copied_rows(config, stacked) : halo_patch_height(config);
  return rows * halo_pitch(config) * 128;
}
// Stages of the filter's ring. WHY one more than warpgroups along k: each releases a stage when it has issued its next.
constexpr int halo_least_stages(const KernelConfig& config) { return config.gemm.warps.k + 1; }
// Patches in flight: of a small image, all that it has.
constexpr int halo_patches(const KernelConfig& config) {
  constexpr int kMost = 4, kRoom = 96 * 1024;
  return halo_stage_taps(config) > 1 && kMost * aligned(patch_bytes(config)) <= kRoom ? kMost : 2;
}

// Blocks of a cluster that share an operand's tile: each loads its share of it for all. A sum divided over a cluster
// has as many blocks as the launch says.
constexpr int sharing_blocks(const KernelConfig& config) { return config.gemm.cluster_m * config.gemm.cluster_n; }
constexpr bool in_clusters(const KernelConfig& config) {
  return config.gemm.split_k == SplitK::kCluster || sharing_blocks(config) > 1;
}
// Rows of a copy of A, and of B where it is read along k.
constexpr int a_box_rows(const KernelConfig& config) {
  return folds_taps(config) ? rows_of_consumer(config)
                            : config.gemm.tile.m / tile_blocks(config) / config.gemm.cluster_n;
}
constexpr int b_box_rows(const KernelConfig& config) {
  return config.gemm.tile.n / tile_blocks(config) / config.gemm.cluster_m;
}

// A sum divided over a cluster: each block finishes some of the tile's rows and holds all parts of them.
inline constexpr int kMaxCluster = 8;
constexpr int rows_of_member(const KernelConfig& config, int members) {
  return (config.gemm.tile.m + members - 1) / members;
}
// From a row of sums to the next. WHY: 8 rows by 32 bytes, which a warp stores together, then lie in different banks.
constexpr int exchange_pitch(const KernelConfig& config) {
  const int bytes = 4 * config.gemm.tile.n;
  return bytes + (128 + 32 - bytes % 128) % 128;
}
constexpr int exchange_bytes(const KernelConfig& config) {
  if (config.gemm.split_k != SplitK::kCluster) return 0;
  return (config.gemm.tile.m + kMaxCluster - 1) * exchange_pitch(config);
}
// The sums of a halo kernel's warpgroups along k, but for the first one's, 64 rows by 8 columns at a time.
inline constexpr int kPartBytes = 64 * 8 * 4;
constexpr int along_bytes(const KernelConfig& config) {
  return (config.gemm.warps.k - 1) * config.gemm.tile.m / 64 * (config.gemm.tile.n / 8) * kPartBytes;
}
// Barriers beside those of the ring.
constexpr int cluster_barrier_bytes(const KernelConfig& config) { return in_clusters(config) ? 16 : 0; }

// Whether a consumer's tile of the residual is copied to where its results will be staged, while it multiplies. Not of
// patches, which may be stored by another map, nor where that is no room for the whole tile.
constexpr bool copies_residual(const KernelConfig& config) {
  return config.epilogue.residual && config.gemm.staging == Staging::kTmaStore && !is_halo(config) &&
         config.direction != Direction::kBackwardWeight && config.gemm.specialization != Specialization::kPatch &&
         !stages_in_turns(config);
}
// The steps that need an element's place: not a residual that was copied.
constexpr EpilogueConfig placed_steps(const KernelConfig& config) {
  EpilogueConfig steps = config.epilogue;
  if (copies_residual(config)) steps.residual = false;
  return steps;
}
// One barrier a consumer.
constexpr int residual_barrier_bytes(const KernelConfig& config) {
  return copies_residual(config) ? 8 * consumers(config) : 0;
}

// A block's shared memory, in bytes from its first aligned one; kernels/tma, tma_fold and tma_weight.
struct SharedLayout {
  int a, b;           // slots of tiles: (tile.m, tile.k) and (tile.n, tile.k), of weight gradients across k
  int low;            // the low parts of both (turn.h), as far from them, or of b (remainder.h)
  int out;            // results on their way to global memory
  int exchange;       // rows of sums from the cluster's blocks (exchange.h)
  int edges;          // of kernels/tma_fold
  int ring, changed;  // barriers of the slots; changed: full where a slot's numbers are parted or turned
  int cluster;        // barriers of exchange.h or peer.h
  int residual;       // a barrier of each consumer
  int bytes;
};
constexpr SharedLayout shared_layout(const KernelConfig& config) {
  const int slots = config.gemm.stages;
  Regions regions;
  SharedLayout at{};
  at.a = regions.take(slots * a_bytes(config));
  at.b = regions.take(slots * b_bytes(config));
  at.low =
      regions.take(three_products(config) ? slots * ((parts_rows(config) ? 0 : a_bytes(config)) + b_bytes(config)) : 0);
  at.out = regions.take(out_bytes(config));
  at.exchange = regions.take(exchange_bytes(config));
  at.edges = regions.take(fold_bytes(config));
  at.ring = regions.take(ring_bytes(slots));
  at.changed = regions.take(changes_tiles(config) ? ring_bytes(slots) : 0);
  at.cluster = regions.take(cluster_barrier_bytes(config));
  at.residual = regions.take(residual_barrier_bytes(config));
  at.bytes = regions.bytes();
  return at;
}

// The same of kernels/tma_halo.
struct HaloSharedLayout {
  int patches, filters;         // slots of patches, and of a stage's taps (taps, tile.n, channels)
  int out, exchange;            // as above
  int along;                    // sums of the warpgroups along k
  int patch_ring, filter_ring;  // barriers of the slots
  int cluster;                  // barriers of exchange.h
  int bytes;
};
constexpr HaloSharedLayout halo_shared_layout(const KernelConfig& config) {
  Regions regions;
  HaloSharedLayout at{};
  at.patches = regions.take(halo_patches(config) * aligned(patch_bytes(config)));
  at.filters = regions.take(config.gemm.stages * b_bytes(config));
  at.out = regions.take(out_bytes(config));
  at.exchange = regions.take(exchange_bytes(config));
  at.along = regions.take(along_bytes(config));
  at.patch_ring = regions.take(ring_bytes(halo_patches(config)));
  at.filter_ring = regions.take(ring_bytes(config.gemm.stages));
  at.cluster = regions.take(cluster_barrier_bytes(config));
  at.bytes = regions.bytes();
  return at;
}

constexpr int shared_bytes(const KernelConfig& config) {
  return is_halo(config) ? halo_shared_layout(config).bytes : shared_layout(config).bytes;
}

// Whether inputs whose rows of channels are not whole 16 bytes are copied to rows that are
// (kernels/beside/device/whole_rows.h). The config says so by vectors of A, which bulk copies have no other use for.
constexpr bool copies_rows(const KernelConfig& config) { return config.gemm.aligned_copy; }

// Whether the kernel computes a convolution over patches by its easier view (problem/patch_view.h). Backward data then
// stores the columns of a pixel in runs that lie apart.
constexpr bool sees_patches(const KernelConfig& config) { return config.gemm.specialization == Specialization::kPatch; }
constexpr bool stores_patches(const KernelConfig& config) {
  return sees_patches(config) && config.direction == Direction::kBackwardData;
}
// Whether a weight gradient's patches are packed first, each into one row: a unit filter over more channels.
constexpr bool packs_patches(const KernelConfig& config) {
  return sees_patches(config) && config.direction == Direction::kBackwardWeight && copies_rows(config);
}
// Forward with a tiled map: patches are read where they lie, though their rows are no whole 16 bytes. A tile has
// patches of one column, those below each other in all images, and its boxes start at the 16 bytes before. What they
// hold beside a patch meets zeros in the copied filter, of which there is one for each start (RawPatches in
// problem/patch_view.h).
constexpr bool raw_patches(const KernelConfig& config) {
  return sees_patches(config) && config.direction == Direction::kForward && config.gemm.loader_a == Loader::kTmaTiled;
}

// Whether tiles are cut into pieces by stream-K (stream.h).
constexpr bool streams(const KernelConfig& config) { return config.gemm.stream_k != StreamK::kOff; }

// Whether an epilogue makes zero of zero, whatever is saved and whatever finite numbers it is given.
constexpr bool keeps_zero(const EpilogueConfig& steps) {
  return !steps.scale && !steps.bias && !steps.residual && steps.added == 0 && !steps.expression && !steps.store &&
         facts_of(steps.activation).zero_at_zero && facts_of(steps.gradient).derivative != Derivative::kSmooth;
}
// Whether warps of the producer group that have nothing to do write the pixels that no tap reaches (zeros.h). Else they
// are tiles like others.
constexpr bool writes_zeros(const KernelConfig& config) {
  return config.direction == Direction::kBackwardData && keeps_zero(config.epilogue) && !three_products(config) &&
         !on_tensor(config) && !is_halo(config) && !stores_patches(config) && config.gemm.split_k == SplitK::kNone &&
         !streams(config) && !in_clusters(config) && config.gemm.staging != Staging::kTmaStore &&
         config.gemm.load_warps == 4;
}
inline constexpr int kZeroWarps = 3, kZeroRows = 16;  // pixels that a warp writes at a time
// Bytes of a store, of pixels that have `row_bytes`.
constexpr int zero_bytes(const KernelConfig& config, long long row_bytes) {
  const int least = config.gemm.staging == Staging::kShared ? config.gemm.vector_c : 1;
  return row_bytes % 16 == 0 ? 16 : least * size_of(output_type(config));
}

// Regions that the parameter block has room for.
constexpr int kMaxRegions = 9;  // 3x3 rectangles, or the eight phases of a cube
// Kernels that take a dilated problem by rectangles whose pixels see the same taps (problem/tap_regions.h); they store
// by rows, which may lie anywhere.
constexpr bool divides_by_taps(const KernelConfig& config) {
  return config.gemm.loader_a == Loader::kTmaIm2col && config.gemm.staging == Staging::kShared &&
         config.gemm.split_k == SplitK::kNone && !folds_taps(config) && !streams(config);
}
// WHY one with a residual that is copied: bulk stores write one region, and its maps take the others' place. Stream-K
// cuts tiles of one depth.
constexpr int regions(const KernelConfig& config) {
  const bool one = config.direction == Direction::kForward && !divides_by_taps(config);
  return one || copies_residual(config) || streams(config) ? 1 : kMaxRegions;
}
// Kernels of several regions, whose tiles take different times, are told which block takes which
// (kernels/shared/tile_runs.h).
constexpr bool lists_work(const KernelConfig& config) {
  return config.direction != Direction::kBackwardWeight && regions(config) > 1 && !is_halo(config) &&
         !on_tensor(config) && config.gemm.split_k == SplitK::kNone && !in_clusters(config) &&
         config.gemm.staging != Staging::kTmaStore;
}

}  // namespace wt::tma_layout
