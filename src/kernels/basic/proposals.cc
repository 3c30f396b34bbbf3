// SPDX-License-Identifier: Apache-2.0
// kernels/basic/proposals.cc - the generic kernel: implicit GEMM by plain loads, any problem, type, layout, target.
#include "kernels/basic/kind.h"
#include "kernels/device/gemm/storage.h"

namespace wt::basic_kind {
namespace {

struct Shape {
  Extent3 tile, warps;
};

// Large, square and narrow tiles. Narrow ones serve few output channels (n) and small weights (m).
constexpr Shape kShapes[] = {
    {{64, 64, 32}, {2, 2, 1}},  {{128, 16, 32}, {4, 1, 1}}, {{128, 128, 32}, {4, 2, 1}}, {{128, 64, 32}, {4, 1, 1}},
    {{128, 64, 32}, {2, 2, 1}}, {{64, 128, 32}, {2, 2, 1}}, {{64, 128, 32}, {1, 4, 1}},  {{128, 128, 32}, {2, 4, 1}},
    {{32, 32, 32}, {1, 1, 1}},  {{32, 32, 32}, {2, 2, 1}},  {{16, 64, 32}, {1, 4, 1}},   {{64, 16, 32}, {4, 1, 1}},
    {{64, 32, 32}, {4, 1, 1}},  {{32, 128, 32}, {1, 4, 1}}, {{64, 64, 64}, {2, 2, 1}},   {{128, 32, 64}, {4, 1, 1}},
};

// As best guesses: one tile for every signature, and a narrow one where small groups are usual.
size_t few_shapes(const KernelConfig& base) {
  return base.layout == Layout::kChannelsLast && size_of(operand_a(base)) == 2 ? 2 : 1;
}

}  // namespace

void propose(const KernelConfig& base, const TargetInfo& target, Breadth breadth, std::vector<KernelConfig>& configs) {
  const bool all = breadth == Breadth::kAll;
  for (const Shape& shape : std::span(kShapes).first(all ? std::size(kShapes) : few_shapes(base))) {
    bool first = true;
    // Portable ones come first. Where there is none, the first stands for them all, to be declined with the reason.
    for (const MmaShape& mma : mma_shapes(target, multiply_type(base))) {
      if (!mma.portable && !first) break;
      first = false;
      KernelConfig config = base;
      config.gemm.pipeline = Pipeline::kBasicV1;
      config.gemm.tile = shape.tile;
      config.gemm.warps = shape.warps;
      config.gemm.mma = mma.shape;
      configs.push_back(config);
      if (!all) break;  // the first is the best guess
    }
  }
}

}  // namespace wt::basic_kind
