// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/portable_forms_test.cc - forms of the portable kernels: merged groups, explicit GEMM, tensors
// that are divided by images. portable_slow_test.cc has scaled weight gradients, portable_options_slow_test.cc options
// such as warps that share k.
#include <gmock/gmock.h>

#include "kernels/kind.h"
#include "kernels/portable/bind.h"
#include "kernels/portable/view.h"
#include "tests/dispatch/exact_trial.h"
#include "tests/dispatch/portable_kernels.h"

namespace wt {
namespace {

// Groups of 4 and 6 channels, a stride's phases, a filter of several taps, a sum in one part and in several.
TEST(PortableForms, MergedGroupsAreExact) {
  struct Merged {
    const char* text;
    Target target;
    int groups;
    bool divided;
  };
  for (const auto& [text, target, groups, divided] :
       {Merged{"fwd bf16 n2 c32 k48 g8 i7x5 f3x3 p1 +bias", Target::kSm80, 4, false},
        Merged{"bwd_data bf16 n1 c64 k32 g8 i9x8 f3x3 s2 p1", Target::kGfx942, 8, false},
        Merged{"bwd_weight bf16 n2 c32 k48 g8 i9x7 f3x2 s2 p1 +alpha=0.5", Target::kGfx1201, 8, true},
        Merged{"bwd_weight fp16 n2 c64 k32 g8 i9x7 f3x3", Target::kSm80, 2, false}}) {
    const ConvProblem problem = problem_of(text);
    const KernelConfig config = best_with(problem, target, [&](const KernelConfig& c) {
      return c.gemm.groups_per_tile == groups && is_divided(c) == divided;
    });
    EXPECT_EQ(config.finite_only, problem.direction != Direction::kBackwardWeight) << text;
    expect_exact(simulated(target), problem, config);
  }
}

// Products of different groups are not stored: a part of the sum is as large as dw, not as the merged filter.
TEST(PortableForms, MergedGroupsStoreTheDiagonalAlone) {
  const ConvProblem problem = problem_of("bwd_weight bf16 n8 c64 k64 g16 i28x28 f3x3 p1");
  const KernelConfig config = best_with(
      problem, Target::kGfx942, [](const KernelConfig& c) { return c.gemm.groups_per_tile == 16 && is_divided(c); });
  const DeviceInfo info = simulated(Target::kGfx942)->info();
  const PortableParts parts = portable_parts(config, View(problem, rates_of(info)), 0);
  EXPECT_GT(parts.splits, 1);
  EXPECT_EQ(bind(config, problem, info).workspace_bytes, parts.splits * problem.w_elements() * 4);
}

// CDNA's weight gradients by load waves: tiles of two math waves, vectors of 4 and 2, whole and streamed sums, one tap.
TEST(PortableForms, LoadWavesOfWeightGradientsAreExact) {
  struct Form {
    const char* text;
    int rows, columns, vector;
    bool plain, streamed;
  };
  for (const auto& [text, rows, columns, vector, plain, streamed] :
       {Form{"bwd_weight bf16 n1 c24 k36 i5x6 f3x3 p1", 64, 128, 4, false, false},
        Form{"bwd_weight fp16 n1 c6 k10 i9x6 f3x3 s2 p1", 128, 64, 2, false, false},
        Form{"bwd_weight bf16 n1 c16 k72 i5x7 f3x3 p1", 128, 64, 8, false, true},
        Form{"bwd_weight bf16 n2 c40 k24 i9x3 f1", 64, 128, 8, true, false}}) {
    const ConvProblem problem = problem_of(text);
    const KernelConfig config = best_with(problem, Target::kGfx942, [&](const KernelConfig& c) {
      return c.gemm.pipeline == Pipeline::kWavelet && c.gemm.tile.m == rows && c.gemm.tile.n == columns &&
             c.gemm.warps.m * c.gemm.warps.n == 2 && c.gemm.vector_a == vector && c.gemm.explicit_gemm == plain &&
             (c.gemm.stream_k != StreamK::kOff) == streamed;
    });
    expect_exact(simulated(Target::kGfx942), problem, config);
  }
}

// Four load warps with four math warps, or with two, which a warpgroup's instruction could not have.
TEST(PortableForms, LoadAndMathWarpsAreExact) {
  struct Roles {
    const char* text;
    Target target;
    int math_warps;
    bool async;
  };
  for (const auto& [text, target, math_warps, async] :
       {Roles{"fwd bf16 n2 c5 k24 i7x5 f3x3 s2 p1 +bias", Target::kSm80, 2, false},
        Roles{"bwd_data bf16 n1 c24 k64 i9x8 f3x3 s2 p1", Target::kSm80, 2, true},
        Roles{"fwd bf16 n2 c24 k40 i7x5 f3x3 p1 +bias", Target::kSm90a, 2, true},
        Roles{"bwd_data fp16 n1 c24 k40 i9x8 f3x3 s2 p1", Target::kSm90a, 4, true},
        Roles{"bwd_weight bf16 n2 c16 k80 i9x7 f3x3 p1 +residual", Target::kSm90a, 2, true}}) {
    const ConvProblem problem = problem_of(text);
    const Target on = target;
    expect_exact(simulated(on), problem, best_with(problem, on, [&](const KernelConfig& c) {
                   return c.gemm.pipeline == Pipeline::kWavelet && c.gemm.load_warps == 4 &&
                          c.gemm.warps.m * c.gemm.warps.n == math_warps && portable_layout::is_async(c) == async;
                 }));
  }
}

TEST(PortableForms, ExplicitGemmIsExact) {
  const ConvProblem problem = problem_of("bwd_weight bf16 n3 c48 k80 g2 i5x9x3 f1x1x1 +alpha=0.5+residual");
  for (const auto& [target, divided] :
       {std::pair{Target::kSm80, true}, std::pair{Target::kGfx942, false}, std::pair{Target::kSm90a, true}}) {
    expect_exact(simulated(target), problem, best_with(problem, target, [&](const KernelConfig& c) {
                   return c.gemm.explicit_gemm && is_divided(c) == divided;
                 }));
  }
  // Other problems have taps that meet no pixel, or several.
  for (const char* text : {"bwd_weight bf16 n3 c48 k80 i9x9 f1x1 s2", "bwd_weight bf16 n3 c48 k80 i9x9 f1x1 p1",
                           "bwd_weight bf16 n3 c48 k80 i9x9 f1x2"}) {
    for (const KernelConfig& config : portable_kernels(problem_of(text), Target::kSm80))
      EXPECT_FALSE(config.gemm.explicit_gemm) << text;
  }
}

// Tensors beyond the reach of indices, here made short: five images of which a launch takes two.
TEST(PortableForms, DividedImagesAreExact) {
  const auto device = simulated(Target::kSm80);
  for (const char* text : {"fwd bf16 n5 c16 k24 i9x7 f3x3 p1 +bias+residual+amax",
                           "bwd_data bf16 n5 c24 k16 i9x7 f3x3 s2 p1", "bwd_weight bf16 n5 c16 k24 i9x7 f3x3 p1"}) {
    const ConvProblem problem = problem_of(text);
    const bool weight = problem.direction == Direction::kBackwardWeight;
    const KernelConfig config = best_with(problem, Target::kSm80, [&](const KernelConfig& c) {
      return is_divided(c) == weight && !portable_layout::streams(c) && c.gemm.groups_per_tile == 1;
    });
    const int64_t image = std::max(problem.x_elements(), problem.y_elements()) / problem.n;
    Binding binding = bind_portable(config, View(problem, rates_of(device->info())), device->info(), 0, 4 * image);
    ASSERT_EQ(binding.launches.size(), weight ? 4u : 3u) << text;
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
    EXPECT_TRUE(result.verified) << text << ": " << result.status.message();
  }
}

// x of 2^33 elements in images of 2^29: no launch reaches as far as 2^31, and together they cover every image.
TEST(PortableForms, LargeTensorsAreDividedByImages) {
  for (const char* text : {"fwd bf16 n16 c64 k8 i2048x4096 f1x1", "bwd_data bf16 n16 c64 k8 i2048x4096 f1x1",
                           "bwd_weight bf16 n16 c64 k8 i2048x4096 f1x1"}) {
    const ConvProblem problem = problem_of(text);
    const bool weight = problem.direction == Direction::kBackwardWeight;
    const KernelConfig config =
        best_with(problem, Target::kGfx942, [&](const KernelConfig& c) { return is_divided(c) == weight; });
    for (const KernelConfig& each : portable_kernels(problem, Target::kGfx942)) EXPECT_EQ(is_divided(each), weight);
    const Binding binding = bind(config, problem, simulated(Target::kGfx942)->info());
    ASSERT_EQ(binding.launches.size(), weight ? 17u : 16u) << text;  // an image each, of 1 GiB
    for (uint64_t i = 0; i < 16; ++i) {
      for (const Launch::Pointer& pointer : binding.launches[i].pointers) {
        const uint64_t step = pointer.tensor == Tensor::kX   ? uint64_t{1} << 30
                              : pointer.tensor == Tensor::kY ? uint64_t{1} << 27
                                                             : 0;
        if (pointer.tensor != Tensor::kWorkspace) {
          EXPECT_EQ(pointer.byte_offset, i * step) << text;
        }
      }
    }
  }
}

}  // namespace
}  // namespace wt
