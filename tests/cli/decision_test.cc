// SPDX-License-Identifier: Apache-2.0
// tests/cli/decision_test.cc - explain names what a plan runs: random problems and options on a GPU of the fake driver,
// whose kernels a fake NVRTC "compiles", by the C API and by the command.
//
//   plan --execute--> launches that the driver saw == launches that the decision of explain stands for
#include <gtest/gtest.h>
#include <stdlib.h>
#include <wavetile/wavetile.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands/explain.h"
#include "cli/show/preview.h"
#include "dispatch/choice/decision.h"
#include "dispatch/choice/filter.h"
#include "problem/random_problem.h"
#include "tests/dispatch/tuning_scratch.h"
#include "tests/fake_driver/fake_gpu.h"
#include "tests/places.h"

namespace wt {
namespace {

using Json = nlohmann::json;
using Names = std::vector<std::string>;

constexpr const char *kTransposition = "transpose", *kJoining = "join_rows";

// transpose_2_bytes
std::string less_size(const std::string& name) {
  for (const char* mover : {kTransposition, kJoining})
    if (name.starts_with(mover)) return mover;
  return name;
}

struct Options {
  bool deterministic = true, strict_nonfinite = false;
  int64_t workspace_limit = -1;
  int splits = 0;
  std::string kernel;

  bool for_the_command() const { return workspace_limit < 0 && splits == 0; }
};

// A plan, and what the driver saw of one execute.
struct Execution {
  Json plan;  // null: nothing runs the problem
  Names launches;
};

class Decisions : public FakeGpu {
 protected:
  void SetUp() override {
    FakeGpu::SetUp();
    if (const char* before = std::getenv("WAVETILE_NVRTC")) nvrtc_before_ = before;
    ::setenv("WAVETILE_NVRTC", places::kFakeNvrtc, 1);
    ::setenv("WAVETILE_CACHE_DIR", (folder_.path() / "cache").c_str(), 1);
    ::setenv("WAVETILE_TUNING_DB", (folder_.path() / "tuning.db").c_str(), 1);
    fake_set_memory(size_t{1} << 50);  // tensors of any size
    ASSERT_EQ(wavetile_device_open("gpu:0", &device_), WAVETILE_OK) << wavetile_last_error();
    ASSERT_EQ(wavetile_device_allocate(device_, sizeof(float), &amax_), WAVETILE_OK) << wavetile_last_error();
  }
  void TearDown() override {
    wavetile_device_free(device_, amax_);
    wavetile_device_close(device_);
    for (const char* name : {"WAVETILE_NVRTC", "WAVETILE_CACHE_DIR", "WAVETILE_TUNING_DB"}) ::unsetenv(name);
    if (!nvrtc_before_.empty()) ::setenv("WAVETILE_NVRTC", nvrtc_before_.c_str(), 1);
    FakeGpu::TearDown();
  }

  static wavetile_plan_options as_asked(const Options& options) {
    wavetile_plan_options asked;
    wavetile_plan_options_init(&asked);
    asked.deterministic = options.deterministic;
    asked.strict_nonfinite = options.strict_nonfinite;
    asked.workspace_limit = options.workspace_limit;
    asked.splits = options.splits;
    asked.kernel = options.kernel.empty() ? nullptr : options.kernel.c_str();
    return asked;
  }

  // Kernels of the fake driver touch no memory, so that any addresses serve, of tensors of any size; amax is zeroed.
  static void* address(int64_t number) { return reinterpret_cast<void*>(number << 40); }
  wavetile_tensors tensors() const {
    wavetile_tensors all;
    wavetile_tensors_init(&all);
    int64_t number = 1;
    for (void** pointer : {&all.x, &all.w, &all.y, &all.amax, &all.bias_gradient, &all.new_history, &all.aux[0],
                           &all.aux[1], &all.aux[2], &all.aux[3]})
      *pointer = address(++number);
    for (const void** pointer : {&all.scale, &all.bias, &all.residual, &all.history}) *pointer = address(++number);
    all.amax = amax_;
    return all;
  }

