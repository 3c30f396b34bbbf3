// SPDX-License-Identifier: Apache-2.0
// The cache and pack commands, from building to damage, with the host compiler.
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/parallel.h"
#include "cli/commands/cache.h"
#include "cli/commands/pack.h"
#include "cli/exit_code.h"
#include "compile/cache.h"
#include "compile/pack.h"
#include "config/fields.h"
#include "dispatch/choice/candidates.h"
#include "dispatch/tuning/contenders.h"
#include "dispatch/tuning/exchange.h"
#include "generate/source.h"
#include "rules/rules.h"
#include "tests/compile/scratch.h"

namespace wt::cli {
namespace {

using ::testing::HasSubstr;
using CachePack = compile::Scratch;

template <class Run>
std::string output_of(const Run& run, int expected) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const int code = run();
  std::fflush(stdout);
  const std::string text = ::testing::internal::GetCapturedStdout() + ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(code, expected) << text;
  return text;
}

void damage(const std::filesystem::path& path, size_t at) {
  std::string bytes = *read_file(path);
  bytes[at] = static_cast<char>(bytes[at] ^ 1);
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

TEST_F(CachePack, CacheIsListedVerifiedAndCleared) {
  const auto module = compile::compile(compile::Backend::kHost, compile::host_source("listed_kernel", 1));
  ASSERT_TRUE(module.ok()) << module.status().message();
  const std::string table = output_of([] { return run_cache_list({}); }, kExitGood);
  EXPECT_THAT(table, HasSubstr("listed_kernel"));
  EXPECT_THAT(table, HasSubstr("in 1 entries"));
  const auto json = nlohmann::json::parse(output_of([] { return run_cache_list({.json = "-"}); }, kExitGood));
  ASSERT_EQ(json.at("entries").size(), 1u);
  EXPECT_EQ(json.at("entries")[0].at("kernel"), "listed_kernel");
  EXPECT_EQ(json.at("entries")[0].at("target"), "sm_90a");

  EXPECT_THAT(output_of([] { return run_cache_verify({}); }, kExitGood),
              HasSubstr("2 good, 0 damaged"));  // and the headers
  damage(module->path, 100);
  EXPECT_THAT(output_of([] { return run_cache_list({}); }, kExitGood), HasSubstr("damaged"));
  EXPECT_THAT(output_of([] { return run_cache_verify({}); }, kExitVerificationFailed), HasSubstr(module->path));
  EXPECT_THAT(output_of([] { return run_cache_verify({.remove = true}); }, kExitVerificationFailed),
              HasSubstr("removed"));
  EXPECT_THAT(output_of([] { return run_cache_verify({}); }, kExitGood), HasSubstr("1 good, 0 damaged"));

  ASSERT_TRUE(compile::compile(compile::Backend::kHost, compile::host_source("listed_kernel", 1)).ok());
  EXPECT_THAT(output_of([] { return run_cache_clear(); }, kExitGood), HasSubstr("removed 1 entries"));
}

TEST_F(CachePack, PackIsBuiltListedAndVerified) {
  PackBuildOptions build{
      .target = "sim:sm_80", .rule_set = "tiny", .output = (folder / "p.wtpack").string(), .progress = false};
  RuleQuery query{.target = Target::kSm80, .rule_set = RuleSet::kTiny};
  // The smallest part of the rule set that is not empty keeps this test quick.
  for (const auto& [direction, name] : {std::pair{Direction::kForward, "fwd"},
                                        {Direction::kBackwardData, "bwd_data"},
                                        {Direction::kBackwardWeight, "bwd_weight"}}) {
    for (int dims = 1; dims <= 3; ++dims) {
      query.directions = {direction};
      query.dims = {dims};
      build.variants = {name};
      build.dims = {dims};
      if (!list_kernels(query).kernels.empty()) break;
    }
    if (!list_kernels(query).kernels.empty()) break;
  }
  const size_t count = list_kernels(query).kernels.size();
  ASSERT_GT(count, 0u);
  const std::string kernels = fmt::format("{} kernels for sim:sm_80", count);
  EXPECT_THAT(output_of([&] { return run_pack_build(build); }, kExitGood), HasSubstr(kernels));
  const PackListOptions list{.file = build.output};
  EXPECT_THAT(output_of([&] { return run_pack_list(list); }, kExitGood), HasSubstr(kernels + ", rule set tiny"));
  const PackListOptions as_json{.file = build.output, .json = "-"};
  const auto json = nlohmann::json::parse(output_of([&] { return run_pack_list(as_json); }, kExitGood));
  EXPECT_EQ(json.at("kernels").size(), count);
  EXPECT_EQ(json.at("target"), "sim:sm_80");
  const PackVerifyOptions verify{.file = build.output, .target = "sim:sm_80"};
  EXPECT_THAT(output_of([&] { return run_pack_verify(verify); }, kExitGood), HasSubstr("0 damaged"));
  const PackVerifyOptions other{.file = build.output, .target = "sm_80"};
  EXPECT_THAT(output_of([&] { return run_pack_verify(other); }, kExitUnsupported),
              HasSubstr("holds kernels for sim:sm_80 and the device needs sm_80"));
  damage(build.output, 200);
  EXPECT_THAT(output_of([&] { return run_pack_verify(verify); }, kExitVerificationFailed), HasSubstr("1 damaged"));

  // A kernel that spills fails the build, unless that is allowed. The cache says what the compiler said.
  const KernelConfig config = list_kernels(query).kernels.front();
  auto module = compile::compile(compile::Backend::kHost, {name_of(config), *generate_source(config), Target::kSm80});
  ASSERT_TRUE(module.ok()) << module.status().message();
  module->resources.spill_bytes = 24;
  ASSERT_TRUE(compile::Cache::open()->store(*module).ok());
  build.output = (folder / "spills.wtpack").string();
  build.report = (folder / "report.json").string();
  const std::string refused = output_of([&] { return run_pack_build(build); }, kExitDevice);
  EXPECT_THAT(refused, HasSubstr(name_of(config) + " spills 24 bytes per thread"));
  EXPECT_THAT(refused, HasSubstr(fmt::format("1 of {} kernels spill registers", count)));
  EXPECT_FALSE(std::filesystem::exists(build.output));
  build.allow_spills = true;
  EXPECT_THAT(output_of([&] { return run_pack_build(build); }, kExitGood), HasSubstr(kernels));
  const auto report = nlohmann::json::parse(*read_file(build.report));
  EXPECT_EQ(report.at("kernels"), count);
  EXPECT_EQ(report.at("from_cache"), count);
  EXPECT_EQ(report.at("kernels_that_spill"), 1);
  EXPECT_GT(report.at("median_compile_seconds"), 0.0);
}

// The kernels of a tuning export beside those of the rule set, each once.
TEST_F(CachePack, PackOfARuleSetTakesTunedKernelsToo) {
  const std::string tuned = (folder / "tuned.json").string();
  tuning::Entry entry{{"GPU", 132, "sm_80", "p"}, {}, 1, 1, true, "0.2.0"};
  const auto listed = rank_candidates(*parse_problem("fwd fp32 n1 c8 k8 i9x9 f3x3 p1"), Target::kSm80, {});
  const auto found = std::find_if(listed.begin(), listed.end(), [](const auto& c) { return c.accepts(); });
  ASSERT_NE(found, listed.end());
  entry.best.kernel = found->name;
  entry.best.config = to_json(found->config);
  entry.best.median_us = entry.best.low_us = entry.best.high_us = 1;
  entry.best.runs = 1;
  entry.best.saved_at = 1700000000000;
  entry.best.code = {"key", "", "g++"};
  tuning::Entry other = entry;
  other.key.problem = "q";
  ASSERT_TRUE(write_file(tuned, tuning::to_json({{entry, other}, {}, {}})).ok());
  PackBuildOptions build{.target = "sim:sm_80",
                         .rule_set = "tiny",
                         .tuned = tuned,
                         .output = (folder / "a.wtpack").string(),
                         .variants = {"bwd_weight"},
                         .datatypes = {"fp32"},
                         .dims = {1},
                         .progress = false};
  const std::string out = output_of([&] { return run_pack_build(build); }, kExitGood);
  const PackListOptions list{.file = build.output};
  const std::string names = output_of([&] { return run_pack_list(list); }, kExitGood);
  EXPECT_THAT(names, HasSubstr(found->name));
  EXPECT_THAT(names, HasSubstr("bwd_weight"));
  build.target = "sim:sm_90a";
  EXPECT_THAT(output_of([&] { return run_pack_build(build); }, kExitBadInput), HasSubstr("has no entry for sm_90a"));
}

TEST_F(CachePack, PackOfProblemsHoldsWhatTuningWouldTry) {
  // As many as take two goes at compiling. All of them lie in the cache, so nothing is compiled here.
  const size_t count = static_cast<size_t>(8 * hardware_threads()) + 1;
  const std::string text = "fwd bf16 n8 c64 k64 i28x28 f3x3 p1";
  PackBuildOptions build{.target = "sim:sm_80",
                         .problems = {text},
                         .within = 100,
                         .most = count,
                         .output = (folder / "p.wtpack").string(),
                         .progress = false};
  const ConvProblem problem = *parse_problem(text);
  const std::vector<KernelConfig> kernels = tuning::contenders(std::span(&problem, 1), Target::kSm80, {100, count});
  ASSERT_EQ(kernels.size(), count);
  for (const KernelConfig& config : kernels) {
    compile::Module module{.backend = compile::Backend::kHost, .target = Target::kSm80, .name = name_of(config)};
    module.image = "as if compiled";
    module.key = *compile::content_key(module.backend, {module.name, *generate_source(config), Target::kSm80});
    ASSERT_TRUE(compile::Cache::open()->store(module).ok());
    EXPECT_TRUE(compile::is_cached(module.backend, {module.name, *generate_source(config), Target::kSm80}));
  }
  EXPECT_THAT(output_of([&] { return run_pack_build(build); }, kExitGood),
              HasSubstr(fmt::format("{} kernels for sim:sm_80", count)));
  build.seconds = 1e-9;
  EXPECT_THAT(output_of([&] { return run_pack_build(build); }, kExitGood),
              HasSubstr("1 kernels were not begun in time"));
  build.dims = {2};
  EXPECT_THAT(output_of([&] { return run_pack_build(build); }, kExitBadInput), HasSubstr("--problems names"));
  build.dims = {};
  build.problems = {};
  EXPECT_THAT(output_of([&] { return run_pack_build(build); }, kExitBadInput),
              HasSubstr("--seconds is for --problems"));
}

TEST_F(CachePack, PackOfProblemsLeavesOutAndNamesWhatSpills) {
  const std::string text = "fwd bf16 n8 c64 k64 i28x28 f3x3 p1";
  PackBuildOptions build{.target = "sim:sm_80",
                         .problems = {text},
                         .within = 100,
                         .most = 5,
                         .output = (folder / "p.wtpack").string(),
                         .progress = false};
  const ConvProblem problem = *parse_problem(text);
  const std::vector<KernelConfig> kernels = tuning::contenders(std::span(&problem, 1), Target::kSm80, {100, 5});
  ASSERT_EQ(kernels.size(), 5u);
  // All lie in the cache, as if compiled; `spilling` of them spill.
  const auto store = [&](size_t spilling) {
    for (size_t i = 0; i < kernels.size(); ++i) {
      compile::Module module{.backend = compile::Backend::kHost, .target = Target::kSm80, .name = name_of(kernels[i])};
      module.image = "as if compiled";
      module.key = *compile::content_key(module.backend, {module.name, *generate_source(kernels[i]), Target::kSm80});
      module.resources.spill_bytes = i < spilling ? 16 : 0;
      ASSERT_TRUE(compile::Cache::open()->store(module).ok());
    }
  };
  store(2);
  const std::string said = output_of([&] { return run_pack_build(build); }, kExitDevice);
  EXPECT_THAT(said, HasSubstr("p.wtpack: 3 kernels for sim:sm_80"));
  EXPECT_THAT(said, HasSubstr("2 kernels spill registers (--allow-spills keeps them); they are named above"));
  const auto pack = compile::Pack::read(build.output);
  ASSERT_TRUE(pack.ok()) << pack.status().message();
  for (size_t i = 0; i < kernels.size(); ++i) {
    const std::string name = name_of(kernels[i]);
    EXPECT_EQ(said.find(name + " spills 16 bytes per thread") != std::string::npos, i < 2) << said;
    EXPECT_EQ(std::ranges::any_of((*pack)->entries(), [&](const auto& e) { return e.name == name; }), i >= 2) << name;
  }
  build.allow_spills = true;
  EXPECT_THAT(output_of([&] { return run_pack_build(build); }, kExitGood), HasSubstr("5 kernels for sim:sm_80"));

  // Nothing left to write is no pack.
  store(5);
  build.allow_spills = false;
  build.output = (folder / "none.wtpack").string();
  EXPECT_THAT(output_of([&] { return run_pack_build(build); }, kExitDevice),
              HasSubstr("5 of 5 kernels spill registers; "));
  EXPECT_FALSE(std::filesystem::exists(build.output));
}

TEST_F(CachePack, PackOfNamesHoldsTheseAlone) {
  const std::string text = "bwd_weight bf16 n8 c64 k64 i28x28 f3x3 p1";
  const std::string names = (folder / "names.txt").string();
  PackBuildOptions build{.target = "sim:sm_90a",
                         .problems = {text},
                         .names = names,
                         .output = (folder / "p.wtpack").string(),
                         .progress = false};
  EXPECT_THAT(output_of([&] { return run_pack_build(build); }, kExitBadInput), HasSubstr("names.txt"));
  ASSERT_TRUE(write_file(names, "# none\n").ok());
  EXPECT_THAT(output_of([&] { return run_pack_build(build); }, kExitBadInput), HasSubstr("names no kernel"));

  // The last of those that accept, which no prediction would bring, and one that plans take on request alone.
  PlanOptions any;
  any.deterministic = false;
  std::vector<RankedCandidate> ranked = rank_candidates(*parse_problem(text), Target::kSm90a, any);
  std::erase_if(ranked, [](const RankedCandidate& candidate) { return !candidate.accepts(); });
  const auto atomic = std::ranges::find_if(
      ranked, [](const RankedCandidate& candidate) { return candidate.config.gemm.split_k == SplitK::kAtomic; });
  ASSERT_NE(atomic, ranked.end());
  const std::vector<KernelConfig> wanted = {ranked.back().config, atomic->config};
  for (const KernelConfig& config : wanted) {
    compile::Module module{.backend = compile::Backend::kHost, .target = Target::kSm90a, .name = name_of(config)};
    module.image = "as if compiled";
    module.key = *compile::content_key(module.backend, {module.name, *generate_source(config), Target::kSm90a});
    ASSERT_TRUE(compile::Cache::open()->store(module).ok());
  }
  ASSERT_TRUE(write_file(names, fmt::format("{}  # one\n{}\n", name_of(wanted[0]), name_of(wanted[1]))).ok());
  EXPECT_THAT(output_of([&] { return run_pack_build(build); }, kExitGood), HasSubstr("2 kernels for sim:sm_90a"));
  const auto pack = compile::Pack::read(build.output);
  ASSERT_TRUE(pack.ok());
  for (const KernelConfig& config : wanted)
    EXPECT_TRUE(std::ranges::any_of((*pack)->entries(), [&](const auto& e) { return e.name == name_of(config); }));

  ASSERT_TRUE(write_file(names, name_of(wanted[0]) + "\nwt_unheard_of\n").ok());
  EXPECT_THAT(output_of([&] { return run_pack_build(build); }, kExitUnsupported), HasSubstr("the first wt_unheard_of"));
  build.problems = {};
  EXPECT_THAT(output_of([&] { return run_pack_build(build); }, kExitBadInput), HasSubstr("--names is for --problems"));
}

TEST_F(CachePack, ImpossibleRequestsAreNamed) {
  PackBuildOptions build{.target = "sm_12", .output = (folder / "p.wtpack").string()};
  EXPECT_THAT(output_of([&] { return run_pack_build(build); }, kExitBadInput), HasSubstr("sm_12"));
  build.target = "sim:sm_80";
  build.rule_set = "everything";
  EXPECT_THAT(output_of([&] { return run_pack_build(build); }, kExitBadInput), HasSubstr("everything"));
  build.rule_set = "tiny";
  build.variants = {"sideways"};
  EXPECT_THAT(output_of([&] { return run_pack_build(build); }, kExitBadInput),
              HasSubstr("--variant sideways is not known"));
  build.variants = {};
  build.dims = {4};
  EXPECT_THAT(output_of([&] { return run_pack_build(build); }, kExitBadInput), HasSubstr("--ndim 4"));
  EXPECT_FALSE(std::filesystem::exists(build.output));
}

}  // namespace
}  // namespace wt::cli
