// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/portable_options_slow_test.cc - options of the portable kernels in the simulator: two tiles in
// registers and two in shared memory, second buffers, warps that share k, vectors of the output, atomic sums.
#include <gmock/gmock.h>

#include "compile/clang.h"
#include "compile/disassembly.h"
#include "generate/source.h"
#include "kernels/constraints.h"
#include "kernels/kind.h"
#include "kernels/portable/bind.h"
#include "tests/dispatch/exact_trial.h"
#include "tests/dispatch/portable_kernels.h"

namespace wt {
namespace {

// With tails in every direction; sums of an odd and an even number of k-blocks.
constexpr const char* kForward = "fwd bf16 n2 c48 k80 g2 i9x7 f3x3 s2 p1 +bias";
constexpr const char* kData = "bwd_data bf16 n1 c48 k64 i9x8 f3x3 s2 p1";
constexpr const char* kWeight = "bwd_weight bf16 n3 c16 k80 i9x7 f3x3 p1";
constexpr Target kTargets[] = {Target::kSm80, Target::kGfx942, Target::kGfx1100};

// The smallest kernel of a pipeline for the problem, whose sum nobody divides, with `change` made to it.
template <class Change>
KernelConfig changed(const ConvProblem& problem, Target target, Pipeline pipeline, Change change) {
  KernelConfig config = best_with(problem, target, [&](const KernelConfig& c) {
    return c.gemm.pipeline == pipeline && c.gemm.tile.m == 64 && c.gemm.tile.n == 64 && c.gemm.groups_per_tile == 1 &&
           c.gemm.scheduler == Scheduler::kIntrawave && c.gemm.stream_k == StreamK::kOff && c.gemm.vector_a > 1 &&
           c.gemm.vector_b > 1 && c.gemm.staging == Staging::kShared && !c.gemm.explicit_gemm;
  });
  change(config.gemm);
  const std::vector<Decline> reasons = declines(config, problem, {.deterministic = false});
  EXPECT_TRUE(reasons.empty()) << to_text(problem) << " by " << name_of(config) << ": " << to_text(reasons);
  return config;
}

// Each direction on one of the targets, in turns, so that each form meets all of both.
template <class Change>
void expect_exact_on_each(Pipeline pipeline, Change change, size_t first = 0) {
  size_t turn = first;
  for (const char* text : {kForward, kData, kWeight}) {
    const Target target = kTargets[turn++ % std::size(kTargets)];
    const ConvProblem problem = problem_of(text);
    expect_exact(simulated(target), problem, changed(problem, target, pipeline, change));
  }
}

TEST(PortableOptions, TwoTilesInRegistersAndTwoInSharedMemoryAreExact) {
  for (const size_t first : {0u, 1u, 2u}) {
    expect_exact_on_each(
        Pipeline::kCompV6, [](GemmConfig& gemm) { EXPECT_TRUE(gemm.double_buffer && gemm.stages == 2); }, first);
  }
  // One buffer, and a tile as fragments.
  expect_exact_on_each(Pipeline::kCompV6, [](GemmConfig& gemm) { gemm.double_buffer = false; });
}

TEST(PortableOptions, SecondBuffersAreExact) {
  expect_exact_on_each(
      Pipeline::kMem,
      [](GemmConfig& gemm) {
        gemm.double_buffer = true;
        gemm.stages = 3;
      },
      1);
  expect_exact_on_each(
      Pipeline::kCompV3, [](GemmConfig& gemm) { gemm.double_buffer = true; }, 2);
  expect_exact_on_each(Pipeline::kBasicV2, [](GemmConfig& gemm) { gemm.double_buffer = true; });
}

// Two and four warps along k, in loops that read fragments as they go, hold a tile of them, or split the roles.
TEST(PortableOptions, WarpsThatShareKAreExact) {
  const auto two = [](GemmConfig& gemm) {
    gemm.warps = {2, 2, 2};
    gemm.tile = {64, 64, 64};
  };
  const auto four = [](GemmConfig& gemm) {
    gemm.warps = {1, 1, 4};
    gemm.tile = {32, 32, 64};
  };
  expect_exact_on_each(Pipeline::kBasicV2, two);
  expect_exact_on_each(Pipeline::kBasicV2, four, 2);
  const ConvProblem forward = problem_of("fwd bf16 n2 c64 k80 i9x7 f3x3 p1 +bias");
  for (const auto& [pipeline, target] :
       {std::pair{Pipeline::kCompV3, Target::kGfx942}, std::pair{Pipeline::kCompV6, Target::kGfx1100},
        std::pair{Pipeline::kWavelet, Target::kSm80}}) {
    expect_exact(simulated(target), forward, changed(forward, target, pipeline, two));
  }
  // Multiply-adds of single lanes.
  const ConvProblem fp32 = problem_of("bwd_data fp32 n1 c24 k32 i9x8 f3x3 s2 p1");
  expect_exact(simulated(Target::kSm80), fp32, changed(fp32, Target::kSm80, Pipeline::kBasicV2, [](GemmConfig& gemm) {
                 gemm.warps = {2, 2, 2};
               }));
}

// Rows of 80 and 18 channels; residuals are read as they are written.
TEST(PortableOptions, VectorsOfTheOutputAreExact) {
  for (const auto& [text, target, vector] :
       {std::tuple{"fwd bf16 n2 c48 k18 i9x7 f3x3 p1 +bias+residual", Target::kSm80, 2},
        std::tuple{"fwd bf16>fp32 n2 c48 k20 i9x7 f3x3 p1", Target::kGfx1100, 4},
        std::tuple{"bwd_data bf16 n1 c48 k64 i9x8 f3x3 s2 p1", Target::kGfx942, 8}}) {
    const ConvProblem problem = problem_of(text);
    const int wide = vector;
    expect_exact(simulated(target), problem, changed(problem, target, Pipeline::kCompV4, [&](GemmConfig& gemm) {
                   gemm.vector_c = static_cast<unsigned char>(wide);
                 }));
  }
}

TEST(PortableOptions, AtomicSumsAreExactOnEveryTargetThatHasThem) {
  const ConvProblem problem = problem_of(kWeight),
                    grouped = problem_of("bwd_weight bf16 n2 c32 k48 g8 i9x7 f3x2 s2 p1");
  PlanOptions options;
  options.deterministic = false;
  for (const Target target :
       {Target::kSm80, Target::kGfx90a, Target::kGfx942, Target::kGfx950, Target::kGfx1100, Target::kGfx1201}) {
    int offered = 0;
    for (const RankedCandidate& c : rank_candidates(problem, target, options, Breadth::kAll))
      offered += c.accepts() && c.config.kind == Kind::kPortable && c.config.gemm.split_k == SplitK::kAtomic;
    EXPECT_GT(offered, 0) << text_of(target);
    const KernelConfig config =
        changed(problem, target, Pipeline::kCompV4, [](GemmConfig& gemm) { gemm.split_k = SplitK::kAtomic; });
    const auto device = simulated(target);
    const Binding binding = bind(config, problem, device->info(), 3);
    EXPECT_EQ(binding.parts, 3) << text_of(target);
    EXPECT_EQ(binding.workspace_bytes, problem.w_elements() * 4);
    expect_exact(device, problem, config, 3);
  }
  KernelConfig merged =
      best_with(grouped, Target::kGfx942, [](const KernelConfig& c) { return c.gemm.groups_per_tile == 8; });
  merged.gemm.split_k = SplitK::kAtomic;
  expect_exact(simulated(Target::kGfx942), grouped, merged, 2);
}

#if WT_HAVE_CLANG
// By the instruction, not by a loop of compare and swap.
TEST(PortableOptions, AtomicSumsOnAmdAreOneInstruction) {
  const ConvProblem problem = problem_of(kWeight);
  for (const Target target : {Target::kGfx90a, Target::kGfx942, Target::kGfx1100, Target::kGfx1201}) {
    const KernelConfig config =
        changed(problem, target, Pipeline::kCompV4, [](GemmConfig& gemm) { gemm.split_k = SplitK::kAtomic; });
    const auto text = generate_source(config);
    ASSERT_TRUE(text.ok()) << text.status().message();
    const auto assembly = compile::clang_assembly({name_of(config), *text, target});
    ASSERT_TRUE(assembly.ok()) << assembly.status().message();
    EXPECT_GT(compile::count_mnemonics(*assembly, "global_atomic_add_f32"), 0u) << text_of(target);
    EXPECT_EQ(assembly->find("cmpswap"), std::string::npos) << text_of(target);
  }
}
#endif

// Only on request.
TEST(PortableOptions, AtomicSumsAreDeclinedByDefault) {
  int declined = 0;
  for (const RankedCandidate& c : rank_candidates(problem_of(kWeight), Target::kGfx942, {}, Breadth::kAll)) {
    if (c.config.kind != Kind::kPortable || c.config.gemm.split_k != SplitK::kAtomic) continue;
    EXPECT_FALSE(c.accepts()) << c.name;
    ++declined;
  }
  EXPECT_GT(declined, 0);
}

// The launches of five images, two at a time, add to one sum, which the first of them zeroes.
TEST(PortableOptions, AtomicSumsOfDividedImagesAreExact) {
  const auto device = simulated(Target::kSm80);
  const ConvProblem problem = problem_of("bwd_weight bf16 n5 c16 k24 i9x7 f3x3 p1");
  const KernelConfig config =
      changed(problem, Target::kSm80, Pipeline::kCompV4, [](GemmConfig& gemm) { gemm.split_k = SplitK::kAtomic; });
  const int64_t image = problem.y_elements() / problem.n;
  Binding binding = bind_portable(config, View(problem, rates_of(device->info())), device->info(), 2, 4 * image);
  ASSERT_EQ(binding.launches.size(), 4u);
  EXPECT_EQ(binding.launches[0].zeros.size(), 1u);
  EXPECT_TRUE(binding.launches[1].zeros.empty() && binding.launches[2].zeros.empty());
  std::string pack;
  const auto module = module_for(device->info(), config, pack);
  ASSERT_TRUE(module.ok()) << module.status().message();
  const auto plan = make_kernel_plan(device, problem, config, *module, "tested", std::move(binding));
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  const auto tensors = TrialTensors::make(device, problem, true, 7);
  ASSERT_TRUE(tensors.ok()) << tensors.status().message();
  TrialOptions options;
  options.exact = true;
  options.seed = 7;
  options.time = false;
  const TrialResult result = run_trial(**tensors, **plan, options);
  EXPECT_TRUE(result.verified) << result.status.message();
}

}  // namespace
}  // namespace wt