  Execution execute(const std::string& text, const Options& options) const {
    Execution seen;
    wavetile_problem* problem = nullptr;
    EXPECT_EQ(wavetile_problem_parse(text.c_str(), &problem), WAVETILE_OK) << text << ": " << wavetile_last_error();
    const wavetile_plan_options asked = as_asked(options);
    wavetile_plan* plan = nullptr;
    const wavetile_status status = wavetile_plan_create(device_, problem, &asked, &plan);
    EXPECT_TRUE(status == WAVETILE_OK || status == WAVETILE_UNSUPPORTED) << text << ": " << wavetile_last_error();
    if (status == WAVETILE_OK) {
      seen.plan = Json::parse(wavetile_plan_json(plan));
      const int64_t bytes = wavetile_plan_workspace_bytes(plan);
      EXPECT_LE(bytes, options.workspace_limit < 0 ? INT64_MAX : options.workspace_limit) << text;
      const int before = fake_launch_count();
      const wavetile_tensors all = tensors();
      EXPECT_EQ(
          wavetile_plan_execute(plan, nullptr, &all, bytes > 0 ? address(1) : nullptr, static_cast<size_t>(bytes)),
          WAVETILE_OK)
          << text << ": " << wavetile_last_error();
      for (int i = before; i < fake_launch_count(); ++i) seen.launches.push_back(less_size(fake_launch(i)->kernel));
    }
    wavetile_plan_destroy(plan);
    wavetile_problem_destroy(problem);
    return seen;
  }

  Json explain(const std::string& text, const Options& options) const {
    wavetile_problem* problem = nullptr;
    EXPECT_EQ(wavetile_problem_parse(text.c_str(), &problem), WAVETILE_OK) << text << ": " << wavetile_last_error();
    const wavetile_plan_options asked = as_asked(options);
    char* report = nullptr;
    EXPECT_EQ(wavetile_explain(device_, problem, &asked, WAVETILE_FORMAT_JSON, &report), WAVETILE_OK)
        << text << ": " << wavetile_last_error();
    const Json json = report ? Json::parse(report) : Json();
    wavetile_string_free(report);
    wavetile_problem_destroy(problem);
    return json;
  }

  // Plans, executes, explains and compares; what explain says.
  Json compare(const std::string& text, const Options& options) const {
    const Execution ran = execute(text, options);
    const Json json = explain(text, options);
    EXPECT_EQ(json["chosen"], ran.plan.is_null() ? "" : ran.plan["kernel"]) << text;
    if (ran.plan.is_null()) {
      EXPECT_NE(json["nothing"], "") << text;
      return json;
    }
    const Json& decision = json["decision"];
    EXPECT_EQ(reasons(decision), ran.plan["reason"]) << text;
    const Json& inside = decision.contains("inner") ? decision["inner"] : decision;
    if (decision["kind"] == "first rows" || inside["kind"] == "first rows") {
      // Which rows are moved is the plan's own: here the kernels alone.
      EXPECT_EQ(kernels_of(ran.launches), kernels_of(launches(decision, options))) << text << "\n" << decision.dump(2);
      EXPECT_GT(ran.launches.size(), kernels_of(ran.launches).size() - (text.starts_with("bwd") ? 1 : 0)) << text;
    } else {
      EXPECT_EQ(ordered(ran.launches), launches(decision, options)) << text << "\n" << decision.dump(2);
    }
    const bool has_sums = !ran.launches.empty() && ran.launches.back().starts_with("channel_sum_");
    EXPECT_EQ(decision["kind"] == "bias gradient", has_sums) << text;
    EXPECT_DOUBLE_EQ(decision["expected_us"], ran.plan["predicted_us"]) << text;
    if (decision["kind"] == "kernel") {  // the first of those that accept
      EXPECT_EQ(json["kernels"][0]["kernel"], ran.plan["kernel"]) << text;
      EXPECT_EQ(json["kernels"][0]["accepts"], true) << text;
    }
    return json;
  }

  static std::string reasons(const Json& decision) {
    const std::string own = decision["reason"];
    return decision.contains("inner") ? own + ": " + reasons(decision["inner"]) : own;
  }

