// SPDX-License-Identifier: Apache-2.0
// kernels/tma/device/layout.h - the shared memory of a tma kernel, and which of its forms a config names.
//
// Freestanding: the host asks for threads, boxes and bytes by the same functions that the kernel lays out by.
#pragma once

#include "kernels/tma/device/tiles.h"

namespace wt::tma_layout {

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
// Backward data with strides of two: the outputs' four phases side by side, from one patch of dy. A row of a tile is a
// point of dy's lattice, which has an output in each phase.
constexpr bool halo_phased(const KernelConfig& config) { return is_halo(config) && config.fixed.stride_h == 2; }
constexpr int halo_phases(const KernelConfig& config) { return halo_phased(config) ? 4 : 1; }
// Stages of the filter's ring. WHY one more than warpgroups along k: each releases a stage when it has issued its next.
constexpr int halo_least_stages(const KernelConfig& config) { return config.gemm.warps.k + 1; }
// Whether the whole filter stays in shared memory from tile to tile: filter_rows are its rows in all planes and blocks
// of channels, of which a stage is one.
constexpr bool keeps_filter(const KernelConfig& config) { return is_halo(config) && config.gemm.filter_rows > 0; }
// Patches in flight: of a small image, all that it has. Beside a filter that stays, as many as there is room for.
constexpr int halo_patches(const KernelConfig& config) {
  constexpr int kMost = 4, kRoom = 96 * 1024, kAllRoom = 224 * 1024;
  if (keeps_filter(config)) {
    const int room = kAllRoom - config.gemm.stages * b_bytes(config) - out_bytes(config);
    const int fit = room / aligned(patch_bytes(config));
    return fit < 2 ? 2 : fit < kMost ? fit : kMost;
  }
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
         config.kind != Kind::kTcgen05Halo && config.direction != Direction::kBackwardWeight &&
         config.gemm.specialization != Specialization::kPatch && !stages_in_turns(config);
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
