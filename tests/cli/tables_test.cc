// SPDX-License-Identifier: Apache-2.0
// Tables and lists on terminals of 80 and 120 columns: no line is wider, no two kernels look the same, and a pipe has
// the whole of what a terminal shortens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <wavetile/wavetile.hpp>

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
using ::testing::Not;
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

// A database of its own, a cache of its own and a pack.
class Places : public ::testing::Test {
 protected:
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

  void make_database() {
    auto database = tuning::Database::open(file("tuning.db"), tuning::Access::kCreate);
    ASSERT_TRUE(database.ok()) << database.status().message();
    const std::string problem =
        canonical_text(*parse_problem("bwd_weight bf16 n16 c2376 k36 i100x100 f3x3 s2 p1 +residual+gelu_tanh")) +
        " user=0 det=1 strict=0 ws=any";
    ASSERT_TRUE((*database)->save(tuning::entry_of(problem)).ok());
  }

  tuning::ScratchFolder folder_;
  Environment environment_ = {{"WAVETILE_TUNING_DB", file("tuning.db")}, {"WAVETILE_CACHE_DIR", file("cache")}};
};

class Tables : public Places, public ::testing::WithParamInterface<int> {
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
      // A word that is longer than what is left of a line behind its label cannot be broken.
      const size_t columns = static_cast<size_t>(GetParam()), label = 13, word = line.size() - line.rfind(' ') - 1;
      const bool example = line.starts_with("  wavetile ");  // to be copied as it is
      EXPECT_TRUE(line.size() <= columns || example || word > columns - label) << arguments.front() << ": " << line;
    }
    return lines_of(text);
  }
};

INSTANTIATE_TEST_SUITE_P(Columns, Tables, ::testing::Values(80, 120));

TEST_P(Tables, OfHelp) {
  for (const char* command : {"run", "bench", "search", "tune", "tuning", "report", "explain", "devices", "targets",
                              "conformance", "selftest", "generate", "cache", "pack", "completion", "man", "suites"})
    EXPECT_THAT(lines({command, "--help"}), Contains(HasSubstr("--help")));
  // In our words alone: not in those of the library that reads the line.
  const std::vector<std::vector<std::string>> every = {{"run"}, {"bench"}, {"search"}, {"pack", "build"}, {"generate"}};
  for (std::vector<std::string> command : every) {
    command.push_back("--help");
    for (const char* word : {"INT", "FLOAT", "{false}", "REQUIRED", ":{"})
      EXPECT_THAT(piped(command), Not(HasSubstr(word))) << command.front();
  }
  for (const char* word : {"INT", "FLOAT", "{false}", "REQUIRED", ":{"})
    EXPECT_THAT(piped({"man"}), Not(HasSubstr(word)));
  EXPECT_THAT(piped({"run", "--help"}), AllOf(HasSubstr("  PROBLEM... "), HasSubstr("  --splits N  "),
                                              HasSubstr("  --device ID (auto)"), HasSubstr("  --nondeterministic ")));
}

// A refusal is broken between words, but what is to be copied is not.
TEST_P(Tables, OfRefusals) {
  EXPECT_THAT(lines({"run", kProblem, "--device", "toaster"}, 2), Contains(HasSubstr("wavetile: device 'toaster'")));
  EXPECT_THAT(lines({"run", "fwd bf16 n1 c16 q16"}, 2), Contains(HasSubstr("wavetile: column 17")));
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
  EXPECT_GT(kernels, 5u);
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
  EXPECT_NE(table[2].substr(0, table[2].find("  ")), table[3].substr(0, table[3].find("  "))) << "they look the same";
  EXPECT_THAT(piped({"cache", "list"}), HasSubstr("kkktwokkk"));
}

TEST_P(Tables, OfTuning) {
  make_database();
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

// Beside those of first_contact_test.cc: --json alone prints the document, and with a file the text stays.
TEST_F(Places, JsonMeansTheSameForFurtherCommands) {
  make_pack();
  make_database();
  environment_.insert(environment_.end(),
                      {{"WAVETILE_CUDA_DRIVER", places::kFakeCuda}, {"WAVETILE_PACK", file("all.wtpack")}});
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"pack", "list", file("all.wtpack")},
        {"tuning", "list"},
        {"search", kProblem, "--device", "gpu", "--best", "1", "--no-progress"},
        {"tune", kProblem, "--device", "gpu", "--few", "--budget", "1", "--no-progress"},
        {"targets", "--target", "gfx942", "--kernels", "none has this name"},
        {"explain", "resnet50", "--target", "sm_90a", "--filter", "l4.conv1", "--direction", "fwd"},
        {"conformance", "--device", "sim:sm_80", "--filter", "ldmatrix.x4.transposed"}}) {
    const std::string words = command[0] + " " + command[1];
    std::vector<std::string> alone = command, filed = command;
    alone.push_back("--json");
    EXPECT_TRUE(nlohmann::json::accept(piped(alone))) << words << ": " << piped(alone).substr(0, 300);
    filed.insert(filed.end(), {"--json", file("document.json")});
    const std::string text = piped(filed);
    EXPECT_NE(text, "") << words;
    EXPECT_FALSE(nlohmann::json::accept(text)) << words << " prints its text where the document goes to a file";
    const Result<std::string> document = read_file(file("document.json"));
    ASSERT_TRUE(document.ok()) << words;
    EXPECT_TRUE(nlohmann::json::accept(*document)) << words;
    std::filesystem::remove(file("document.json"));
  }
}

// The command and the library list the same kernels, in the same order.
TEST(Explain, IsTheSameListOfTheCommandAndOfTheLibrary) {
  for (const char* text : {"fwd bf16 n16 c256 k256 i50x50 f3x3 p1", "bwd_weight fp16 n4 c12 k36 i20x20 f3x3 s2 p1"}) {
    const auto device = ::wavetile::Device::open("sim:sm_90a").value();
    const auto problem = ::wavetile::Problem::parse(text).value();
    const auto library =
        nlohmann::json::parse(::wavetile::explain(device, problem, {}, ::wavetile::Format::kJson).value());
    const auto command = nlohmann::json::parse(wavetile({"explain", text, "--device", "sim:sm_90a", "--json"}).out);
    EXPECT_EQ(library["chosen"], command["chosen"]);
    std::vector<std::string> of_library, of_command;
    for (const auto& kernel : library["kernels"]) of_library.push_back(kernel["kernel"]);
    for (const auto& kernel : command["candidates"]) of_command.push_back(kernel["name"]);
    EXPECT_GT(of_command.size(), 10u);
    EXPECT_EQ(of_library, of_command) << text;
  }
}

}  // namespace
}  // namespace wt::cli::testing
