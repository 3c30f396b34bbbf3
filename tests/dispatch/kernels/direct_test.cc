// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/direct_test.cc - depthwise kernels: some on the simulator, which are chosen, how work is cut.
#include <gmock/gmock.h>

#include "config/fields.h"
#include "dispatch/choice/candidates.h"
#include "dispatch/plan/kernel.h"
#include "dispatch/trial/trial.h"
#include "kernels/depthwise_banded/device/shape.h"
#include "kernels/device/reciprocal.h"
#include "kernels/groups/device/shape.h"
#include "kernels/shared/direct_geometry.h"
#include "tests/dispatch/exact_trial.h"

namespace wt {
namespace {

// The accepting kernels of the direct family, best guess first.
std::vector<RankedCandidate> direct_kernels(const ConvProblem& problem, Target target, Kind design) {
  std::vector<RankedCandidate> kernels = rank_candidates(problem, target, {}, Breadth::kAll);
  std::erase_if(kernels, [&](const RankedCandidate& c) {
    return !c.accepts() || c.config.family() != Family::kDirect || c.config.kind != design;
  });
  return kernels;
}

constexpr Kind kGather = Kind::kDepthwiseGather, kStream = Kind::kDepthwiseStream, kGroups = Kind::kGroups;

// One problem a design and direction; direct_slow_test.cc has the edges.
TEST(DirectExact, OneProblemOfEachKind) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  for (const auto& [text, design] : {std::pair{"fwd bf16 n1 c17 k17 g17 i6x7 f3x3 p1 +bias+relu", kStream},
                                     std::pair{"bwd_data bf16 n1 c8 k8 g8 i7x6 f3x3 s2 p1", kStream},
                                     std::pair{"bwd_weight bf16 n1 c8 k8 g8 i19 f4 p3:0", kStream},
                                     std::pair{"fwd bf16 n2 c16 k16 g2 i5x6 f3x3 p1 +bias+relu", kGroups},
                                     std::pair{"bwd_data bf16 n1 c16 k16 g1 i7x6 f3x3 s2 p1", kGroups},
                                     std::pair{"bwd_weight bf16 n1 c8 k8 g2 i7x6 f3x3 s2 p1", kGroups},
                                     std::pair{"fwd bf16 n3 c16 k16 g2 i71 f4 p3:0 +bias+relu", kGroups},
                                     std::pair{"bwd_data fp16 n2 c32 k32 g2 i37 f3 s2 p1", kGroups},
                                     std::pair{"bwd_weight bf16 n2 c24 k24 g6 i70 f5 p2", kGroups},
                                     std::pair{"fwd bf16 n1 c4 k8 g4 i7x6 f3x2 s2x3 d2 p1 NCHW", kGather},
                                     std::pair{"bwd_data fp32 n1 c4 k8 g4 i9x6 f3x3 s2 d2 p2", kGather},
                                     std::pair{"bwd_weight bf16 n1 c4 k4 g4 i3x4x5 f2x3x2 p1", kGather}}) {
    const ConvProblem problem = problem_of(text);
    const auto kernels = direct_kernels(problem, Target::kSm90a, design);
    ASSERT_FALSE(kernels.empty()) << text;
    expect_exact(*device, problem, kernels.front().config);
  }
}

TEST(DirectDepthwise, EveryProblemHasAKernelThatIsPreferredToTheGenericOne) {
  for (const char* text :
       {"fwd bf16 n64 c32 k32 g32 i112x112 f3x3 p1", "bwd_data bf16 n64 c96 k96 g96 i112x112 f3x3 s2 p1",
        "bwd_weight bf16 n64 c960 k960 g960 i7x7 f3x3 p1", "fwd bf16 n64 c768 k768 g768 i7x7 f7x7 p3",
        "fwd bf16 n4 c4096 k4096 g4096 i4096 f4 p3", "bwd_weight bf16 n4 c4096 k4096 g4096 i4096 f4 p3",
        "fwd bf16 n8 c108 k108 g108 i16x28x28 f3x3x3 p1", "fwd fp32 n16 c64 k64 g64 i56x56 f3x3 d7 p7",
        "fwd bf16 n16 c64 k64 g64 i56x56 f31x31 p15", "bwd_data bf16 n16 c64 k128 g64 i56x56 f3x3 p1",
        "fwd bf16 n16 c17 k17 g17 i56x56 f3x3 p1", "fwd bf16 n16 c64 k64 g64 i56x56 f3x3 p1 NCHW"}) {
    const ConvProblem problem = problem_of(text);
    const auto ranked = rank_candidates(problem, Target::kSm90a, {}, Breadth::kAll);
    ASSERT_FALSE(ranked.empty());
    EXPECT_EQ(ranked.front().config.family(), Family::kDirect) << text << ": " << ranked.front().name;
  }
}

// Groups of 8 and 16 channels have one too, exact; narrower ones share instructions and are finite_only.
TEST(DirectGroups, ArePreferredForUsualLayers) {
  for (const char* text :
       {"fwd bf16 n16 c256 k256 g32 i100x100 f3x3 p1", "bwd_data bf16 n16 c256 k256 g32 i200x200 f3x3 s2 p1",
        "bwd_weight bf16 n16 c256 k256 g32 i100x100 f3x3 p1", "fwd fp16 n16 c512 k512 g32 i50x50 f3x3 p1",
        "fwd bf16 n64 c128 k128 g32 i56x56 f3x3 p1"}) {
    const ConvProblem problem = problem_of(text);
    const auto ranked = rank_candidates(problem, Target::kSm90a, {}, Breadth::kAll);
    ASSERT_FALSE(ranked.empty());
    EXPECT_EQ(ranked.front().config.family(), Family::kDirect) << text << ": " << ranked.front().name;
    EXPECT_EQ(ranked.front().config.finite_only, problem.c_per_group() < 8) << text;
  }
}

// Every position of a block's row has a place in its shared memory, and every pixel a block.
TEST(DirectGeometry, SegmentsCoverEveryColumn) {
  const KernelConfig config =
      direct_kernels(problem_of("fwd bf16 n16 c256 k256 g32 i100x100 f3x3 p1"), Target::kSm90a, kGroups).front().config;
  for (int width = 1; width <= 300; ++width) {
    const ConvProblem problem = problem_of(fmt::format("fwd bf16 n5 c256 k256 g32 i9x{} f3x3 p1", width));
    const GroupsCut cut = cut_groups(config, problem, 132);
    ASSERT_GE(cut.columns * cut.segment_tiles, width);
    ASSERT_LE(cut.columns * cut.group_segments, config.direct.tile_w);
    ASSERT_LE(groups::window(config, static_cast<int>(cut.columns)) * cut.group_segments,
              groups::most_positions(config));
    ASSERT_GE(cut.groups * cut.group_segments, cut.segments);
    for (int at = 0; at < groups::most_positions(config); ++at)
      ASSERT_EQ(quotient(at, reciprocal_of(static_cast<int>(cut.columns))), at / cut.columns);
  }
}

// Where non-finite values must stay inside their receptive field, an exact kernel takes the banded one's place.
TEST(DirectDepthwise, StrictNonFiniteExcludesBandedKernels) {
  const ConvProblem problem = problem_of("fwd bf16 n64 c96 k96 g96 i56x56 f7x7 p3");
  const auto free = rank_candidates(problem, Target::kSm90a, {}, Breadth::kAll);
  EXPECT_EQ(free.front().config.kind, Kind::kDepthwiseBanded) << free.front().name;
  const auto strict = rank_candidates(problem, Target::kSm90a, {.strict_nonfinite = true}, Breadth::kAll);
  EXPECT_EQ(strict.front().config.family(), Family::kDirect);
  EXPECT_FALSE(strict.front().config.finite_only);
}

// Kernels with rows in shared memory come close behind the sliding ones for large filters, and far for small ones:
// neither was measured.
TEST(DirectDepthwise, LargeFiltersHaveRowsInSharedMemory) {
  const auto behind = [](const char* text) {
    auto kernels = rank_candidates(problem_of(text), Target::kSm90a, {.strict_nonfinite = true}, Breadth::kAll);
    const double best = kernels.front().predicted_us;
    std::erase_if(kernels, [](const RankedCandidate& c) {
      return c.config.family() != Family::kDirect || c.config.kind != kGather || c.config.direct.prefetch == 1;
    });
    EXPECT_TRUE(kernels.size() == 1 && kernels.front().accepts()) << text;
    return kernels.empty() ? 0 : kernels.front().predicted_us / best;
  };
  EXPECT_LT(behind("fwd bf16 n64 c64 k64 g64 i56x56 f31x31 p15"), 1.2);
  EXPECT_LT(behind("bwd_data bf16 n64 c64 k64 g64 i56x56 f31x31 p15"), 1.2);
  EXPECT_GT(behind("fwd bf16 n64 c64 k64 g64 i56x56 f3x3 p1"), 1.05);
}

// The grid of a streaming kernel stays just under whole waves of the multiprocessors.
TEST(DirectGeometry, StripsFillWholeWaves) {
  for (const char* text :
       {"fwd bf16 n64 c32 k32 g32 i112x112 f3x3 p1", "fwd bf16 n64 c144 k144 g144 i56x56 f3x3 p1",
        "bwd_data bf16 n64 c96 k96 g96 i112x112 f3x3 s2 p1", "fwd bf16 n4 c4096 k4096 g4096 i4096 f4 p3"}) {
    const ConvProblem problem = problem_of(text);
    const KernelConfig config = direct_kernels(problem, Target::kSm90a, kStream).front().config;
    const StreamCut cut = cut_stream(config, turned(problem), 132);
    const int64_t capacity = int64_t{132} * config.min_blocks;
    EXPECT_LE(cut.waves, 2) << text;
    EXPECT_LE(cut.grid, capacity * static_cast<int64_t>(cut.waves)) << text;
    EXPECT_GE(cut.grid, capacity * static_cast<int64_t>(cut.waves) * 3 / 4) << text;
  }
}

// A block that enters a second image walks a second halo. Rows of padding are left out: 7 rows of 7x7 filters take 7
// steps, and 3 that only write; the rows after the image only where the copy engine brings them, else 10 steps.
TEST(DirectGeometry, WalksEndWhereImagesEnd) {
  const ConvProblem problem = problem_of("fwd bf16 n64 c768 k768 g768 i7x7 f7x7 p3");
  for (const RankedCandidate& kernel : direct_kernels(problem, Target::kSm90a, Kind::kDepthwiseBanded)) {
    const BandedCut cut = cut_banded(kernel.config, problem, 132);
    EXPECT_EQ(cut.rows_per_block, 7);
    EXPECT_GE(cut.steps, banded::in_bulk(kernel.config) ? 7 : 10);
    EXPECT_LE(cut.steps, banded::in_bulk(kernel.config) ? 9 : 10);
    EXPECT_EQ(cut.grid, cut.rows / 7 * cut.channel_blocks);
  }
}

TEST(DirectGeometry, ChannelBlocksWasteFewThreads) {
  for (int64_t channels = 1; channels <= 600; ++channels) {
    const DirectBlocks blocks = channel_blocks(channels, 1, 256, 32, 2);
    ASSERT_GE(int64_t{blocks.lanes} * blocks.channel_blocks, channels);
    const double used = static_cast<double>(channels) / (blocks.lanes * blocks.channel_blocks) *
                        (256 / blocks.lanes * blocks.lanes) / 256.0;
    EXPECT_GT(used, 0.74) << channels;
  }
}

// Blocks of streaming kernels take whole pixels, or pieces of whole sectors that are about a line or longer.
TEST(DirectGeometry, StripsTakeLongPiecesOfPixels) {
  for (const auto& [channels, size] : {std::pair{32, 112}, std::pair{96, 112}, std::pair{108, 28}, std::pair{144, 56},
                                       std::pair{192, 28}, std::pair{384, 14}, std::pair{960, 7}}) {
    for (const char* direction : {"fwd", "bwd_data", "bwd_weight"}) {
      const ConvProblem problem =
          problem_of(fmt::format("{0} bf16 n64 c{1} k{1} g{1} i{2}x{2} f3x3 p1", direction, channels, size));
      const KernelConfig config = direct_kernels(problem, Target::kSm90a, kStream).front().config;
      const StreamCut cut = cut_stream(config, problem, 132);
      const int bytes = cut.blocks.lanes * config.direct.vector_in * 2;
      EXPECT_TRUE(bytes >= channels * 2 || (bytes >= 96 && bytes % 32 == 0)) << to_text(problem) << ": " << bytes;
    }
  }
}

}  // namespace
}  // namespace wt
