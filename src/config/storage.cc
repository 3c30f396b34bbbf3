// SPDX-License-Identifier: Apache-2.0
#include "config/storage.h"

#include <algorithm>

#include "kernel/gemm/four_wave/layout.h"
#include "kernel/gemm/portable/layout.h"
#include "kernel/gemm/rows/layout.h"
#include "kernel/gemm/rows/weight_layout.h"
#include "kernel/gemm/storage.h"
#include "kernel/gemm/taps/layout.h"
#include "kernel/gemm/tma/layout.h"
#include "kernel/gemm/tma/weight_few_layout.h"
#include "kernel/gemm/tma/weight_halo_layout.h"
#include "kernel/gemm/wavelet/layout.h"

namespace wt {

namespace {

// Addressing, loop counters and values under way: an estimate, between what the generic and the Hopper kernels take.
constexpr int kAddressRegisters = 48;
constexpr int kPixelRegisters = 24;  // coordinates of pixels that are the sum of a weight gradient

int ceil_divide(int64_t a, int64_t b) { return static_cast<int>((a + b - 1) / b); }

int product(const Extent3& extent) { return extent.m * extent.n * extent.k; }

}  // namespace

int threads_of(const KernelConfig& config) {
  if (config.family == Family::kDirect) return config.direct.block_size;
  const int warp = info_of(config.target).warp_size;
  return (product(config.gemm.warps) * config.gemm.wave_groups + config.gemm.load_warps) * warp;
}

int64_t shared_bytes_of(const KernelConfig& config) {
  if (config.family == Family::kDirect) return 0;
  const GemmConfig& gemm = config.gemm;
  if (gemm.pipeline == Pipeline::kBasicV1) return shared_bytes(config);
  // Without a swizzle there is no box to count; the constraint tma-swizzle says so.
  if (weight_halo::serves(config) && weight_halo::rows_of_box(config) > 0) return weight_halo::shared_bytes(config);
  if (weight_few::serves(config)) return weight_few::shared_bytes(config);
  if (gemm.pipeline == Pipeline::kTma && tma_layout::box_k(config) > 0) return tma_layout::shared_bytes(config);
  if (portable_layout::serves(config)) return portable_layout::shared_bytes(config);
  if (gemm.pipeline == Pipeline::kFourWave) return four_wave_layout::shared_bytes(config);
  if (gemm.pipeline == Pipeline::kWavelet) return wavelet_layout::shared_bytes(config);
  if (gemm.pipeline == Pipeline::kTaps) return taps_layout::shared_bytes(config, 1, 0);  // more for a given problem
  if (rows_weight_layout::serves(config)) return rows_weight_layout::shared_bytes(config, 0, 0);
  if (gemm.pipeline == Pipeline::kRows) return rows_layout::shared_bytes(config, 1, 0);
  const int64_t stages = int64_t{gemm.stages} * gemm_storage::tile_bytes(config);
  const int64_t out_m = gemm.out_tile_m ? gemm.out_tile_m : gemm.tile.m;
  const int64_t out_n = gemm.out_tile_n ? gemm.out_tile_n : gemm.tile.n;
  const int64_t out = gemm.staging == Staging::kDirect ? 0 : out_m * out_n * size_of(output_type(config));
  return gemm_storage::coordinate_bytes(config) + stages + out;
}

int registers_of(const KernelConfig& config) {
  if (config.family == Family::kDirect) return kAddressRegisters + config.direct.sub_h * config.direct.sub_w;
  const GemmConfig& gemm = config.gemm;
  const int warp = info_of(config.target).warp_size;
  const int64_t m = gemm.tile.m / std::max<int>(gemm.warps.m, 1), n = gemm.tile.n / std::max<int>(gemm.warps.n, 1);
  const int accumulators = ceil_divide(m * n, warp);
  const MmaShape* mma = find_mma(info_of(config.target), multiply_type(config), gemm.mma);
  // wgmma and tcgen05 read their operands from shared memory.
  if (mma && (mma->path == MmaPath::kWgmma || mma->path == MmaPath::kTcgen05)) return kAddressRegisters + accumulators;
  const int fragments = ceil_divide((m + n) * gemm.mma.k * size_of(multiply_type(config)), int64_t{warp} * 4);
  if (portable_layout::serves(config)) {
    // Whole chunks wait in registers; compv3 and interwave hold every fragment of a tile.
    const int chunks =
        portable_layout::chunks_of_thread(config, gemm.tile.m) + portable_layout::chunks_of_thread(config, gemm.tile.n);
    const bool all = gemm.pipeline == Pipeline::kCompV3 || gemm.scheduler == Scheduler::kInterwave;
    const int slices = all ? gemm.tile.k / gemm.mma.k : 2;
    const int held = 4 * chunks * portable_layout::register_tiles(config);
    const int copies = config.target == Target::kGfx1100 ? 2 : 1;  // RDNA3 holds A and B in both halves of the lanes
    const int addresses = kAddressRegisters + (portable_layout::a_lies_across(config) ? kPixelRegisters : 0);
    if (mma && mma->path == MmaPath::kFma) {
      // Fragments of multiply-adds hold all k of an eighth of the rows and a quarter of the columns.
      const auto b = static_cast<int>(n / 4 * gemm.mma.k);
      const auto a = static_cast<int>((all ? m : gemm.mma.m) / 8 * gemm.mma.k);
      return addresses + accumulators + (a + b) * (all ? slices : 1) + held;
    }
    return addresses + accumulators + fragments * slices * copies + held;
  }
  // Elements on their way to shared memory wait in registers, one each; they and the fragments do not live together.
  const bool through_registers = gemm.loader_a == Loader::kGather || gemm.loader_b == Loader::kGather;
  const int64_t loading = int64_t{warp} * (gemm.load_warps ? gemm.load_warps : product(gemm.warps));
  const int staged = through_registers
                         ? ceil_divide(int64_t{gemm.tile.m + gemm.tile.n} * gemm.tile.k, std::max<int64_t>(loading, 1))
                         : 0;
  return kAddressRegisters + accumulators + std::max(fragments, staged);
}

int register_limit(const KernelConfig& config) {
  if (config.family == Family::kGemm && config.gemm.pipeline == Pipeline::kTma)
    return tma_layout::consumer_registers(config);
  if (config.family == Family::kGemm && config.gemm.pipeline == Pipeline::kWavelet && config.gemm.warps.m >= 4 &&
      config.min_blocks > 0 && !portable_layout::serves(config))
    return wavelet_layout::math_registers(config);
  const TargetInfo& info = info_of(config.target);
  const int blocks = std::max<int>(config.min_blocks, 1);
  const int64_t registers = info.registers_per_unit / blocks, threads = std::max(threads_of(config), 1);
  return static_cast<int>(std::min<int64_t>(info.registers_per_thread, registers / threads));
}

}  // namespace wt
