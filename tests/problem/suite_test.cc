// SPDX-License-Identifier: Apache-2.0
#include "problem/suite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/files.h"
#include "tests/places.h"

namespace wt {
namespace {

namespace fs = std::filesystem;

fs::path suites() { return fs::path(places::kSourceTree) / "bench/suites"; }

TEST(Suite, ReadsNamesProblemsAndComments) {
  const Result<Suite> suite = parse_suite(
      "# a comment\n\none: fwd bf16 n2 c8 k8 i8x8  # another\n  l1.0.conv2:   bwd_data fp16 c8 k8 i8 p1:0\r\n",
      "a/b.txt");
  ASSERT_TRUE(suite.ok()) << suite.status().message();
  EXPECT_EQ(suite->name, "b");
  ASSERT_EQ(suite->entries.size(), 2u);
  EXPECT_EQ(suite->entries[0].name, "one");
  EXPECT_EQ(to_text(suite->find("l1.0.conv2")->problem), "bwd_data fp16 n1 c8 k8 i8 f1 p1:0");
  EXPECT_EQ(suite->find("two"), nullptr);
}

TEST(Suite, FaultsNameFileAndLine) {
  const auto message = [](const char* text) { return parse_suite(text, "s.txt").status().message(); };
  EXPECT_THAT(message("a: fwd bf16 c8 k8 i8\nb fwd bf16"), testing::StartsWith("s.txt:2: expected 'name: problem'"));
  EXPECT_THAT(message("a b: fwd bf16 c8 k8 i8"), testing::StartsWith("s.txt:1: 'a b' is not a name"));
  EXPECT_THAT(message("a: fwd bf16 c8 k8 i8\n\na: fwd bf16 c8 k8 i8"),
              testing::StartsWith("s.txt:3: the name 'a' is used twice"));
  EXPECT_THAT(message("a: fwd bf16 c8 i8"), testing::StartsWith("s.txt:1: a: column 15: expected k"));
  EXPECT_THAT(message("# nothing\n"), testing::StartsWith("s.txt: the suite has no problems"));
}

TEST(Suite, CommentsNameTheModelsOfLayers) {
  const Result<Suite> suite = parse_suite(
      "# models: a_b_* B Net, a_* A, other* C\na_1: fwd bf16 n1 c8 k8 i8 f1\na_b_1: fwd bf16 n1 c8 k8 i8 f1\n"
      "z: fwd bf16 n1 c8 k8 i8 f1  # models are named above\n# models: z Z\n",
      "s.txt");
  ASSERT_TRUE(suite.ok()) << suite.status().message();
  EXPECT_EQ(suite->find("a_1")->model, "A");
  EXPECT_EQ(suite->find("a_b_1")->model, "B Net");
  EXPECT_EQ(suite->find("z")->model, "Z");
  EXPECT_THAT(parse_suite("# models: mbv2_*\na: fwd bf16 n1 c8 k8 i8 f1\n", "s.txt").status().message(),
              testing::StartsWith("s.txt:1: 'mbv2_*' does not say which names are of which model"));
}

// Every layer of the suites that are compared in public has its network, but for those that were made up.
TEST(Suite, LayersOfNetworksHaveTheirModel) {
  for (const char* name : {"resnet50", "retinanet37", "flux_vae", "depthwise", "conv1d", "conv3d", "small"}) {
    const Result<Suite> suite = read_suite(suites() / (std::string(name) + ".txt"));
    ASSERT_TRUE(suite.ok()) << suite.status().message();
    for (const SuiteEntry& entry : suite->entries) EXPECT_FALSE(entry.model.empty()) << name << " " << entry.name;
  }
  const Result<Suite> wide = read_suite(suites() / "wide.txt");
  ASSERT_TRUE(wide.ok());
  for (const SuiteEntry& entry : wide->entries) {
    const bool made_up = entry.name.starts_with("odd_") || entry.name.find("depth_multiplier") != std::string::npos ||
                         entry.name.starts_with("blur_");
    EXPECT_EQ(entry.model.empty(), made_up) << entry.name;
  }
  EXPECT_EQ(wide->find("cifar_wrn_160")->model, "Wide ResNet");
}

TEST(Suite, EveryFileOfTheProjectReads) {
  const std::pair<const char*, size_t> sizes[] = {
      {"awkward", 12},  {"conv1d", 6},       {"conv3d", 9}, {"depthwise", 14}, {"flux_vae", 9},
      {"resnet50", 24}, {"retinanet37", 37}, {"quick", 10}, {"wide", 164},     {"small", 60}};
  for (const auto& [name, count] : sizes) {
    const Result<Suite> suite = read_suite(suites() / (std::string(name) + ".txt"));
    ASSERT_TRUE(suite.ok()) << suite.status().message();
    EXPECT_EQ(suite->entries.size(), count) << name;
    for (const SuiteEntry& entry : suite->entries) {
      EXPECT_EQ(entry.problem.direction, Direction::kForward) << entry.name;
      for (const Direction d : {Direction::kBackwardData, Direction::kBackwardWeight}) {
        EXPECT_TRUE(validate(with_direction(entry.problem, d)).ok()) << entry.name;
      }
    }
  }
  EXPECT_EQ(read_suite(suites() / "resnet50.txt")->find("stem7x7_s2")->problem,
            *parse_problem("fwd bf16 n64 c3 k64 i224x224 f7x7 s2 p3"));
}

TEST(Suite, TheSmallSuiteIsSmall) {
  const Result<Suite> suite = read_suite(suites() / "small.txt");
  ASSERT_TRUE(suite.ok());
  for (const SuiteEntry& entry : suite->entries) {
    EXPECT_LE(entry.problem.n, 2) << entry.name;
    for (const int64_t size : entry.problem.in) EXPECT_LE(size, 8) << entry.name;
  }
}

TEST(Suite, TheQuickSuiteIsQuick) {
  double flops = 0;
  const Result<Suite> suite = read_suite(suites() / "quick.txt");
  ASSERT_TRUE(suite.ok());
  for (const SuiteEntry& entry : suite->entries) {
    flops += entry.problem.flops();
    EXPECT_LT(entry.problem.flops(), 1e9) << entry.name;
  }
  EXPECT_LT(flops, 4e9);
}

TEST(Suite, IsFoundByPathAndByName) {
  const fs::path folder = fs::path(testing::TempDir()) / "wavetile_suites";
  ASSERT_TRUE(write_file(folder / "mine.txt", "a: fwd bf16 c8 k8 i8\n").ok());
  EXPECT_EQ(find_suite((folder / "mine.txt").string())->name, "mine");
  ASSERT_EQ(setenv("WAVETILE_SUITES", folder.c_str(), 1), 0);
  EXPECT_EQ(find_suite("mine")->entries.size(), 1u);
  const Status absent = find_suite("no_such_suite").status();
  EXPECT_EQ(absent.code(), Code::kBadInput);
  EXPECT_THAT(absent.message(),
              testing::AllOf(testing::StartsWith("there is no suite 'no_such_suite'"),
                             testing::HasSubstr(folder.string()), testing::HasSubstr("WAVETILE_SUITES")));
  unsetenv("WAVETILE_SUITES");
  EXPECT_EQ(read_suite(folder).status().code(), Code::kBadInput);
  EXPECT_EQ(read_suite(folder / "absent.txt").status().code(), Code::kIo);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace wt
