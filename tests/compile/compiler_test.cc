// SPDX-License-Identifier: Apache-2.0
// Headers, keys and many compilations at once, with the host compiler, which is always there.
#include "compile/compiler.h"

#include <gmock/gmock.h>

#include <set>

#include "base/files.h"
#include "compile/process.h"
#include "compile/source_headers.h"
#include "tests/compile/scratch.h"

namespace wt::compile {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Compiler = Scratch;

TEST(Includes, AreFoundWhateverTheirSpacing) {
  const char* text =
      "#include \"a.h\"\n  #  include   \"b/c.h\"  // why\n#include <vector>\n#includes \"no.h\"\n"
      "// #include \"comment.h\"\n#define X \"no.h\"\n#include \"last.h\"";
  EXPECT_THAT(included_names(text), ElementsAre("a.h", "b/c.h", "last.h"));
}

TEST_F(Compiler, EmbeddedHeadersAreFollowed) {
  const Result<HeaderSet> set = headers_for("#include \"target/types.h\"\n#include \"not/there.h\"\n");
  ASSERT_TRUE(set.ok()) << set.status().message();
  std::vector<std::string> names;
  for (const Header& header : set->headers) names.push_back(header.name);
  EXPECT_THAT(names, ElementsAre("config/kernel_config.h", "config/kinds.h", "problem/activations.h", "problem/enums.h",
                                 "target/types.h"));
  EXPECT_TRUE(set->source_dir.empty());
  EXPECT_NE(set->hash, headers_for("#include \"problem/enums.h\"\n")->hash);
}

TEST_F(Compiler, ASourceTreeReplacesTheEmbeddedHeaders) {
  set("WAVETILE_SOURCE_DIR", folder.string());
  EXPECT_THAT(headers_for("").status().message(), HasSubstr("has no folder src"));

  const Source source{"from_tree",
                      "#include \"kernel/value.h\"\n"
                      "extern \"C\" __attribute__((visibility(\"default\"))) int from_tree() { return kValue; }\n",
                      Target::kSm80};
  ASSERT_TRUE(write_file(folder / "src/kernel/value.h", "#include \"kernel/deeper.h\"\n").ok());
  ASSERT_TRUE(write_file(folder / "src/kernel/deeper.h", "constexpr int kValue = 1;\n").ok());
  const Result<Module> first = compile(Backend::kHost, source);
  ASSERT_TRUE(first.ok()) << first.status().message();
  EXPECT_TRUE(compile(Backend::kHost, source)->from_cache);

  // An edit two includes away is another module; an unrelated file is not.
  ASSERT_TRUE(write_file(folder / "src/kernel/unrelated.h", "#error\n").ok());
  EXPECT_TRUE(compile(Backend::kHost, source)->from_cache);
  ASSERT_TRUE(write_file(folder / "src/kernel/deeper.h", "constexpr int kValue = 2;\n").ok());
  const Result<Module> second = compile(Backend::kHost, source);
  ASSERT_TRUE(second.ok());
  EXPECT_FALSE(second->from_cache);
  EXPECT_NE(first->key, second->key);

  // The log names the file that was edited, not a copy of it.
  ASSERT_TRUE(write_file(folder / "src/kernel/deeper.h", "constexpr int kValue = ;\n").ok());
  const Result<Module> third = compile(Backend::kHost, source);
  ASSERT_FALSE(third.ok());
  EXPECT_THAT(third.status().message(), HasSubstr((folder / "src/kernel/deeper.h").string()));
}

TEST_F(Compiler, KeysDifferInAllThatMatters) {
  std::set<std::string> keys;
  Source source = host_source("keyed", 1);
  const auto add = [&] {
    const Result<Module> module = compile(Backend::kHost, source);
    ASSERT_TRUE(module.ok()) << module.status().message();
    EXPECT_EQ(module->key.size(), 32u);
    EXPECT_TRUE(keys.insert(module->key).second);
  };
  add();
  source.target = Target::kGfx942;
  add();
  source.text += "\n";
  add();
  source.name = "keyed_differently";
  add();
}

TEST_F(Compiler, ManyAtOnceKeepTheirOrderAndReportEach) {
  std::vector<Source> sources;
  for (int i = 0; i < 5; ++i) sources.push_back(host_source("many_" + std::to_string(i), i));
  sources[3].text = "this is not C++\n";
  std::vector<size_t> counts;
  std::set<std::string> failed;
  const auto results = compile_all(Backend::kHost, sources, [&](size_t done, const Source& source, const auto& result) {
    counts.push_back(done);
    if (!result.ok()) failed.insert(source.name);
  });
  ASSERT_EQ(results.size(), 5u);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(results[i].ok(), i != 3);
    if (results[i].ok()) {
      EXPECT_EQ(results[i]->name, sources[i].name);
    }
  }
  EXPECT_THAT(results[3].status().message(), HasSubstr("kernel many_3"));
  EXPECT_THAT(counts, ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(failed, ElementsAre("many_3"));
}

TEST(Process, GivesOutputAndExitCode) {
  const auto result = run_process({"sh", "-c", "echo out; echo err >&2; exit 3"}, 10);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->exit_code, 3);
  EXPECT_EQ(result->output, "out\nerr\n");
  EXPECT_EQ(run_process({"sh", "-c", "kill -9 $$"}, 10)->exit_code, 128 + 9);
  EXPECT_THAT(run_process({"/no/such/program"}, 10).status().message(), HasSubstr("cannot start /no/such/program"));
}

TEST(Process, ATimeLimitEndsGrandchildrenToo) {
  const auto result = run_process({"sh", "-c", "sleep 100 & wait"}, 0.1);
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.status().message(), HasSubstr("ran longer than 0.1 s"));
}

TEST(Backends, FollowFromTheTarget) {
  EXPECT_EQ(backend_of(Target::kSm100a), Backend::kNvrtc);
  EXPECT_EQ(backend_of(Target::kGfx90a), Backend::kClang);
  EXPECT_EQ(architecture_of(Target::kSm90a), "sm_90a");
  EXPECT_EQ(architecture_of(Target::kGfx1201), "gfx1201");
}

}  // namespace
}  // namespace wt::compile
