// SPDX-License-Identifier: Apache-2.0
#include "config/targets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "config/enum_names.h"
#include "config/pipelines.h"

namespace wt {
namespace {

using testing::HasSubstr;

TEST(Targets, EveryTargetHasARow) {
  ASSERT_EQ(targets().size(), enum_table<Target>().names.size());
  for (const TargetInfo& info : targets()) {
    EXPECT_EQ(&info_of(info.target), &info);
    EXPECT_EQ(info.name, text_of(info.target));
    EXPECT_LE(info.shared_per_block, info.shared_per_unit);
    EXPECT_EQ(info.threads_per_unit % info.warp_size, 0);
    EXPECT_FALSE(info.mma.empty());
  }
}

TEST(Targets, TextRoundTripsWithTheSimulatorForm) {
  for (const TargetInfo& info : targets()) {
    for (const bool simulated : {false, true}) {
      const TargetName name{info.target, simulated};
      const auto back = parse_target(to_text(name));
      ASSERT_TRUE(back.ok());
      EXPECT_EQ(*back, name);
    }
  }
  EXPECT_EQ(to_text(TargetName{Target::kSm90a, true}), "sim:sm_90a");
  EXPECT_THAT(parse_target("sm_75").status().message(), HasSubstr("choose one of sm_80, sm_90a"));
  EXPECT_FALSE(parse_target("sim:").ok());
  EXPECT_FALSE(parse_target("SM_90A").ok());
}

TEST(Targets, LimitsAreTheHardwares) {
  EXPECT_EQ(info_of(Target::kSm80).shared_per_block, 163 * 1024);
  EXPECT_EQ(info_of(Target::kSm90a).shared_per_block, 227 * 1024);
  EXPECT_EQ(info_of(Target::kGfx942).shared_per_block, 64 * 1024);
  EXPECT_EQ(info_of(Target::kGfx950).shared_per_block, 160 * 1024);
  EXPECT_EQ(info_of(Target::kGfx942).warp_size, 64);
  EXPECT_EQ(info_of(Target::kGfx1100).warp_size, 32);
  EXPECT_TRUE(info_of(Target::kSm90a).bulk_tensor_copy);
  EXPECT_FALSE(info_of(Target::kSm80).bulk_tensor_copy);
}

TEST(Targets, CompilersAreNamed) {
  EXPECT_EQ(compiler_needed(info_of(Target::kSm90a)), "NVRTC 12.0 or newer");
  EXPECT_EQ(compiler_needed(info_of(Target::kGfx950)), "clang 20 or newer");
  // Debian's clang-19.
  for (const Target target : {Target::kGfx90a, Target::kGfx942, Target::kGfx1100, Target::kGfx1201})
    EXPECT_LE(info_of(target).min_compiler_version, 19);
  for (const Target target : {Target::kGfx950, Target::kGfx1250}) EXPECT_GT(info_of(target).min_compiler_version, 19);
}

TEST(Targets, ArchitecturesFindTheirTarget) {
  const auto target = [](const char* architecture) { return find_architecture(architecture)->target; };
  EXPECT_EQ(target("gfx942"), Target::kGfx942);
  EXPECT_EQ(target("gfx1100"), Target::kGfx1100) << "its own comes before the one that covers it";
  EXPECT_EQ(target("gfx1103"), Target::kGfx11Generic);
  EXPECT_EQ(target("gfx1200"), Target::kGfx12Generic);
  for (const char* none : {"gfx906", "gfx1030", "sm_90a", "gfx11-generic", ""})
    EXPECT_EQ(find_architecture(none), nullptr) << none;
  EXPECT_EQ(architectures_text(info_of(Target::kGfx12Generic)), "gfx1200 and gfx1201 by gfx12-generic");
  EXPECT_EQ(architectures_text(info_of(Target::kGfx950)), "gfx950");
}

// A generic target's code runs on a card that the simulator knows by its named target.
TEST(Targets, GenericOnesHaveTheFactsOfTheNamedOnes) {
  for (const TargetInfo& info : targets()) {
    const TargetInfo& named = info_of(named_target(info.target));
    EXPECT_EQ(is_generic(info), named.target != info.target) << info.name;
    EXPECT_EQ(info.mma.data(), named.mma.data());
    EXPECT_EQ(info.shared_per_block, named.shared_per_block);
    EXPECT_EQ(info.warp_size, named.warp_size);
    if (is_generic(info)) {
      EXPECT_NE(std::ranges::find(info.covers, named.name), info.covers.end());
    }
  }
}

TEST(Targets, MatrixInstructionsAreFoundByShape) {
  const TargetInfo& hopper = info_of(Target::kSm90a);
  EXPECT_EQ(find_mma(hopper, DataType::kBf16, {16, 8, 16})->path, MmaPath::kMmaSync);
  EXPECT_EQ(find_mma(hopper, DataType::kBf16, {64, 40, 16})->path, MmaPath::kWgmma);
  EXPECT_EQ(find_mma(hopper, DataType::kBf16, {64, 256, 16})->path, MmaPath::kWgmma);
  EXPECT_EQ(find_mma(hopper, DataType::kBf16, {64, 264, 16}), nullptr);
  EXPECT_EQ(find_mma(hopper, DataType::kBf16, {64, 36, 16}), nullptr);
  EXPECT_EQ(find_mma(info_of(Target::kGfx942), DataType::kF16, {32, 32, 8})->path, MmaPath::kMfma);
  EXPECT_EQ(find_mma(info_of(Target::kGfx1100), DataType::kF16, {32, 32, 8}), nullptr);
  EXPECT_TRUE(mma_shapes(hopper, DataType::kBf16).front().portable);
}

TEST(Pipelines, EveryPipelineHasARow) {
  ASSERT_EQ(pipelines().size(), enum_table<Pipeline>().names.size());
  for (const PipelineInfo& info : pipelines()) {
    EXPECT_EQ(&info_of(info.pipeline), &info);
    EXPECT_LE(info.min_stages, info.max_stages);
    EXPECT_GE(info.min_k_iterations, 1);
    EXPECT_FALSE(info.meaning.empty());
  }
  EXPECT_EQ(info_of(Pipeline::kCompV6).min_k_iterations, 3);
}

}  // namespace
}  // namespace wt
