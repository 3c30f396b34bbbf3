// SPDX-License-Identifier: Apache-2.0
// kernels/tma_weight_few/proposals.cc - tiles of this kind.
#include "kernels/tma_weight_few/kind.h"

#include "kernels/tma_weight_few/device/layout.h"

namespace wt::tma_weight_few_kind {
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

void propose(const KernelConfig& base, const TargetInfo&, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (base.layout != Layout::kChannelsLast) return;
  if (breadth == Breadth::kFew || base.dims != 2 || size_of(base.x) != 2 || base.x != base.y) return;
  for (const Shape& shape : kShapes) {
    for (const unsigned char vector : {4, 2}) {
      KernelConfig config = base;
      config.min_blocks = 1;
      config.finite_only = true;
      GemmConfig& gemm = config.gemm;
      gemm.pipeline = Pipeline::kTma;
      gemm.tile = {shape.rows, 128, shape.pixels};
      gemm.mma = {64, shape.rows, 16};
      gemm.warps = {1, 8, 1};
      gemm.swap_ab = true;
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

}  // namespace wt::tma_weight_few_kind
