// SPDX-License-Identifier: Apache-2.0
#include "generate/request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files.h"
#include "config/fields.h"
#include "generate/listing.h"
#include "tests/places.h"

namespace wt {
namespace {

using testing::HasSubstr;

std::string failure_of(const GenerateValues& values) {
  const auto request = parse_generate(values);
  return request.ok() ? "accepted" : request.status().message();
}

GenerateRequest parsed(const GenerateValues& values) {
  auto request = parse_generate(values);
  EXPECT_TRUE(request.ok()) << request.status().message();
  return request.ok() ? *request : GenerateRequest{};
}

TEST(Options, KeysAndNamesAreUniqueAndFieldsExist) {
  std::set<std::string> keys, names;
  for (const GenerateOption& option : generate_options()) {
    EXPECT_TRUE(keys.insert(std::string(option.key)).second) << option.key;
    EXPECT_THAT(std::string(option.names), HasSubstr("--" + std::string(option.key)));
    std::string_view rest = option.names;
    while (!rest.empty()) {
      const size_t comma = std::min(rest.find(','), rest.size());
      EXPECT_TRUE(names.insert(std::string(rest.substr(0, comma))).second) << rest;
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    if (!option.field.empty()) {
      EXPECT_NE(find_field(option.field), nullptr) << option.field;
    }
  }
  // The seed's spellings.
  for (const char* name : {"-o", "-d", "-v", "-n", "-a", "-r", "--arch", "--list-configs", "--verbose"})
    EXPECT_TRUE(names.contains(name)) << name;
}

TEST(Request, DefaultsAreTheDefaultRuleSetForHopper) {
  const GenerateRequest request = parsed({});
  EXPECT_EQ(request.action, GenerateRequest::Action::kExport);
  ASSERT_EQ(request.targets.size(), 1u);
  EXPECT_EQ(request.targets[0].target, Target::kSm90a);
  EXPECT_EQ(request.query.rule_set, RuleSet::kDefault);
  EXPECT_FALSE(request.single);
}

TEST(Request, SeveralValuesAndAliasesNarrowTheQuery) {
  const GenerateRequest request = parsed({{"target", {"sim:gfx942", "sm_80", "sm_80"}},
                                          {"variant", {"forward", "bwd_weight"}},
                                          {"datatype", {"fp16", "BF16"}},
                                          {"layout", {"NHWGC", "GKYXC", "NHWGK"}},
                                          {"rule-set", {"tiny"}},
                                          {"list", {}}});
  EXPECT_EQ(request.targets, (std::vector<TargetName>{{Target::kGfx942, true}, {Target::kSm80, false}}));
  EXPECT_EQ(request.query.directions, (std::vector{Direction::kForward, Direction::kBackwardWeight}));
  EXPECT_EQ(request.query.types, (std::vector{DataType::kF16, DataType::kBf16}));
  EXPECT_EQ(request.query.layouts, std::vector{Layout::kChannelsLast});
  EXPECT_EQ(request.query.dims, std::vector{2});
  EXPECT_EQ(request.query.rule_set, RuleSet::kTiny);
  EXPECT_EQ(request.action, GenerateRequest::Action::kList);
  EXPECT_EQ(parsed({{"target", {"all"}}}).targets.size(), targets().size());
}

TEST(Request, EveryLayoutAliasIsKnown) {
  const auto is = [](const char* name, Layout layout, int dims) {
    const auto parsed_name = parse_layout(name);
    ASSERT_TRUE(parsed_name.ok()) << name;
    EXPECT_EQ(parsed_name->layout, layout) << name;
    EXPECT_EQ(parsed_name->dims.value_or(0), dims) << name;
  };
  int dims = 0;
  for (const auto& names : {std::array{"NWGC", "GKXC", "NWGK", "nwc"}, std::array{"NHWGC", "GKYXC", "NHWGK", "NHWC"},
                            std::array{"NDHWGC", "GKZYXC", "NDHWGK", "NDHWC"}}) {
    ++dims;
    for (const char* name : names) is(name, Layout::kChannelsLast, dims);
  }
  is("NGCHW", Layout::kChannelsFirst, 2);
  is("NCDHW", Layout::kChannelsFirst, 3);
  is("channels_first", Layout::kChannelsFirst, 0);
  EXPECT_THAT(parse_layout("HWCN").status().message(), HasSubstr("--layout HWCN is unknown"));
}

TEST(Request, BadTextsAreNamedWithChoices) {
  EXPECT_THAT(failure_of({{"target", {"sm_75"}}}), HasSubstr("sm_75 is not a target; choose one of sm_80"));
  EXPECT_THAT(failure_of({{"variant", {"sideways"}}}), HasSubstr("--variant sideways is unknown"));
  EXPECT_THAT(failure_of({{"datatype", {"int4"}}}), HasSubstr("--datatype int4 is unknown"));
  EXPECT_THAT(failure_of({{"ndim", {"4"}}}), HasSubstr("--ndim 4 must be 1, 2 or 3"));
  EXPECT_THAT(failure_of({{"rule-set", {"huge"}}}), HasSubstr("huge is not a rule set"));
  EXPECT_THAT(failure_of({{"format", {"xml"}}}), HasSubstr("--format xml must be table, json or names"));
  EXPECT_THAT(failure_of({{"list", {"perhaps"}}}), HasSubstr("--list perhaps must be true or false"));
  EXPECT_THAT(failure_of({{"ndim", {"3"}}, {"layout", {"NHWC"}}}), HasSubstr("--layout NHWC has 2 dimensions"));
  EXPECT_THAT(failure_of({{"rule-set", {"tiny"}}, {"tile-m", {"64"}}}), HasSubstr("exclude each other"));
  EXPECT_THAT(failure_of({{"tiles", {"1"}}}), HasSubstr("no option --tiles"));
}

TEST(Request, BooleansParseAsBooleans) {
  EXPECT_EQ(parsed({{"list", {"false"}}}).action, GenerateRequest::Action::kExport);
  EXPECT_EQ(parsed({{"list", {"True"}}}).action, GenerateRequest::Action::kList);
  EXPECT_TRUE(*parse_bool("--x", ""));
  EXPECT_FALSE(*parse_bool("--x", "off"));
  EXPECT_EQ(failure_of({{"double-smem-buffer", {"False"}}, {"pipeline", {"basic_v1"}}}), "accepted");
  EXPECT_THAT(failure_of({{"double-smem-buffer", {"True"}}, {"pipeline", {"basic_v1"}}}),
              HasSubstr("double_buffer=true, but pipeline basic_v1 has as many shared buffers"));
  EXPECT_THAT(failure_of({{"double-smem-buffer", {"2"}}}), HasSubstr("--double-smem-buffer 2 must be true or false"));
}

// The page holds what `wavetile generate --constraints` prints.
TEST(Listing, ThePageHasTheConstraintTable) {
  const auto tree = std::filesystem::path(places::kSourceTree);
  const Result<std::string> page = read_file(tree / "docs/rule-sets.md");
  ASSERT_TRUE(page.ok()) << page.status().message();
  EXPECT_THAT(*page, HasSubstr(constraint_text()));
}

TEST(SingleKernel, KeepsWhatWasGiven) {
  const GenerateRequest request = parsed({{"target", {"sm_80"}},
                                          {"datatype", {"fp16"}},
                                          {"variant", {"bwd_data"}},
                                          {"ndim", {"3"}},
                                          {"pipeline", {"compv1"}},
                                          {"tile-m", {"64"}},
                                          {"tile-n", {"128"}},
                                          {"tile-k", {"32"}},
                                          {"set", {"epilogue.bias=true"}}});
  ASSERT_TRUE(request.single);
  ASSERT_EQ(request.kernels.size(), 1u);
  EXPECT_EQ(name_of(request.kernels[0]), "wt_bwd_data_fp16_ndhwc_sm80_basic_t64x128x32_bias");
}

TEST(SingleKernel, KindSaysWhich) {
  const GenerateRequest request = parsed({{"target", {"sm_90a"}}, {"kind", {"basic"}}, {"tile-k", {"32"}}});
  ASSERT_EQ(request.kernels.size(), 1u);
  EXPECT_EQ(request.kernels[0].kind, Kind::kBasic);
  EXPECT_THAT(failure_of({{"target", {"sm_80"}}, {"kind", {"tma"}}}), HasSubstr("kind=tma has no kernel for sm_80"));
  EXPECT_THAT(failure_of({{"kind", {"fast"}}}), HasSubstr("kind=fast is unknown; choose one of tma, tma_halo,"));
}

TEST(SingleKernel, OneForEachCombination) {
  const GenerateRequest request = parsed({{"target", {"sm_80", "gfx942"}},
                                          {"variant", {"fwd", "bwd_data"}},
                                          {"datatype", {"fp16", "bf16"}},
                                          {"tile-m", {"64"}},
                                          {"tile-k", {"32"}}});
  EXPECT_EQ(request.kernels.size(), 8u);
  EXPECT_EQ(kernels_of(request, {Target::kSm80}).kernels.size(), 4u);
}

// The defaults are 128x128x64, 2x2x1, 32x32x16 and compv4; notes say where they give way.
TEST(SingleKernel, DefaultsGiveWayWithANote) {
  const GenerateRequest nvidia = parsed({{"target", {"sm_90a"}}, {"epilogue", {"default"}}});
  ASSERT_EQ(nvidia.kernels.size(), 1u);
  EXPECT_TRUE(is_valid(nvidia.kernels[0]));
  EXPECT_EQ(nvidia.kernels[0].gemm.pipeline, Pipeline::kCompV4);
  EXPECT_THAT(
      parsed({{"target", {"sm_90a"}}, {"epilogue", {"default"}}, {"layout", {"NCHW"}}}).notes,
      testing::Contains(HasSubstr("sm_90a: pipeline compv4, the default, has no kernel for this target, layout")));
  EXPECT_THAT(nvidia.notes, testing::Contains(HasSubstr("32x32x16, the default warp tile, is no matrix instruction")));
  EXPECT_THAT(nvidia.notes, testing::Contains(HasSubstr("128x128x64, the default tile, is not possible")));
  const GenerateRequest amd = parsed({{"target", {"gfx942"}}, {"epilogue", {"default"}}, {"datatype", {"fp16"}}});
  ASSERT_EQ(amd.kernels.size(), 1u);
  EXPECT_EQ(amd.kernels[0].gemm.tile, (Extent3{128, 128, 64}));
  EXPECT_EQ(amd.kernels[0].gemm.warps, (Extent3{2, 2, 1}));
  EXPECT_EQ(amd.kernels[0].gemm.mma, (Extent3{32, 32, 8}));
}

TEST(SingleKernel, AnImpossibleRequestNamesItsConstraint) {
  EXPECT_THAT(failure_of({{"target", {"sm_80"}}, {"pipeline", {"tma"}}}),
              HasSubstr("no such kernel for sm_80: kernel-exists: kind=portable has no pipeline tma"));
  EXPECT_THAT(failure_of({{"target", {"sm_80"}}, {"tile-m", {"24"}}}), HasSubstr("tile-warps: tile=24x128x64"));
  EXPECT_THAT(failure_of({{"target", {"sm_80"}}, {"tile-m", {"1024"}}, {"tile-n", {"1024"}}}),
              HasSubstr("shared-capacity"));
  EXPECT_THAT(failure_of({{"target", {"sm_80"}}, {"streamk-enabled", {}}}), HasSubstr("stream-k: stream_k=tree"));
  EXPECT_THAT(
      failure_of({{"target", {"sm_80"}}, {"streamk-reduction-strategy", {"LINEAR"}}, {"streamk-enabled", {"true"}}}),
      HasSubstr("stream_k=linear"));
  EXPECT_THAT(failure_of({{"target", {"gfx1100"}}, {"warp-tile-m", {"32"}}}), HasSubstr("mma-shape: mma=32x8x16"));
}

TEST(SingleKernel, UnknownValuesAreNeverReplaced) {
  EXPECT_THAT(failure_of({{"pipeline", {"compv9"}}}),
              HasSubstr("gemm.pipeline=compv9 is unknown; choose one of basic_v1"));
  EXPECT_THAT(failure_of({{"pipeline", {"preshufflev2"}}}), HasSubstr("preshuffled weights are not mapped"));
  EXPECT_THAT(failure_of({{"epilogue", {"fancy"}}}), HasSubstr("--epilogue fancy must be cshuffle or default"));
  EXPECT_THAT(failure_of({{"scheduler", {"both"}}}), HasSubstr("gemm.scheduler=both is unknown"));
  EXPECT_THAT(failure_of({{"tile-m", {"wide"}}}), HasSubstr("gemm.tile.m=wide must be an integer"));
  EXPECT_THAT(failure_of({{"set", {"gemm.nothing=1"}}}), HasSubstr("gemm.nothing is not a field"));
  EXPECT_THAT(failure_of({{"set", {"stages"}}}), HasSubstr("must be FIELD=VALUE"));
}

TEST(Listing, TableJsonAndNamesAgree) {
  const TargetName target{Target::kSm80};
  const std::vector<TargetKernels> lists = {
      {target, list_kernels({.target = target.target, .rule_set = RuleSet::kTiny})}};
  const size_t count = lists[0].result.kernels.size();
  EXPECT_THAT(list_text(lists, ListFormat::kTable, false), HasSubstr(fmt::format("sm_80: {} kernels\n", count)));
  const nlohmann::json json = nlohmann::json::parse(list_text(lists, ListFormat::kJson, false));
  ASSERT_EQ(json.size(), count);
  EXPECT_EQ(json[0]["name"], name_of(lists[0].result.kernels[0]));
  EXPECT_EQ(json[0]["config"]["gemm"]["stages"], lists[0].result.kernels[0].gemm.stages);
  const auto config = config_from_json(json[0]["config"].dump());
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(*config, lists[0].result.kernels[0]);
  const std::string names = list_text(lists, ListFormat::kNames, false);
  EXPECT_EQ(std::ranges::count(names, '\n'), static_cast<std::ptrdiff_t>(count));
  EXPECT_THAT(list_text(lists, ListFormat::kTable, true), HasSubstr("    gemm.stages=1\n"));
}

TEST(Listing, CountsAndConstraintsAreMarkdown) {
  const std::string counts = count_text({{Target::kSm80}}, {});
  EXPECT_THAT(counts, HasSubstr("| target | default | full | full-tests | profiler | tests | tiny |"));
  EXPECT_THAT(counts, HasSubstr("| sm_80 | "));
  EXPECT_THAT(constraint_text(), HasSubstr("| shared-capacity | the target |"));
  EXPECT_THAT(constraint_text(), HasSubstr("| tma-stride | the problem | all |"));
  EXPECT_THAT(constraint_text(), HasSubstr("| tma-halo | the target | tma_halo |"));
}

}  // namespace
}  // namespace wt
