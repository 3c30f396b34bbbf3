// SPDX-License-Identifier: Apache-2.0
// kernels/four_wave_weight/proposals.cc - tiles of the four-wave weight gradient, its sum divided or whole.
#include <algorithm>

#include "kernels/device/gemm/storage.h"
#include "kernels/four_wave_weight/device/layout.h"
#include "kernels/four_wave_weight/kind.h"

namespace wt::four_wave_weight_kind {
namespace {

struct Shape {
  short m, n, k;
  short edge;  // of the matrix instruction
  bool few;
};
constexpr Shape kShapes[] = {{128, 128, 64, 32, true}, {64, 64, 64, 16, false},   {128, 64, 64, 16, false},
                             {64, 128, 64, 16, false}, {128, 128, 64, 16, false}, {128, 128, 32, 32, false}};

// The instruction with this edge that takes most along k.
const MmaShape* widest(const TargetInfo& target, DataType type, int edge) {
  const MmaShape* best = nullptr;
  for (const MmaShape& mma : target.mma) {
    if (mma.type != type || mma.shape.m != edge || mma.shape.n != edge) continue;
    if (!best || mma.shape.k > best->shape.k) best = &mma;
  }
  return best;
}

}  // namespace

void propose(const KernelConfig& base, const TargetInfo& target, Breadth breadth, std::vector<KernelConfig>& configs) {
  if (base.direction != Direction::kBackwardWeight || base.layout != Layout::kChannelsLast) return;
  if (base.x != base.y || size_of(base.x) != 2) return;
  const bool few = breadth == Breadth::kFew;
  if (few && base.dims != 2) return;
  for (const Shape& shape : kShapes) {
    const MmaShape* mma = widest(target, base.x, shape.edge);
    if (!mma || (few && !shape.few)) continue;
    for (const SplitK split : {SplitK::kWorkspace, SplitK::kNone}) {
      if (few && split == SplitK::kNone) continue;
      KernelConfig config = base;
      GemmConfig& gemm = config.gemm;
      gemm.pipeline = Pipeline::kFourWave;
      gemm.tile = {shape.m, shape.n, shape.k};
      gemm.warps = {2, 2, 1};
      gemm.mma = mma->shape;
      gemm.stages = 2;
      gemm.loader_a = Loader::kBufferRows;
      gemm.loader_b = Loader::kBufferLane;
      gemm.vector_a = static_cast<unsigned char>(four_wave_weight_layout::channels(config, shape.m));
      gemm.vector_b = static_cast<unsigned char>(four_wave_weight_layout::channels(config, shape.n));
      gemm.block_swizzle = 8;
      gemm.split_k = split;
      configs.push_back(config);
    }
  }
}

}  // namespace wt::four_wave_weight_kind
