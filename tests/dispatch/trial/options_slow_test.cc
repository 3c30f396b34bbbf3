// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/trial/options_slow_test.cc - every option of a single kernel changes the machine code of some kernel,
// or its launches; what changes none is understood and not used, with its reason.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "config/fields.h"
#include "dispatch/trial/code_check.h"
#include "dispatch/trial/twins.h"
#include "generate/options.h"
#include "generate/request.h"
#include "kernels/constraints.h"
#include "rules/rules.h"

namespace wt {
namespace {

using Values = std::map<std::string, std::string>;

// Two kernels that differ in an option and in nothing that it does not bring along.
struct Pair {
  const char* option;
  Values both, one, other;
};

const Values kSmall = {{"tile-m", "64"}, {"tile-n", "64"}, {"tile-k", "32"}};
Values with(Values values, const Values& more) {
  values.insert(more.begin(), more.end());
  return values;
}
const Values kWeight = with(kSmall, {{"variant", "bwd_weight"}, {"vector-a", "8"}});

const Pair kPairs[] = {
    {"tile-m", {{"tile-n", "64"}, {"tile-k", "32"}}, {{"tile-m", "64"}}, {{"tile-m", "128"}}},
    {"tile-n", {{"tile-m", "64"}, {"tile-k", "32"}}, {{"tile-n", "64"}}, {{"tile-n", "128"}}},
    {"tile-k", {{"tile-m", "64"}, {"tile-n", "64"}}, {{"tile-k", "32"}}, {{"tile-k", "64"}}},
    {"warp-m", kSmall, {}, {{"warp-m", "1"}}},
    {"warp-n", kSmall, {}, {{"warp-n", "1"}}},
    {"warp-k", {{"tile-m", "64"}, {"tile-n", "64"}, {"tile-k", "64"}}, {}, {{"warp-k", "2"}}},
    {"warp-tile-m", kSmall, {}, {{"warp-tile-m", "16"}, {"warp-tile-n", "16"}, {"warp-tile-k", "16"}}},
    {"warp-tile-n", kSmall, {}, {{"warp-tile-m", "16"}, {"warp-tile-n", "16"}, {"warp-tile-k", "16"}}},
    {"warp-tile-k", kSmall, {}, {{"warp-tile-m", "16"}, {"warp-tile-n", "16"}, {"warp-tile-k", "16"}}},
    {"kind", {}, {{"kind", "basic"}}, {{"kind", "portable"}}},
    {"pipeline", kSmall, {{"pipeline", "compv4"}}, {{"pipeline", "compv6"}}},
    {"scheduler", with(kSmall, {{"pipeline", "mem"}}), {}, {{"scheduler", "interwave"}}},
    {"epilogue", kSmall, {}, {{"epilogue", "default"}}},
    {"vector-a", kSmall, {}, {{"vector-a", "2"}}},
    {"vector-b", kSmall, {}, {{"vector-b", "2"}}},
    {"vector-c", kSmall, {}, {{"vector-c", "4"}}},
    {"num-wave-groups", kSmall, {{"pipeline", "compv4"}}, {{"pipeline", "compv5"}, {"num-wave-groups", "2"}}},
    {"num-groups-to-merge", kWeight, {}, {{"num-groups-to-merge", "4"}}},
    {"double-smem-buffer", with(kSmall, {{"pipeline", "mem"}}), {}, {{"double-smem-buffer", "true"}}},
    {"two-stage", kWeight, {}, {{"two-stage", "true"}}},
    {"explicit-gemm", kWeight, {}, {{"explicit-gemm", ""}}},
    {"streamk-enabled", kWeight, {}, {{"streamk-enabled", ""}}},
    {"streamk-reduction-strategy",
     with(kWeight, {{"streamk-enabled", ""}}),
     {{"streamk-reduction-strategy", "TREE"}},
     {{"streamk-reduction-strategy", "LINEAR"}}},
    {"streamk-persistent", with(kWeight, {{"streamk-enabled", ""}}), {}, {{"streamk-persistent", ""}}},
};

KernelConfig kernel_of(const Values& both, const Values& more) {
  GenerateValues values = {{"target", {"gfx942"}}, {"datatype", {"fp16"}}, {"list", {}}};
  for (const auto& [key, value] : with(both, more)) {
    values[key] = value.empty() ? std::vector<std::string>{} : std::vector{value};
  }
  const Result<GenerateRequest> request = parse_generate(values);
  EXPECT_TRUE(request.ok()) << request.status().message();
  return request.ok() && request->kernels.size() == 1 ? request->kernels.front() : KernelConfig{};
}

// What compilers make of the kernels, by name.
std::map<std::string, CodeCheck> checked(const std::vector<KernelConfig>& kernels) {
  std::map<std::string, CodeCheck> checks;
  std::vector<KernelConfig> once;
  for (const KernelConfig& config : kernels)
    if (std::ranges::find(once, config) == once.end()) once.push_back(config);
  for (const CodeCheck& check : check_code(once)) {
    EXPECT_TRUE(check.good()) << name_of(check.config) << ": " << (check.faults.empty() ? "" : check.faults.front());
    checks.emplace(name_of(check.config), check);
  }
  return checks;
}

void expect_different(const std::map<std::string, CodeCheck>& checks, const KernelConfig& a, const KernelConfig& b) {
  ASSERT_NE(name_of(a), name_of(b));
  const std::string &one = checks.at(name_of(a)).machine_code, &other = checks.at(name_of(b)).machine_code;
  EXPECT_FALSE(one.empty() || other.empty());
  EXPECT_TRUE(one != other || !are_launched_alike(a, b)) << name_of(a) << " and " << name_of(b);
}

TEST(Options, ThoseWithoutAMeaningSayWhy) {
  for (const UnusedOption& option : unused_generate_options()) {
    EXPECT_GT(option.why.size(), 30u) << option.key;
    EXPECT_EQ(find_generate_option(option.key), nullptr) << option.key;
  }
}

TEST(Options, EachOfASingleKernelIsTriedBelow) {
  std::set<std::string> tried;
  for (const Pair& pair : kPairs) tried.insert(pair.option);
  for (const GenerateOption& option : generate_options()) {
    if (option.field.empty()) continue;
    EXPECT_TRUE(tried.contains(std::string(option.key))) << option.key << " changes no kernel that a test compiles";
  }
}

#if WT_HAVE_CLANG
TEST(Options, EachChangesMachineCodeOrLaunches) {
  std::vector<KernelConfig> kernels;
  for (const Pair& pair : kPairs)
    for (const Values* more : {&pair.one, &pair.other}) kernels.push_back(kernel_of(pair.both, *more));
  const std::map<std::string, CodeCheck> checks = checked(kernels);
  for (size_t i = 0; i < std::size(kPairs); ++i) {
    SCOPED_TRACE(kPairs[i].option);
    expect_different(checks, kernels[2 * i], kernels[2 * i + 1]);
  }
}

// Every name of --pipeline that has a kernel there is a loop of its own.
TEST(Options, PipelinesAreDifferentLoops) {
  std::vector<KernelConfig> kernels;
  for (const char* name : {"basic_v2", "mem", "compv3", "compv4", "compv5", "compv6", "wavelet"})
    kernels.push_back(kernel_of(kSmall, {{"pipeline", name}}));
  const std::map<std::string, CodeCheck> checks = checked(kernels);
  std::set<std::string> codes;
  for (const auto& [name, check] : checks) codes.insert(check.machine_code);
  EXPECT_EQ(codes.size(), kernels.size());
}
#endif

#if WT_HAVE_NVRTC
// Orders of tiles have no option of their own: --set, of the kernels that have bands of tiles.
TEST(Options, OrdersOfTilesChangeMachineCode) {
  const std::vector<KernelConfig> all =
      list_kernels(
          {.target = Target::kSm90a, .directions = {Direction::kForward}, .types = {DataType::kBf16}, .dims = {2}})
          .kernels;
  const auto found = std::ranges::find(all, Kind::kTma, &KernelConfig::kind);
  ASSERT_NE(found, all.end());
  std::vector<KernelConfig> kernels(3, *found);
  ASSERT_TRUE(set_field(kernels[1], "gemm.raster", "along_n").ok());
  ASSERT_TRUE(set_field(kernels[2], "gemm.block_swizzle", "4").ok());
  for (const KernelConfig& config : kernels) ASSERT_TRUE(declines(config).empty()) << to_text(declines(config));
  const std::map<std::string, CodeCheck> checks = checked(kernels);
  expect_different(checks, kernels[0], kernels[1]);
  expect_different(checks, kernels[0], kernels[2]);
}
#endif

}  // namespace
}  // namespace wt
