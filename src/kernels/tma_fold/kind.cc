// SPDX-License-Identifier: Apache-2.0
// kernels/tma_fold/kind.cc - few output channels: the taps of a filter row side by side along n.
#include "kernels/tma_fold/kind.h"

#include "kernels/tma/device/layout.h"

namespace wt::kinds {
namespace {

constexpr Pipeline kPipelines[] = {Pipeline::kTma};
constexpr Target kTargets[] = {Target::kSm90a};
constexpr Direction kDirections[] = {Direction::kForward};
constexpr std::string_view kReadFields[] = {
    "gemm.tile",      "gemm.warps",     "gemm.mma",           "gemm.pipeline",   "gemm.stages",     "gemm.loader_a",
    "gemm.loader_b",  "gemm.swizzle_a", "gemm.swizzle_b",     "gemm.persistent", "gemm.load_warps", "gemm.wave_groups",
    "gemm.ping_pong", "gemm.raster",    "gemm.block_swizzle", "gemm.staging",    "gemm.vector_c",   "fixed.filter_w"};

// Without a swizzle, whole warpgroups or taps there is nothing to count; the constraint rows say so.
int64_t shared_bytes(const KernelConfig& config) {
  const bool counts = tma_layout::box_k(config) > 0 && config.gemm.warps.m >= 4 && config.fixed.filter_w > 1;
  return counts ? tma_layout::shared_bytes(config) : 0;
}

}  // namespace

extern const KernelKind kTmaFold = {.id = Kind::kTmaFold,
                                    .header = "kernels/tma_fold/device/kernel.h",
                                    .class_name = "wt::TmaFoldGemm",
                                    .pipelines = kPipelines,
                                    .targets = kTargets,
                                    .directions = kDirections,
                                    .fields = kReadFields,
                                    .propose = tma_fold_kind::propose,
                                    .target_rows = tma_fold_kind::target_rows,
                                    .problem_rows = tma_fold_kind::problem_rows,
                                    .shared_bytes = shared_bytes,
                                    .register_limit = tma_layout::consumer_registers,
                                    .predict = tma_fold_kind::predict,
                                    .bind = tma_fold_kind::bind};

}  // namespace wt::kinds
