// SPDX-License-Identifier: Apache-2.0
// tests/matrix/weight_store_slow_test.cc - weight gradients by bulk stores, whose boxes are as wide as the blocks of
// channels that are multiplied: 64, or 32 of 32-bit inputs.
#include "tests/matrix/cells.h"

namespace wt::matrix {
namespace {

class WeightStore : public Kernels {};

// One block and several, of which the last is not full; rows that end in a tile; several taps in a tile's columns.
TEST_F(WeightStore, IsExactForEveryWidthOfBlock) {
  const auto device = simulated(Target::kSm90a);
  for (const char* types : {"fp32>bf16", "fp32>fp16", "tf32>bf16", "bf16"}) {
    for (const char* sizes : {"n1 c8 k8 i8x8 f3x3 p1", "n2 c104 k72 i6x5 f1x2", "n3 c40 k136 i7 f3 p1"}) {
      const ConvProblem problem = problem_of(fmt::format("bwd_weight {} {}", types, sizes));
      std::set<short> widths;  // of tiles
      for (const RankedConfig& ranked : rank(problem, usual_rates(Target::kSm90a), {})) {
        const GemmConfig& gemm = ranked.config->gemm;
        if (gemm.staging == Staging::kTmaStore && gemm.tile.m <= 128 && widths.insert(gemm.tile.n).second)
          expect_exact(device, problem, *ranked.config);
      }
      EXPECT_GE(widths.size(), 2u) << to_text(problem);
    }
  }
}

}  // namespace
}  // namespace wt::matrix
