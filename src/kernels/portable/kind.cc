// SPDX-License-Identifier: Apache-2.0
// kernels/portable/kind.cc - the pipelines that every target with matrix instructions has.
#include "kernels/portable/kind.h"

#include "kernels/beside/device/merge_groups_arguments.h"
#include "kernels/beside/device/split_sum_arguments.h"
#include "kernels/beside/filter_sums.h"
#include "kernels/portable/device/layout.h"

namespace wt::kinds {
namespace {

constexpr Pipeline kPipelines[] = {Pipeline::kBasicV2,   Pipeline::kMem,          Pipeline::kCompV3,
                                   Pipeline::kCompV4,    Pipeline::kCompV5,       Pipeline::kCompV6,
                                   Pipeline::kCompAsync, Pipeline::kBasicAsyncV1, Pipeline::kWavelet};
constexpr Target kTargets[] = {Target::kSm80,    Target::kSm90a,        Target::kSm100a,      Target::kSm103a,
                               Target::kSm110a,  Target::kSm120a,       Target::kSm121a,      Target::kGfx90a,
                               Target::kGfx942,  Target::kGfx950,       Target::kGfx1100,     Target::kGfx1201,
                               Target::kGfx1250, Target::kGfx11Generic, Target::kGfx12Generic};
constexpr std::string_view kReadFields[] = {"gemm.tile",
                                            "gemm.warps",
                                            "gemm.mma",
                                            "gemm.pipeline",
                                            "gemm.scheduler",
                                            "gemm.stages",
                                            "gemm.wave_groups",
                                            "gemm.double_buffer",
                                            "gemm.loader_a",
                                            "gemm.loader_b",
                                            "gemm.vector_a",
                                            "gemm.vector_b",
                                            "gemm.vector_c",
                                            "gemm.staging",
                                            "gemm.load_warps",
                                            "gemm.split_k",
                                            "gemm.stream_k",
                                            "gemm.stream_k_persistent",
                                            "gemm.groups_per_tile",
                                            "gemm.specialization",
                                            "gemm.explicit_gemm",
                                            "finite_only"};

int64_t shared_bytes(const KernelConfig& config) { return portable_layout::shared_bytes(config); }
// The template that adds partial sums in a launch of its own; empty: there are none.
std::string_view sum_class(const KernelConfig& config) {
  if (portable_layout::streams(config)) return "wt::PortableStreamSum";
  const SplitK split = config.gemm.split_k;
  return split == SplitK::kWorkspace || split == SplitK::kAtomic ? "wt::SplitSum" : "";
}

std::vector<LaunchEntry> entries(const KernelConfig& config) {
  std::vector<LaunchEntry> list;
  if (const std::string_view sum = sum_class(config); !sum.empty()) list.push_back({kSumSuffix, std::string(sum)});
  if (config.gemm.groups_per_tile > 1) list.push_back({kMergeSuffix, "wt::MergeGroups"});
  add_filter_sums_entry(config, list);
  return list;
}

}  // namespace

extern const KernelKind kPortable = {.id = Kind::kPortable,
                                     .header = "kernels/portable/device/kernel.h",
                                     .class_name = "wt::PortableGemm",
                                     .pipelines = kPipelines,
                                     .targets = kTargets,
                                     .fields = kReadFields,
                                     .propose = portable_kind::propose,
                                     .target_rows = portable_kind::target_rows,
                                     .problem_rows = portable_kind::problem_rows,
                                     .shared_bytes = shared_bytes,
                                     .registers = portable_kind::registers,
                                     .register_limit = portable_kind::register_limit,
                                     .predict = portable_kind::predict,
                                     .bind = portable_kind::bind,
                                     .entries = entries};

}  // namespace wt::kinds
