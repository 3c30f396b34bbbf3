// SPDX-License-Identifier: Apache-2.0
// config/kernels/gemm_basic.cc - the generic kernel: implicit GEMM by plain loads, any problem, type, layout, target.
#include "config/kernels.h"
#include "kernel/gemm/storage.h"

namespace wt {

namespace {

constexpr Pipeline kPipelines[] = {Pipeline::kBasicV1};
constexpr std::string_view kReadFields[] = {"gemm.tile", "gemm.warps", "gemm.mma", "gemm.pipeline"};

struct Shape {
  Extent3 tile, warps;
  Breadth breadth;
};

// Large, square and narrow tiles. Narrow ones serve few output channels (n) and small weights (m).
constexpr Shape kShapes[] = {
    {{64, 64, 32}, {2, 2, 1}, Breadth::kFew},  {{128, 128, 32}, {4, 2, 1}, Breadth::kFew},
    {{128, 16, 32}, {4, 1, 1}, Breadth::kFew}, {{128, 64, 32}, {4, 1, 1}, Breadth::kAll},
    {{128, 64, 32}, {2, 2, 1}, Breadth::kAll}, {{64, 128, 32}, {2, 2, 1}, Breadth::kAll},
    {{64, 128, 32}, {1, 4, 1}, Breadth::kAll}, {{128, 128, 32}, {2, 4, 1}, Breadth::kAll},
    {{32, 32, 32}, {1, 1, 1}, Breadth::kAll},  {{32, 32, 32}, {2, 2, 1}, Breadth::kAll},
    {{16, 64, 32}, {1, 4, 1}, Breadth::kAll},  {{64, 16, 32}, {4, 1, 1}, Breadth::kAll},
    {{64, 32, 32}, {4, 1, 1}, Breadth::kAll},  {{32, 128, 32}, {1, 4, 1}, Breadth::kAll},
    {{64, 64, 64}, {2, 2, 1}, Breadth::kAll},  {{128, 32, 64}, {4, 1, 1}, Breadth::kAll},
};

void propose(const KernelConfig& base, const TargetInfo& target, Breadth breadth, std::vector<KernelConfig>& configs) {
  for (const Shape& shape : kShapes) {
    if (breadth == Breadth::kFew && shape.breadth != Breadth::kFew) continue;
    bool first = true;
    for (const MmaShape& mma : mma_shapes(target, multiply_type(base))) {
      if (!mma.portable || (breadth == Breadth::kFew && !first)) continue;
      first = false;
      KernelConfig config = base;
      config.family = Family::kGemm;
      config.gemm.pipeline = Pipeline::kBasicV1;
      config.gemm.tile = shape.tile;
      config.gemm.warps = shape.warps;
      config.gemm.mma = mma.shape;
      configs.push_back(config);
    }
  }
}

}  // namespace

extern const KernelKind kGemmBasic = {.id = "gemm-basic",
                                      .header = "kernel/gemm/kernel.h",
                                      .class_name = "wt::GemmKernel",
                                      .family = Family::kGemm,
                                      .pipelines = kPipelines,
                                      .targets = {},
                                      .fields = kReadFields,
                                      .generic = true,
                                      .propose = propose};

}  // namespace wt
