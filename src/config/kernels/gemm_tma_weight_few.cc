// SPDX-License-Identifier: Apache-2.0
#include "config/kernels/gemm_tma_weight_few.h"

#include "kernel/gemm/tma/weight_few_layout.h"

namespace wt {
namespace {

constexpr int kSharedBytes = 227 * 1024;  // of a block
constexpr int kMaxStages = 6;

// Output channels, pixels of a stage and rows of taps. Nine taps read x once, but leave three times as many sums to
// add.
struct Shape {
  short rows, pixels;
  unsigned char tap_rows;
};
constexpr Shape kShapes[] = {{40, 128, 1}, {40, 160, 1}, {40, 96, 1}, {40, 64, 1}, {40, 128, 3}, {24, 128, 1}};

}  // namespace

void propose_weight_few(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (breadth == Breadth::kFew || base.dims != 2 || size_of(base.x) != 2 || base.x != base.y) return;
  for (const Shape& shape : kShapes) {
    for (const unsigned char vector : {4, 2}) {
      KernelConfig config = base;
      config.family = Family::kGemm;
      config.min_blocks = 1;
      config.finite_only = true;
      GemmConfig& gemm = config.gemm;
      gemm.pipeline = Pipeline::kTma;
      gemm.tile = {shape.rows, 128, shape.pixels};
      gemm.mma = {64, shape.rows, 16};
      gemm.warps = {1, 8, 1};
      gemm.load_warps = 4;
      gemm.loader_a = Loader::kAsync;
      gemm.loader_b = Loader::kTmaTiled;
      gemm.swizzle_a = gemm.swizzle_b = 128;
      gemm.specialization = Specialization::kFilter3x3;
      gemm.vector_a = vector;
      gemm.split_k = SplitK::kWorkspace;
      gemm.filter_rows = shape.tap_rows;
      for (gemm.stages = kMaxStages; weight_few::shared_bytes(config) > kSharedBytes;) --gemm.stages;
      configs.push_back(config);
    }
  }
}

}  // namespace wt