  // Without those of a bias gradient, which come last; transpositions first, as a decision counts them alone.
  static Names ordered(Names names) {
    while (!names.empty() && names.back().starts_with("channel_sum_")) names.pop_back();
    std::ranges::stable_partition(names, [](const std::string& name) { return name == kTransposition; });
    return names;
  }

  static Names kernels_of(const Names& launches) {
    Names names = ordered(launches);
    std::erase_if(names, [](const std::string& name) { return name == kJoining || name.starts_with("add_rows"); });
    return names;
  }

  // What the decision stands for: the launches of its kernels, each as a plan that is asked for that kernel has them,
  // and what is around them.
  Names launches(const Json& decision, const Options& options) const {
    const std::string kind = decision["kind"], problem = decision["problem"], reason = decision["reason"];
    if (kind == "kernel") {
      Options named = options;
      named.kernel = decision["kernel"];
      named.workspace_limit = -1;  // part of it may be for what is around
      return execute(problem, named).launches;
    }
    Names all;
    const auto add = [&](const Json& part) {
      for (const std::string& name : launches(part, options)) all.push_back(name);
    };
    const bool rest = decision.contains("rest");
    const int64_t whole = kind == "ranges" ? decision["ranges"].get<int64_t>() - rest : 1;
    if (kind == "joined") all.emplace_back(kJoining);
    if (kind == "first rows") add(decision["rest"]);
    for (int64_t i = 0; i < whole; ++i) add(decision["inner"]);
    if (rest && kind == "ranges") add(decision["rest"]);
    const auto keeps = [](const std::string& text) { return text.find(" new_history") != std::string::npos; };
    if (keeps(problem) && !keeps(decision["inner"]["problem"])) all.emplace_back(kJoining);
    if (kind == "transposed") {
      const int turns = std::stoi(reason.substr(reason.find("between ") + 8));
      for (int i = 0; i < turns; ++i) all.emplace_back(kTransposition);
    }
    return ordered(std::move(all));
  }

  static std::string named_by_the_command(const std::string& text, const Options& options) {
    cli::ExplainOptions asked;
    asked.problem = text;
    asked.device = "gpu:0";
    asked.strict_nonfinite = options.strict_nonfinite;
    asked.deterministic = options.deterministic;
    asked.json = "-";
    testing::internal::CaptureStdout();
    const int code = cli::run_explain(asked);
    const Json json = Json::parse(testing::internal::GetCapturedStdout());
    EXPECT_EQ(code == 0, json["chosen"] != "") << text;
    return json["chosen"];
  }

