// SPDX-License-Identifier: Apache-2.0
#include "cli/input/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/files.h"

namespace wt::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Selection : public ::testing::Test {
 protected:
  void SetUp() override {
    // WHY: tests run side by side, a process each.
    folder_ = std::filesystem::path(::testing::TempDir()) / ("wavetile_selection." + std::to_string(::getpid()));
    ASSERT_TRUE(write_file(folder_ / "small.txt",
                           "# two layers\n"
                           "a.one: fwd fp32 n1 c4 k4 i5x5 f3x3 p1\n"
                           "b.two: fwd fp32 n1 c4 k8 i5x5 f1x1 +bias\n")
                    .ok());
    ASSERT_TRUE(write_file(folder_ / "three.txt",
                           "l: fwd fp32 n1 c4 k4 i5x5 f3x3 p1\n"
                           "l_data: bwd_data fp32 n1 c4 k4 i5x5 f3x3 p1\n")
                    .ok());
    ASSERT_TRUE(write_file(folder_ / "empty.txt", "# nothing\n").ok());
    setenv("WAVETILE_SUITES", folder_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("WAVETILE_SUITES");
    std::filesystem::remove_all(folder_);
  }

  static std::vector<std::string> texts(const Result<std::vector<Row>>& rows) {
    std::vector<std::string> list;
    EXPECT_TRUE(rows.ok()) << rows.status().message();
    if (rows.ok())
      for (const Row& row : *rows) list.push_back(row.name + ": " + to_text(row.problem));
    return list;
  }

  std::filesystem::path folder_;
};

TEST_F(Selection, TakesASuiteByNameAndByPath) {
  const auto expected = ElementsAre("a.one: fwd fp32 n1 c4 k4 i5x5 f3x3 p1", HasSubstr("b.two: fwd fp32 n1 c4 k8"));
  EXPECT_THAT(texts(select_rows({"small"}, "", "fwd")), expected);
  EXPECT_THAT(texts(select_rows({(folder_ / "small.txt").string()}, "", "fwd")), expected);
}

TEST_F(Selection, NamesRowsBySuiteWhereThereAreSeveral) {
  EXPECT_THAT(
      texts(select_rows({"small", "fwd fp32 n1 c2 k2 i3x3 f1x1"}, "", "fwd")),
      ElementsAre(HasSubstr("small/a.one:"), HasSubstr("small/b.two:"), "problem1: fwd fp32 n1 c2 k2 i3x3 f1x1"));
}

TEST_F(Selection, FiltersByGlob) {
  EXPECT_THAT(texts(select_rows({"small"}, "b.*", "fwd")), ElementsAre(HasSubstr("b.two")));
  const auto none = select_rows({"small"}, "z*", "");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.status().message(), "--filter 'z*' matches none of the 2 names: a.one, b.two");
}

TEST_F(Selection, ChangesDirections) {
  EXPECT_THAT(texts(select_rows({"small"}, "b*", "all")),
              ElementsAre(HasSubstr("fwd fp32 n1 c4 k8 i5x5 f1x1 +bias"), "b.two: bwd_data fp32 n1 c4 k8 i5x5 f1x1",
                          "b.two: bwd_weight fp32 n1 c4 k8 i5x5 f1x1"));
  EXPECT_THAT(texts(select_rows({"small"}, "a*", "bwd_weight")), ElementsAre(HasSubstr("bwd_weight")));
  EXPECT_EQ(texts(select_rows({"small"}, "b*", "")), texts(select_rows({"small"}, "b*", "all")));
  EXPECT_THAT(texts(select_rows({"bwd_data fp32 n1 c4 k4 i5x5 f1x1"}, "", "")), ElementsAre(HasSubstr("bwd_data")));
}

TEST_F(Selection, NamesNoRowTwice) {
  EXPECT_EQ(texts(select_rows({"three", "three"}, "", "all")).size(), 6u);
  EXPECT_EQ(texts(select_rows({"three"}, "", "all")).size(), 6u);  // two names, three directions each
}

TEST_F(Selection, SaysWhatIsThereInstead) {
  const auto mistyped = select_rows({"smal"}, "", "");
  ASSERT_FALSE(mistyped.ok());
  EXPECT_THAT(mistyped.status().message(), HasSubstr("'smal' is no suite; did you mean 'small'? (suites: "));
  const auto empty = select_rows({"empty"}, "", "");
  ASSERT_FALSE(empty.ok());
  const auto unquoted = select_rows({"fwd", "bf16", "n1"}, "", "");
  ASSERT_FALSE(unquoted.ok());
  EXPECT_THAT(unquoted.status().message(), HasSubstr("put the whole text in quotes"));
  const auto bad = select_rows({"fwd bf17 n1"}, "", "");
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.status().code(), Code::kBadInput);
}

TEST_F(Selection, CodeInASuiteFileNeedsConsent) {
  ASSERT_TRUE(write_file(folder_ / "stranger.txt",
                         "plain: fwd fp32 n1 c2 k2 i3x3\nodd: fwd fp32 n1 c2 k2 i3x3 +f=\"acc * 2\"\n")
                  .ok());
  const std::string file = (folder_ / "stranger.txt").string();
  const auto refused = select_rows({file}, "", "fwd");
  EXPECT_EQ(refused.status().code(), Code::kBadInput);
  EXPECT_THAT(
      refused.status().message(),
      AllOf(HasSubstr("'odd' comes with C++ that would be compiled and run: acc * 2"), HasSubstr("--allow-code")));
  EXPECT_FALSE(select_rows({file}, "plain", "fwd").ok()) << "what a filter leaves out is a stranger's all the same";
  EXPECT_EQ(select_rows({file}, "", "fwd", SuiteCode::kAllowed)->size(), 2u);
  EXPECT_EQ(select_rows({"fwd fp32 n1 c2 k2 i3x3 +f=\"acc * 2\""}, "", "")->size(), 1u) << "the user's own words";
}

}  // namespace
}  // namespace wt::cli
