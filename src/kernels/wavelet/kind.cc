// SPDX-License-Identifier: Apache-2.0
// kernels/wavelet/kind.cc - Hopper's kernel whose load warps gather: any channels and alignment.
#include "kernels/wavelet/kind.h"

#include "base/integers.h"
#include "kernels/beside/device/split_sum_arguments.h"
#include "kernels/resources.h"
#include "kernels/wavelet/device/layout.h"
#include "problem/gemm_view.h"

namespace wt::kinds {
namespace {

constexpr Pipeline kPipelines[] = {Pipeline::kWavelet};
constexpr Target kTargets[] = {Target::kSm90a,  Target::kSm100a, Target::kSm103a,
                               Target::kSm110a, Target::kSm120a, Target::kSm121a};
constexpr std::string_view kReadFields[] = {"gemm.tile",       "gemm.warps",      "gemm.mma",      "gemm.pipeline",
                                            "gemm.stages",     "gemm.loader_a",   "gemm.loader_b", "gemm.swizzle_a",
                                            "gemm.swizzle_b",  "gemm.persistent", "gemm.vector_a", "gemm.vector_b",
                                            "gemm.load_warps", "gemm.split_k",    "finite_only"};

int64_t shared_bytes(const KernelConfig& config) { return wavelet_layout::shared_bytes(config); }
int register_limit(const KernelConfig& config) {
  const bool whole = config.gemm.warps.m >= 4 && config.min_blocks > 0;
  return whole ? wavelet_layout::math_registers(config) : occupancy_registers(config);
}
// The template that adds partial sums in a launch of its own; empty: there are none.
std::string_view sum_class(const KernelConfig& config) {
  const SplitK split = config.gemm.split_k;
  return split == SplitK::kWorkspace || split == SplitK::kAtomic ? "wt::SplitSum" : "";
}

std::vector<LaunchEntry> entries(const KernelConfig& config) {
  std::vector<LaunchEntry> list;
  if (const std::string_view sum = sum_class(config); !sum.empty()) list.push_back({kSumSuffix, std::string(sum)});
  return list;
}
// Rows are what is gathered under the taps: x, or dy.
TileCount tile_count(const KernelConfig& config, const View& seen) {
  const ConvProblem& problem = seen.problem();
  const GemmView view = gemm_view(problem);
  const Extent3& tile = config.gemm.tile;
  const int64_t rows = config.finite_only ? view.m * problem.filter_taps() : view.n;
  const int64_t columns = config.finite_only ? problem.c_per_group() : view.m;
  return {view.batch * ceil_div(rows, tile.m) * ceil_div(columns, tile.n), ceil_div(view.k, tile.k)};
}

}  // namespace

extern const KernelKind kWavelet = {.id = Kind::kWavelet,
                                    .header = "kernels/wavelet/device/entries.h",
                                    .class_name = "wt::WaveletKernel",
                                    .pipelines = kPipelines,
                                    .targets = kTargets,
                                    .fields = kReadFields,
                                    .propose = wavelet_kind::propose,
                                    .target_rows = wavelet_kind::target_rows,
                                    .problem_rows = wavelet_kind::problem_rows,
                                    .shared_bytes = shared_bytes,
                                    .register_limit = register_limit,
                                    .predict = wavelet_kind::predict,
                                    .bind = wavelet_kind::bind,
                                    .entries = entries,
                                    .tile_count = tile_count};

}  // namespace wt::kinds
