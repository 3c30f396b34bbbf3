// SPDX-License-Identifier: Apache-2.0
// kernels/basic/kind.cc - the generic implicit GEMM: any valid problem.
#include "kernels/basic/kind.h"

#include "kernels/beside/filter_sums.h"
#include "kernels/device/gemm/storage.h"

namespace wt::kinds {
namespace {

constexpr Pipeline kPipelines[] = {Pipeline::kBasicV1};
constexpr std::string_view kReadFields[] = {"gemm.tile", "gemm.warps", "gemm.mma", "gemm.pipeline"};

int64_t shared_bytes(const KernelConfig& config) { return wt::shared_bytes(config); }

std::vector<LaunchEntry> entries(const KernelConfig& config) {
  std::vector<LaunchEntry> list;
  add_filter_sums_entry(config, list);
  return list;
}

}  // namespace

extern const KernelKind kBasic = {.id = Kind::kBasic,
                                  .header = "kernels/basic/device/kernel.h",
                                  .class_name = "wt::BasicGemm",
                                  .pipelines = kPipelines,
                                  .fields = kReadFields,
                                  .generic = true,
                                  .scaled = true,
                                  .propose = basic_kind::propose,
                                  .shared_bytes = shared_bytes,
                                  .predict = basic_kind::predict,
                                  .bind = basic_kind::bind,
                                  .entries = entries};

}  // namespace wt::kinds
