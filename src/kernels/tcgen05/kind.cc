// SPDX-License-Identifier: Apache-2.0
// kernels/tcgen05/kind.cc - Blackwell's kernels by bulk tensor copies and products into tensor memory.
#include "kernels/tcgen05/kind.h"

#include "kernels/beside/device/split_sum_arguments.h"
#include "kernels/tcgen05/device/layout.h"
#include "kernels/tma/seen.h"

namespace wt::kinds {
namespace {

constexpr Pipeline kPipelines[] = {Pipeline::kTcgen05};
constexpr Target kTargets[] = {Target::kSm100a, Target::kSm103a, Target::kSm110a};
constexpr std::string_view kReadFields[] = {"gemm.tile",          "gemm.warps",           "gemm.mma",
                                            "gemm.pipeline",      "gemm.stages",          "gemm.loader_a",
                                            "gemm.loader_b",      "gemm.swizzle_a",       "gemm.swizzle_b",
                                            "gemm.persistent",    "gemm.raster",          "gemm.block_swizzle",
                                            "gemm.staging",       "gemm.specialization",  "gemm.split_k",
                                            "gemm.vector_c",      "gemm.cluster_m",       "gemm.cluster_n",
                                            "gemm.multicast_a",   "gemm.multicast_b",     "gemm.load_warps",
                                            "gemm.double_buffer", "gemm.groups_per_tile", "gemm.aligned_copy",
                                            "finite_only"};

int64_t shared_bytes(const KernelConfig& config) {
  return tma_layout::box_k(config) > 0 ? tcgen05_layout::shared_bytes(config) : 0;
}
// A chunk of 64 columns and 32 rows a warp, and addresses; sums lie in tensor memory.
int registers(const KernelConfig&) { return 128; }

std::vector<LaunchEntry> entries(const KernelConfig& config) {
  std::vector<LaunchEntry> list = seen_entries(config);
  if (config.gemm.split_k == SplitK::kWorkspace) list.push_back({kSumSuffix, "wt::SplitSum"});
  return list;
}

}  // namespace

extern const KernelKind kTcgen05 = {.id = Kind::kTcgen05,
                                    .header = "kernels/tcgen05/device/entries.h",
                                    .class_name = "wt::Tcgen05Kernel",
                                    .pipelines = kPipelines,
                                    .targets = kTargets,
                                    .fields = kReadFields,
                                    .propose = tcgen05_kind::propose,
                                    .target_rows = tcgen05_kind::target_rows,
                                    .problem_rows = tcgen05_kind::problem_rows,
                                    .shared_bytes = shared_bytes,
                                    .registers = registers,
                                    .predict = tcgen05_kind::predict,
                                    .bind = tcgen05_kind::bind,
                                    .entries = entries};

}  // namespace wt::kinds
