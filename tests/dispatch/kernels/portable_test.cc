// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/portable_test.cc - the portable pipelines: each of them on the simulator, and when they are
// chosen.
#include <gmock/gmock.h>

#include "tests/dispatch/exact_trial.h"
#include "tests/dispatch/portable_kernels.h"

namespace wt {
namespace {

// With tails in every direction, padding, stride, groups and an epilogue. portable_slow_test.cc has every pair.
constexpr const char* kProblems[] = {"fwd bf16 n2 c48 k80 g2 i9x7 f3x3 s2 p1 +bias",
                                     "bwd_data bf16 n1 c48 k64 i9x8 f3x3 s2 p1",
                                     "bwd_weight bf16 n2 c16 k80 i9x7 f3x3 s2 p1"};

// Every loop of sm_80 in one direction, and three of each of AMD's ways to multiply.
TEST(PortableExact, EveryLoopInSomeDirection) {
  for (const auto& [name, target, least, every] :
       {std::tuple{"sim:sm_80", Target::kSm80, 11u, 1u}, std::tuple{"sim:gfx942", Target::kGfx942, 8u, 3u},
        std::tuple{"sim:gfx1201", Target::kGfx1201, 8u, 3u}}) {
    const auto device = open_device(name);
    ASSERT_TRUE(device.ok()) << device.status().message();
    for (size_t i = 0; i < least; i += every) {
      const ConvProblem problem = problem_of(kProblems[i / every % 3]);
      const auto kernels = one_of_each_loop(problem, target);
      ASSERT_GE(kernels.size(), least) << to_text(problem);
      expect_exact(*device, problem, kernels[i]);
    }
  }
}

KernelConfig chosen(const char* text, Target target) {
  const auto ranked = rank_candidates(problem_of(text), target, {}, Breadth::kAll);
  EXPECT_TRUE(!ranked.empty() && ranked.front().accepts()) << text;
  return ranked.front().config;
}

// Where nothing of the target's own multiplies, these come before the generic kernel.
TEST(PortableChoice, ServesTargetsBeforeHopper) {
  for (const Target target : {Target::kSm80, Target::kGfx942, Target::kGfx1100, Target::kGfx1201}) {
    for (const char* text : {"fwd bf16 n16 c256 k256 i50x50 f3x3 p1", "bwd_data fp16 n16 c256 k128 i25x25 f3x3 s2 p1",
                             "bwd_weight bf16 n16 c256 k256 i50x50 f3x3 p1", "fwd fp32 n4 c64 k64 i28x28 f3x3 p1",
                             "fwd bf16 n8 c3 k64 i112x112 f7x7 s2 p3", "bwd_weight fp16 n2 c5 k7 i9x9x9 f3x3x3"}) {
      const KernelConfig config = chosen(text, target);
      // CDNA has a schedule of its own for some.
      const bool own = target == Target::kGfx942 && config.gemm.pipeline == Pipeline::kFourWave;
      EXPECT_TRUE(own || config.kind == Kind::kPortable) << text << " on " << text_of(target);
    }
  }
}

TEST(PortableChoice, LeavesHopperToItsOwnPipelines) {
  for (const char* text : {"fwd bf16 n16 c256 k256 i50x50 f3x3 p1", "bwd_data bf16 n64 c128 k128 i56x56 f3x3 s2 p1",
                           "bwd_weight bf16 n16 c256 k256 i50x50 f3x3 p1", "fwd bf16 n64 c3 k64 i224x224 f7x7 s2 p3",
                           "fwd bf16 n1 c64 k64 i14x14 f3x3 p1", "bwd_weight bf16 n16 c256 k36 i100x100 f3x3 p1",
                           "fwd fp32 n4 c62 k64 i28x28 f3x3 p1"}) {
    EXPECT_FALSE(chosen(text, Target::kSm90a).kind == Kind::kPortable) << text;
  }
  // Nothing else multiplies fp32 there, where bulk copies cannot read groups of it, but the generic kernel.
  EXPECT_TRUE(chosen("fwd fp32 n4 g2 c124 k64 i28x28 f3x3 p1", Target::kSm90a).kind == Kind::kPortable);
}

}  // namespace
}  // namespace wt
