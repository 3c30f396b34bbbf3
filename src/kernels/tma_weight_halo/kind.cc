// SPDX-License-Identifier: Apache-2.0
// kernels/tma_weight_halo/kind.cc - the weight gradient whose patches of x serve several taps.
#include "kernels/tma_weight_halo/kind.h"

#include "kernels/beside/device/split_sum_arguments.h"
#include "kernels/tma/seen.h"
#include "kernels/tma_weight/device/part.h"
#include "kernels/tma_weight_halo/device/layout.h"

namespace wt::kinds {
namespace {

constexpr Pipeline kPipelines[] = {Pipeline::kTma};
constexpr Target kTargets[] = {Target::kSm90a};
constexpr Direction kDirections[] = {Direction::kBackwardWeight};
constexpr std::string_view kReadFields[] = {
    "gemm.tile",          "gemm.warps",     "gemm.mma",          "gemm.pipeline",   "gemm.stages",     "gemm.loader_a",
    "gemm.loader_b",      "gemm.swizzle_a", "gemm.swizzle_b",    "gemm.persistent", "gemm.load_warps", "gemm.raster",
    "gemm.block_swizzle", "gemm.split_k",   "gemm.aligned_copy", "finite_only"};

// Without a swizzle there is no box to count; the constraint tma-swizzle says so.
int64_t shared_bytes(const KernelConfig& config) {
  return weight_halo::rows_of_box(config) > 0 ? weight_halo::shared_bytes(config) : 0;
}
// The template that adds partial sums in a launch of its own; empty: there are none.
std::string_view sum_class(const KernelConfig& config) {
  return weight_part::serves(config) ? "wt::TmaWeightHaloSum" : "";
}

std::vector<LaunchEntry> entries(const KernelConfig& config) {
  std::vector<LaunchEntry> list = seen_entries(config);
  if (const std::string_view sum = sum_class(config); !sum.empty()) list.push_back({kSumSuffix, std::string(sum)});
  return list;
}

}  // namespace

extern const KernelKind kTmaWeightHalo = {.id = Kind::kTmaWeightHalo,
                                          .header = "kernels/tma_weight_halo/device/entries.h",
                                          .class_name = "wt::TmaWeightHaloGemm",
                                          .pipelines = kPipelines,
                                          .targets = kTargets,
                                          .directions = kDirections,
                                          .fields = kReadFields,
                                          .propose = tma_weight_halo_kind::propose,
                                          .target_rows = tma_weight_halo_kind::target_rows,
                                          .problem_rows = tma_weight_halo_kind::problem_rows,
                                          .shared_bytes = shared_bytes,
                                          .register_limit = tma_layout::consumer_registers,
                                          .predict = tma_weight_halo_kind::predict,
                                          .bind = tma_weight_halo_kind::bind,
                                          .entries = entries};

}  // namespace wt::kinds
