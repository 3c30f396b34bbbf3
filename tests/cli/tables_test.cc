// SPDX-License-Identifier: Apache-2.0
// Tables and lists on terminals of 80 and 120 columns: no line is wider, no two kernels look the same, and a pipe has
// the whole of what a terminal shortens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/files.h"
#include "compile/cache.h"
#include "compile/pack.h"
#include "compile/sha256.h"
#include "config/fields.h"
#include "dispatch/choice/selection.h"
#include "tests/cli/subprocess.h"
#include "tests/dispatch/tuning_scratch.h"
#include "tests/places.h"

namespace wt::cli::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using Environment = std::vector<std::pair<std::string, std::string>>;

const std::string kProblem = "fwd bf16 n1 c16 k16 i4x4 f1x1";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char letter : text) {
    if (letter == '\n') {
      lines.emplace_back();
    } else if (letter == '\r') {
      lines.back().clear();  // a bar that draws over itself
    } else {
      lines.back() += letter;
    }
  }
  return lines;
}

class Tables : public ::testing::TestWithParam<int> {
 protected:
  // What the command prints on a terminal, with its widths checked.
  std::vector<std::string> lines(std::vector<std::string> arguments, int exit_code = 0) {
    const Outcome outcome =
        run({.arguments = arguments, .environment = environment_, .terminal = true, .columns = GetParam()});
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.out;
    std::string text;  // a terminal adds a carriage return to each line
    for (size_t i = 0; i < outcome.out.size(); ++i)
      if (outcome.out[i] != '\r' || i + 1 == outcome.out.size() || outcome.out[i + 1] != '\n') text += outcome.out[i];
    for (const std::string& line : lines_of(text)) {
      const bool one_word = line.find(' ', line.find_first_not_of(' ')) == std::string::npos;  // which cannot be broken
      EXPECT_TRUE(one_word || line.size() <= static_cast<size_t>(GetParam())) << arguments.front() << ": " << line;
    }
    return lines_of(text);
  }
  std::string piped(std::vector<std::string> arguments) {
    return run({.arguments = std::move(arguments), .environment = environment_}).out;
  }
  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }

  // Every kernel that accepts the problem, as a pack that the fake driver loads.
  std::vector<std::string> make_pack() {
    std::vector<compile::PackInput> inputs;
    std::vector<std::string> names;
    for (const RankedConfig& candidate :
         rank(*parse_problem(kProblem), usual_rates(Target::kSm90a), {}, Breadth::kAll)) {
      compile::Module module{.target = Target::kSm90a, .name = name_of(*candidate.config), .key = "k"};
      module.image = module.name;
      names.push_back(module.name);
      inputs.push_back({*candidate.config, module});
    }
    EXPECT_TRUE(
        compile::write_pack(file("all.wtpack"), compile::Backend::kNvrtc, Target::kSm90a, "tests", inputs).ok());
    return names;
  }

  tuning::ScratchFolder folder_;
  Environment environment_ = {{"WAVETILE_TUNING_DB", file("tuning.db")}, {"WAVETILE_CACHE_DIR", file("cache")}};
};

INSTANTIATE_TEST_SUITE_P(Columns, Tables, ::testing::Values(80, 120));

TEST_P(Tables, OfHelp) {
  for (const char* command : {"run", "bench", "search", "tune", "tuning", "report", "explain", "devices", "targets",
                              "conformance", "selftest", "generate", "cache", "pack", "completion", "man", "suites"})
    EXPECT_THAT(lines({command, "--help"}), Contains(HasSubstr("--help")));
}

TEST_P(Tables, OfExplain) {
  std::set<std::string> seen;
  size_t kernels = 0;
  for (const std::string& line : lines({"explain", "fwd bf16 n16 c256 k256 i50x50 f3x3 p1", "--target", "sm_90a"})) {
    const size_t at = line.rfind("-  ");  // no time is measured: a dash, and then the name
    if (at == std::string::npos) continue;
    ++kernels;
    EXPECT_TRUE(seen.insert(line.substr(at)).second) << "two kernels look like " << line;
  }
  EXPECT_GT(kernels, 10u);
  lines({"explain", "bwd_data bf16 n16 c250 k36 i100x100 f3x3 s2 p1", "--target", "gfx942"});
  lines({"explain", "resnet50", "--target", "sm_90a", "--filter", "l4.conv1", "--direction", "fwd"});
}

