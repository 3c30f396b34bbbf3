// SPDX-License-Identifier: Apache-2.0
// kernels/tma_halo/kind.cc - 3x3 and 3x1 filters: one patch with its halo serves every tap.
#include "kernels/tma_halo/kind.h"

#include "kernels/beside/device/split_sum_arguments.h"
#include "kernels/tma/device/layout.h"
#include "kernels/tma/seen.h"

namespace wt::kinds {
namespace {

constexpr Pipeline kPipelines[] = {Pipeline::kTma};
constexpr Target kTargets[] = {Target::kSm90a};
constexpr Direction kDirections[] = {Direction::kForward, Direction::kBackwardData};
constexpr std::string_view kReadFields[] = {
    "gemm.tile",         "gemm.warps",          "gemm.mma",       "gemm.pipeline",  "gemm.stages",
    "gemm.loader_a",     "gemm.loader_b",       "gemm.swizzle_a", "gemm.swizzle_b", "gemm.persistent",
    "gemm.load_warps",   "gemm.wave_groups",    "gemm.ping_pong", "gemm.raster",    "gemm.block_swizzle",
    "gemm.staging",      "gemm.specialization", "gemm.split_k",   "gemm.vector_c",  "gemm.groups_per_tile",
    "gemm.aligned_copy", "gemm.filter_rows",    "fixed.stride_h",
    "fixed.stride_w",    "finite_only"};

// Without a swizzle there is no box to count; the constraint tma-swizzle says so.
int64_t shared_bytes(const KernelConfig& config) {
  return tma_layout::box_k(config) > 0 ? tma_layout::shared_bytes(config) : 0;
}
// The template that adds partial sums in a launch of its own; empty: there are none.
std::string_view sum_class(const KernelConfig& config) {
  const SplitK split = config.gemm.split_k;
  return split == SplitK::kWorkspace || split == SplitK::kAtomic ? "wt::SplitSum" : "";
}

std::vector<LaunchEntry> entries(const KernelConfig& config) {
  std::vector<LaunchEntry> list = seen_entries(config);
  if (const std::string_view sum = sum_class(config); !sum.empty()) list.push_back({kSumSuffix, std::string(sum)});
  return list;
}

}  // namespace

extern const KernelKind kTmaHalo = {.id = Kind::kTmaHalo,
                                    .header = "kernels/tma_halo/device/entries.h",
                                    .class_name = "wt::TmaHaloGemm",
                                    .pipelines = kPipelines,
                                    .targets = kTargets,
                                    .directions = kDirections,
                                    .fields = kReadFields,
                                    .propose = tma_halo_kind::propose,
                                    .target_rows = tma_halo_kind::target_rows,
                                    .problem_rows = tma_halo_kind::problem_rows,
                                    .shared_bytes = shared_bytes,
                                    .register_limit = tma_layout::consumer_registers,
                                    .predict = tma_halo_kind::predict,
                                    .bind = tma_halo_kind::bind,
                                    .entries = entries};

}  // namespace wt::kinds
