// SPDX-License-Identifier: Apache-2.0
// kernels/portable/device/layout.h - how the portable kernels divide their warps, their loads and their shared memory.
//
// Freestanding: the host asks for threads and bytes by the same functions that the kernel lays out by.
#pragma once

#include "kernels/device/gemm/storage.h"

namespace wt::portable_layout {

inline constexpr int kChunkBytes = 16;  // what a thread writes to shared memory at once

// Elements of a tensor that a launch can reach: its indices have 32 bits. Larger ones are divided by images, some to
// each of several launches.
inline constexpr long long kIndexLimit = 1LL << 31;

constexpr int smaller(int a, int b) { return a < b ? a : b; }
constexpr int larger(int a, int b) { return a > b ? a : b; }

constexpr int warp_size(Target target) {
  return target == Target::kGfx90a || target == Target::kGfx942 || target == Target::kGfx950 ? 64 : 32;
}

// Warps that hold the sums of one tile between them, and how many sums of it a block has: of warps that share k, or of
// compv5's groups. They are added at the end.
constexpr int sum_warps(const KernelConfig& config) { return config.gemm.warps.m * config.gemm.warps.n; }
constexpr int sums(const KernelConfig& config) { return config.gemm.warps.k * config.gemm.wave_groups; }

// Threads that multiply one tile of operands, that load one, and of the block.
constexpr int math_threads(const KernelConfig& config) {
  return sum_warps(config) * config.gemm.warps.k * warp_size(config.target);
}
constexpr int load_threads(const KernelConfig& config) {
  return config.gemm.load_warps ? config.gemm.load_warps * warp_size(config.target) : math_threads(config);
}
constexpr int threads(const KernelConfig& config) {
  return math_threads(config) * config.gemm.wave_groups + config.gemm.load_warps * warp_size(config.target);
}

// Tiles of operands in shared memory, and on their way in a thread's registers.
constexpr bool has_chosen_buffers(Pipeline pipeline) {  // one or two, whatever their stages are
  return pipeline == Pipeline::kBasicV2 || pipeline == Pipeline::kMem || pipeline == Pipeline::kCompV3 ||
         pipeline == Pipeline::kCompV6;
}
constexpr int buffers(const KernelConfig& config) {
  if (has_chosen_buffers(config.gemm.pipeline)) return config.gemm.double_buffer ? 2 : 1;
  return config.gemm.stages;
}
constexpr bool is_async(const KernelConfig& config) { return config.gemm.loader_a == Loader::kAsync; }
// CDNA copies to shared memory a wave at a time: its chunks follow each other there.
constexpr bool copies_waves(const KernelConfig& config) { return is_async(config) && warp_size(config.target) == 64; }
// AMD loads by offsets from the tensor's start, of which one means zeros: no branch stands between loads and products.
// WHY not narrow vectors in the loops that have no schedule: a chunk of them has as many offsets, which with several
// tiles on their way are too many registers.
constexpr bool aims(const KernelConfig& config, int vectors) {
  const Pipeline pipeline = config.gemm.pipeline;
  const bool scheduled = pipeline == Pipeline::kCompV3 || pipeline == Pipeline::kCompV4 ||
                         pipeline == Pipeline::kCompV5 || pipeline == Pipeline::kWavelet;
  return is_amd(config.target) && (vectors == 1 || scheduled);
}
constexpr int register_tiles(const KernelConfig& config) {
  if (is_async(config)) return 0;
  return config.gemm.pipeline == Pipeline::kMem || config.gemm.pipeline == Pipeline::kCompV6 ? config.gemm.stages : 1;
}

// Operands lie along k in shared memory as they do in global memory, or across it: columns of channels, a row of k
// each.
//   forward: x, w along;   backward data: dy along, w across;   backward weight: dy, x across
constexpr bool a_lies_across(const KernelConfig& config) { return config.direction == Direction::kBackwardWeight; }
constexpr bool b_lies_across(const KernelConfig& config) { return config.direction != Direction::kForward; }

constexpr int element_bytes(const KernelConfig& config) { return size_of(operand_a(config)); }
constexpr int chunk(const KernelConfig& config) { return kChunkBytes / element_bytes(config); }  // elements

// Elements of a tensor that a launch of this kernel can reach. AMD's loads count bytes.
constexpr long long index_limit(const KernelConfig& config) {
  return is_amd(config.target) ? kIndexLimit / element_bytes(config) : kIndexLimit;
}

// Bytes of a row in shared memory, which is also the span of its swizzle.
constexpr int along_span(const KernelConfig& config) { return config.gemm.tile.k * element_bytes(config); }
constexpr int across_span(const KernelConfig& config, int extent) {
  return smaller(128, extent * element_bytes(config));
}

constexpr int operand_bytes(const KernelConfig& config, int extent) {
  return extent * config.gemm.tile.k * element_bytes(config);
}
constexpr int a_bytes(const KernelConfig& config) { return operand_bytes(config, config.gemm.tile.m); }
constexpr int b_bytes(const KernelConfig& config) { return operand_bytes(config, config.gemm.tile.n); }

// Chunks of one k-block that a thread loads.
constexpr int chunks_of_thread(const KernelConfig& config, int extent) {
  return operand_bytes(config, extent) / (kChunkBytes * load_threads(config));
}

// Accumulators leave through shared memory, one matrix instruction's rows of every warp at a time.
constexpr int out_rows(const KernelConfig& config) { return config.gemm.warps.m * config.gemm.mma.m; }
// fp32, with room against bank conflicts where a wave's lanes are two rows of them. MFMA's are whole rows.
constexpr int out_pitch(const KernelConfig& config) {
  return config.gemm.tile.n + (warp_size(config.target) == 64 ? 0 : 4);
}
constexpr int out_bytes(const KernelConfig& config) {
  return config.gemm.staging == Staging::kShared ? out_rows(config) * out_pitch(config) * 4 : 0;
}

// Stream-K: a tile whose sum is shared by blocks is kept in parts of so many fp32.
constexpr bool streams(const KernelConfig& config) { return config.gemm.stream_k != StreamK::kOff; }
constexpr int part_elements(const KernelConfig& config) { return config.gemm.tile.m * config.gemm.tile.n; }

constexpr int shared_bytes(const KernelConfig& config) {
  return larger(buffers(config) * (a_bytes(config) + b_bytes(config)), out_bytes(config));
}

}  // namespace wt::portable_layout