// The fake driver computes nothing, so that every kernel is wrong, and each stands there with the reason.
TEST_P(Tables, OfSearch) {
  make_pack();
  environment_.insert(
      environment_.end(),
      {{"WAVETILE_CUDA_DRIVER", places::kFakeCuda}, {"WAVETILE_PACK", file("all.wtpack")}, {"WAVETILE_LOG", "off"}});
  const std::vector<std::string> search = {"search", kProblem, "--device", "gpu", "--best", "4", "--no-progress"};
  std::set<std::string> seen;
  for (const std::string& line : lines(search, 1))
    if (line.starts_with("     WRONG")) seen.insert(line);
  EXPECT_EQ(seen.size(), 4u) << "four kernels, all of which look different";
  EXPECT_THAT(piped(search), AllOf(HasSubstr("     WRONG"), HasSubstr("wt_fwd_bf16_nhwc_sm90a_")));
}

TEST_P(Tables, OfPacks) {
  const std::vector<std::string> names = make_pack();
  ASSERT_GT(names.size(), 20u);
  std::set<std::string> seen;
  const std::vector<std::string> table = lines({"pack", "list", file("all.wtpack")});
  for (size_t i = 2; i < names.size() + 2; ++i) seen.insert(table.at(i).substr(0, table.at(i).find("  ")));
  EXPECT_EQ(seen.size(), names.size()) << "two kernels look the same";
  const std::string whole = piped({"pack", "list", file("all.wtpack")});
  for (const std::string& name : names) EXPECT_THAT(whole, HasSubstr(name));
}

TEST_P(Tables, OfTheCache) {
  const compile::Cache cache(file("cache"), 1 << 20);
  for (const char* end : {"one", "two"}) {
    compile::Module module{.target = Target::kSm90a, .name = std::string(70, 'k') + end + std::string(70, 'k')};
    module.key = compile::sha256_hex(end).substr(0, 32);
    module.image = std::string(300, 'i');
    ASSERT_TRUE(cache.store(module).ok());
  }
  const std::vector<std::string> table = lines({"cache", "list"});
  ASSERT_GT(table.size(), 4u);
  EXPECT_NE(table[2].substr(0, 20), table[3].substr(0, 20)) << "the marks of equal names";
  EXPECT_THAT(piped({"cache", "list"}), HasSubstr("kkktwokkk"));
}

TEST_P(Tables, OfTuning) {
  {
    auto database = tuning::Database::open(file("tuning.db"), tuning::Access::kCreate);
    ASSERT_TRUE(database.ok()) << database.status().message();
    const std::string problem =
        canonical_text(*parse_problem("bwd_weight bf16 n16 c2376 k36 i100x100 f3x3 s2 p1 +residual+gelu_tanh")) +
        " user=0 det=1 strict=0 ws=any";
    ASSERT_TRUE((*database)->save(tuning::entry_of(problem)).ok());
  }
  EXPECT_THAT(lines({"tuning", "list"}), Contains(HasSubstr("1 entries, ")));
}

TEST_P(Tables, OfGenerate) {
  std::set<std::string> seen;
  const std::vector<std::string> list = {"generate", "--list", "--target", "sm_90a", "--rule-set", "tiny"};
  const std::vector<std::string> table = lines(list);
  for (const std::string& line : table) seen.insert(line.substr(0, line.find("  ")));
  EXPECT_EQ(seen.size(), table.size()) << "two kernels look the same";
  EXPECT_THAT(piped(list), AllOf(HasSubstr("wt_fwd_"), HasSubstr("threads=")));
}

#if WT_HAVE_CLANG
TEST_P(Tables, OfTargets) {
  for (const auto& more : {std::vector<std::string>{}, {"--loops"}}) {
    std::vector<std::string> command = {"targets", "--target", "gfx942", "--kernels", "fwd_bf16_nhwc_gfx942_four_wave"};
    command.insert(command.end(), more.begin(), more.end());
    EXPECT_THAT(lines(command), Contains(HasSubstr(more.empty() ? "v_mfma" : "four_wave")));
  }
}
#endif

}  // namespace
}  // namespace wt::cli::testing
