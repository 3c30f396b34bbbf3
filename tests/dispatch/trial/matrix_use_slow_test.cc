// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/trial/matrix_use_slow_test.cc - the kernels that CDNA takes for a dense layer keep its matrix unit
// busy, by the instructions of their loops (compile/amd_loops.h).
#include <gtest/gtest.h>

#include "compile/compiler.h"
#include "config/fields.h"
#include "dispatch/choice/candidates.h"
#include "dispatch/trial/code_check.h"
#include "tests/dispatch/exact_trial.h"

namespace wt {
namespace {

#if WT_HAVE_CLANG
TEST(MatrixUse, DenseLayersKeepTheMatrixUnitBusy) {
  for (const Target target : {Target::kGfx90a, Target::kGfx942, Target::kGfx950}) {
    if (target == Target::kGfx950 && !compile::available(compile::Backend::kClang, target).ok()) continue;  // clang 19
    for (const char* text :
         {"fwd bf16 n16 c256 k256 i100x100 f3x3 p1", "bwd_data bf16 n16 c256 k256 i100x100 f3x3 p1",
          "bwd_weight bf16 n16 c256 k256 i100x100 f3x3 p1", "fwd e4m3*e4m3>bf16 n16 c256 k256 i100x100 f3x3 p1",
          "bwd_data e4m3*e4m3>bf16 n16 c256 k256 i100x100 f3x3 p1"}) {
      const ConvProblem problem = problem_of(text);
      if (target == Target::kGfx90a && size_of(problem.w) == 1) continue;  // which multiplies no fp8
      const std::vector<RankedCandidate> ranked = rank_candidates(problem, target, {}, Breadth::kAll);
      ASSERT_TRUE(!ranked.empty() && ranked.front().accepts()) << text;
      const std::vector<CodeCheck> checks = check_code(std::span(&ranked.front().config, 1));
      ASSERT_EQ(checks.size(), 1u);
      const CodeCheck& check = checks.front();
      for (const std::string& fault : check.faults) ADD_FAILURE() << name_of(check.config) << ": " << fault;
      ASSERT_TRUE(check.loops) << name_of(check.config) << " " << check.missing;
      const double least = problem.direction == Direction::kBackwardWeight ? 0.65 : 0.75;
      EXPECT_GE(check.utilisation.share(), least) << name_of(check.config);
    }
  }
}
#endif

}  // namespace
}  // namespace wt
