// SPDX-License-Identifier: Apache-2.0
#include "kernels/resources.h"

#include <algorithm>

#include "base/integers.h"
#include "kernels/device/gemm/storage.h"
#include "kernels/kind.h"

namespace wt {

namespace {

int ceil_divide(int64_t a, int64_t b) { return static_cast<int>((a + b - 1) / b); }

int product(const Extent3& extent) { return extent.m * extent.n * extent.k; }

}  // namespace

int threads_of(const KernelConfig& config) {
  if (config.family() == Family::kDirect) return config.direct.block_size;
  const int warp = info_of(config.target).warp_size;
  return (product(config.gemm.warps) * config.gemm.wave_groups + config.gemm.load_warps) * warp;
}

int64_t shared_bytes_of(const KernelConfig& config) {
  const auto bytes = kind_of(config.kind).shared_bytes;
  return bytes ? bytes(config) : 0;
}

int accumulators_of(const KernelConfig& config) {
  const GemmConfig& gemm = config.gemm;
  const int64_t m = gemm.tile.m / std::max<int>(gemm.warps.m, 1), n = gemm.tile.n / std::max<int>(gemm.warps.n, 1);
  return ceil_divide(m * n, info_of(config.target).warp_size);
}

int fragments_of(const KernelConfig& config) {
  const GemmConfig& gemm = config.gemm;
  const int64_t m = gemm.tile.m / std::max<int>(gemm.warps.m, 1), n = gemm.tile.n / std::max<int>(gemm.warps.n, 1);
  return ceil_divide((m + n) * gemm.mma.k * size_of(multiply_type(config)),
                     int64_t{info_of(config.target).warp_size} * 4);
}

// A, and B of 32 columns, as target/warpgroup_mma.h holds them.
constexpr int kWarpgroupFragments = 12;

bool multiplies_by_warpgroup(Kind kind) {
  return kind == Kind::kRows || kind == Kind::kRowsWeight || kind == Kind::kTaps || kind == Kind::kWavelet;
}

int registers_of(const KernelConfig& config) {
  if (const auto own = kind_of(config.kind).registers) return own(config);
  if (config.family() == Family::kDirect) return kAddressRegisters + config.direct.sub_w;
  const GemmConfig& gemm = config.gemm;
  const int accumulators = accumulators_of(config);
  const MmaShape* mma = find_mma(info_of(config.target), multiply_type(config), gemm.mma);
  if (multiplies_by_warpgroup(config.kind) && !has_wgmma(config.target))
    return kAddressRegisters + accumulators + kWarpgroupFragments;
  // wgmma and tcgen05 read their operands from shared memory.
  if (mma && (mma->path == MmaPath::kWgmma || mma->path == MmaPath::kTcgen05)) return kAddressRegisters + accumulators;
  // Elements on their way to shared memory wait in registers, one each; they and the fragments do not live together.
  const bool through_registers = gemm.loader_a == Loader::kGather || gemm.loader_b == Loader::kGather;
  const int64_t loading =
      int64_t{info_of(config.target).warp_size} * (gemm.load_warps ? gemm.load_warps : product(gemm.warps));
  const int staged = through_registers
                         ? ceil_divide(int64_t{gemm.tile.m + gemm.tile.n} * gemm.tile.k, std::max<int64_t>(loading, 1))
                         : 0;
  return kAddressRegisters + accumulators + std::max(fragments_of(config), staged);
}

int64_t resident_blocks(const KernelConfig& config, int registers) {
  constexpr int kGranule = 8;  // of registers that are given out
  const TargetInfo& target = info_of(config.target);
  const int64_t threads = std::max(threads_of(config), 1), shared = shared_bytes_of(config);
  int64_t blocks = target.threads_per_unit / threads;
  if (registers > 0) blocks = std::min(blocks, target.registers_per_unit / (round_up(registers, kGranule) * threads));
  if (shared > 0) blocks = std::min(blocks, target.shared_per_unit / shared);
  return std::max<int64_t>(blocks, 1);
}

int occupancy_registers(const KernelConfig& config) {
  const TargetInfo& info = info_of(config.target);
  const int blocks = std::max<int>(config.min_blocks, 1);
  const int64_t registers = info.registers_per_unit / blocks, threads = std::max(threads_of(config), 1);
  return static_cast<int>(std::min<int64_t>(info.registers_per_thread, registers / threads));
}

int register_limit(const KernelConfig& config) {
  const auto own = kind_of(config.kind).register_limit;
  return own ? own(config) : occupancy_registers(config);
}

}  // namespace wt
