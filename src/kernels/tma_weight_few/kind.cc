// SPDX-License-Identifier: Apache-2.0
// kernels/tma_weight_few/kind.cc - the weight gradient of few output channels.
#include "kernels/tma_weight_few/kind.h"

#include "base/format.h"
#include "kernels/beside/device/split_sum_arguments.h"
#include "kernels/tma_weight/device/part.h"
#include "kernels/tma_weight_few/device/layout.h"
#include "kernels/tma_weight_few/view.h"

namespace wt::kinds {
namespace {

constexpr Pipeline kPipelines[] = {Pipeline::kTma};
constexpr Target kTargets[] = {Target::kSm90a};
constexpr Direction kDirections[] = {Direction::kBackwardWeight};
constexpr std::string_view kReadFields[] = {
    "gemm.tile",     "gemm.warps",     "gemm.mma",       "gemm.pipeline",    "gemm.stages",     "gemm.loader_a",
    "gemm.loader_b", "gemm.swizzle_a", "gemm.swizzle_b", "gemm.persistent",  "gemm.load_warps", "gemm.specialization",
    "gemm.vector_a", "gemm.swap_ab",   "gemm.split_k",   "gemm.filter_rows", "finite_only"};

int64_t shared_bytes(const KernelConfig& config) { return weight_few::shared_bytes(config); }
// The template that adds partial sums in a launch of its own; empty: there are none.
std::string_view sum_class(const KernelConfig& config) {
  return weight_part::serves(config) ? "wt::TmaWeightFewSum" : "";
}

std::vector<LaunchEntry> entries(const KernelConfig& config) {
  std::vector<LaunchEntry> list;
  if (const std::string_view sum = sum_class(config); !sum.empty()) list.push_back({kSumSuffix, std::string(sum)});
  return list;
}
TileCount tile_count(const KernelConfig& config, const View& seen) {
  const WeightFewView view = weight_few_view(config, seen);
  return {view.tiles(), view.blocks};
}

std::vector<std::string> small_sizes(const KernelConfig& config) {
  return {fmt::format("c64 k{} i9x9 f3x3 p1", config.gemm.tile.m - 4)};
}

}  // namespace

extern const KernelKind kTmaWeightFew = {.id = Kind::kTmaWeightFew,
                                         .header = "kernels/tma_weight_few/device/entries.h",
                                         .class_name = "wt::TmaWeightFewGemm",
                                         .pipelines = kPipelines,
                                         .targets = kTargets,
                                         .directions = kDirections,
                                         .fields = kReadFields,
                                         .propose = tma_weight_few_kind::propose,
                                         .target_rows = tma_weight_few_kind::target_rows,
                                         .problem_rows = tma_weight_few_kind::problem_rows,
                                         .shared_bytes = shared_bytes,
                                         .register_limit = tma_layout::consumer_registers,
                                         .predict = tma_weight_few_kind::predict,
                                         .bind = tma_weight_few_kind::bind,
                                         .entries = entries,
                                         .tile_count = tile_count,
                                         .small_sizes = small_sizes};

}  // namespace wt::kinds