  tuning::ScratchFolder folder_;
  std::string nvrtc_before_;
  wavetile_device* device_ = nullptr;
  void* amax_ = nullptr;
};

// Up to 512 channels, so that more than the generic kernels take it, or small and awkward.
ConvProblem any_problem(Random& random) {
  const bool large = random.chance(0.5);
  RandomLimits limits;
  limits.max_channels = large ? 512 : 32;
  limits.max_in = large ? 64 : 16;
  limits.max_batch = large ? 32 : 4;
  limits.max_multiply_adds = int64_t{1} << 40;
  ConvProblem problem = random_problem(random, limits);
  if (large && problem.g == 1) problem.c = (problem.c + 63) / 64 * 64, problem.k = (problem.k + 63) / 64 * 64;
  return problem;
}

// Causal, with what came before.
ConvProblem with_history(Random& random) {
  RandomLimits limits;
  limits.max_channels = 512;
  limits.max_in = random.chance(0.5) ? 256 : 16;
  limits.max_multiply_adds = int64_t{1} << 40;
  limits.history = true;
  ConvProblem problem = random_problem(random, limits);
  if (problem.dims == 1 && random.chance(0.5)) problem.k = problem.g = problem.c;
  return problem;
}

// Tensors of more elements than 32-bit indices reach.
ConvProblem of_many_images(Random& random) {
  RandomLimits limits;
  limits.directions = {Direction::kForward, Direction::kBackwardData};
  limits.max_channels = 512;
  limits.max_in = 64;
  limits.max_multiply_adds = int64_t{1} << 40;
  ConvProblem problem = random_problem(random, limits);
  const int64_t image = std::max(problem.x_elements(), problem.y_elements()) / problem.n;
  problem.n = (int64_t{1} << 31) * random.between(1, 3) / image + random.between(1, 5);
  return problem;
}

TEST_F(Decisions, ExplainNamesWhatAPlanRuns) {
  Random random(19);
  std::map<std::string, int> kinds;
  for (int i = 0; i < 250; ++i) {
    ConvProblem problem = i % 5 == 3 ? with_history(random) : i % 5 == 4 ? of_many_images(random) : any_problem(random);
    if (problem.direction == Direction::kBackwardWeight && random.chance(0.3))
      problem.bias_gradient = problem.history || random.chance(0.5) ? BiasGradient::kOfY : BiasGradient::kOfX;
    ASSERT_TRUE(validate(problem).ok()) << to_text(problem) << ": " << validate(problem).message();
    Options options;
    options.deterministic = random.chance(0.8);
    options.strict_nonfinite = random.chance(0.3);
    if (random.chance(0.3)) options.workspace_limit = random.chance(0.5) ? 0 : random.between(0, 1 << 22);
    if (random.chance(0.2)) options.splits = static_cast<int>(random.between(1, 128));
    const std::string text = to_text(problem);
    const Json json = compare(text, options);
    for (const Json* part = json.contains("decision") ? &json["decision"] : nullptr; part;
         part = part->contains("inner") ? &(*part)["inner"] : nullptr)
      ++kinds[(*part)["kind"]];
    if (i % 4 == 0 && options.for_the_command()) {
      EXPECT_EQ(named_by_the_command(text, options), json["chosen"]) << text;
    }
  }
  for (const char* kind : {"kernel", "transposed", "ranges", "joined", "next history", "first rows", "bias gradient"})
    EXPECT_GT(kinds[kind], 4) << kind;
}

// Layers of known kinds, with and without workspace.
TEST_F(Decisions, OfEveryKindAreWhatAPlanRuns) {
  const std::pair<const char*, const char*> cases[] = {
      {"fwd bf16 n4 c64 k64 i256 f4 pcausal history", "joined"},
      {"fwd bf16 n16 c512 k512 i65536 f4 pcausal history new_history", "first rows"},
      {"bwd_data bf16 n2 c256 k256 i9x32x32 f3x3x3 pcausal history new_history", "first rows"},
      {"bwd_weight bf16*bf16>fp32 n2 c256 k256 i64x64x64 f3x3x3 pcausal history", "first rows"},
      {"fwd bf16 n64 c5120 k5120 g5120 i1 f4 pcausal history new_history +bias+silu", "next history"},
      {"fwd bf16 n4 c4096 k4096 g4096 i2048 f4 pcausal history new_history +silu", "next history"},
      {"bwd_weight bf16 n16 c256 k36 i56x56 f3x3 p1 bias_gradient", "bias gradient"},
      {"fwd bf16 n9 c1024 k64 i512x512 f3x3 p1 +bias", "ranges"},
      {"fwd bf16 NCHW n16 c256 k256 i50x50 f3x3 p1", "transposed"},
  };
  for (const auto& [text, kind] : cases) {
    for (const int64_t limit : {int64_t{-1}, int64_t{0}}) {
      Options options;
      options.workspace_limit = limit;
      const Json json = compare(text, options);
      if (limit < 0) {
        EXPECT_EQ(json["decision"]["kind"], kind) << text;
        EXPECT_EQ(named_by_the_command(text, options), json["chosen"]) << text;
      }
    }
  }
}

TEST(PreviewText, SaysWhatIsAroundTheKernel) {
  const ConvProblem problem = *parse_problem("fwd bf16 NCHW n16 c256 k256 i50x50 f3x3 p1");
  cli::Preview preview;
  preview.chosen = *decide(usual_device(Target::kSm90a), problem, {});
  preview.kernel = preview.chosen->leaf().kernel;
  EXPECT_NE(cli::preview_line(preview, "sm_90a", 0).find("\n      channels-last kernel between 3 transpositions\n"),
            std::string::npos);
  EXPECT_EQ(cli::preview_json(preview, "sm_90a")["decision"]["kind"], "transposed");
}

}  // namespace
}  // namespace wt
