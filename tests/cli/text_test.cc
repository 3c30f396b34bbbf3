// SPDX-License-Identifier: Apache-2.0
// Tables, progress lines, numbers, suggestions and exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/exit_code.h"
#include "cli/input/suggestion.h"
#include "cli/show/numbers.h"
#include "cli/show/progress.h"
#include "cli/show/table.h"
#include "cli/show/terminal.h"

namespace wt::cli {
namespace {

TEST(Table, AlignsAndDrawsARuleAsWideAsItself) {
  const Table table({{"name", 6}, {"time", 8, true}}, 0);
  EXPECT_EQ(table.header(), "name        time\n----------------\n");
  EXPECT_EQ(table.row({"l1", "1.20 ms"}), "l1       1.20 ms\n");
}

TEST(Table, GrowsToTitlesAndDropsTrailingSpace) {
  const Table table({{"verified", 2}, {"x", 4}}, 0);
  EXPECT_EQ(table.width(), 8 + 2 + 4);
  EXPECT_EQ(table.row({"yes", ""}), "yes\n");
}

TEST(Table, ElasticColumnsGiveWayOnANarrowTerminal) {
  const Table table({{"name", 20, false, true}, {"problem", 60, false, true}, {"time", 9, true}}, 80);
  EXPECT_EQ(table.width(), 80);
  const std::string row = table.row({"short", std::string(60, 'p'), "1.00 us"});
  EXPECT_EQ(row.size(), 81u);
  EXPECT_THAT(row, ::testing::HasSubstr("ppp..."));
  EXPECT_THAT(row, ::testing::HasSubstr("short"));
}

// Names that differ in their middles alone stay different, and a pipe gets them whole.
TEST(Table, ShortensInTheMiddleAndNeverToEqualRows) {
  const Table table({{"name", 16, false, true}, {"x", 1}}, 19);
  const std::string first = table.row({"kernel_of_one_and_the_end", "1"});
  const std::string second = table.row({"kernel_of_two_and_the_end", "2"});
  EXPECT_THAT(first, ::testing::AllOf(::testing::StartsWith("kernel_"), ::testing::HasSubstr("end  1")));
  EXPECT_THAT(second, ::testing::AllOf(::testing::StartsWith("kernel"), ::testing::HasSubstr("~2  2")));
  EXPECT_EQ(first.size(), second.size());
  EXPECT_EQ(table.row({"kernel_of_one_and_the_end", "1"}), first) << "the same name looks the same";
  const Table piped({{"name", 16, false, true}, {"x", 1}}, 0);
  EXPECT_EQ(piped.row({"kernel_of_one_and_the_end", "1"}), "kernel_of_one_and_the_end  1\n");
}

TEST(Table, LeavesHiddenColumnsOut) {
  const Table table({{"a", 3}, {"b", 30, false, true, true}, {"c", 3}}, 10);
  EXPECT_EQ(table.header(), "a    c\n--------\n");
  EXPECT_EQ(table.row({"1", "2", "3"}), "1    3\n");
}

TEST(Table, NeverShrinksBelowWhatCanBeRead) {
  const Table table({{"name", 20, false, true}, {"time", 50, true}}, 40);
  EXPECT_EQ(table.width(), 12 + 2 + 50);
}

TEST(Terminal, CutsTexts) {
  EXPECT_EQ(elide("abcdef", 6), "abcdef");
  EXPECT_EQ(elide("abcdefg", 6), "abc...");
  EXPECT_EQ(elide("abcdefg", 0), "abcdefg");
  EXPECT_EQ(elide_middle("0123456789abcdef", 11), "0123...cdef");
  EXPECT_EQ(wrap("one two three", 9, "  "), "  one two\n  three\n");
  EXPECT_EQ(wrap("averyveryverylongword x", 9, ""), "averyveryverylongword\nx\n");
}

TEST(Progress, FillsWithTheWork) {
  EXPECT_EQ(progress_line(0, 4, 0, "first", 80), "[>                   ] 0/4  0 s  first");
  EXPECT_EQ(progress_line(2, 4, 10, "third", 80), "[==========>         ] 2/4  10 s, about 10 s left  third");
  EXPECT_EQ(progress_line(4, 4, 130, "", 80), "[====================] 4/4  2:10 min");
}

TEST(Progress, FitsTheTerminal) {
  EXPECT_LT(progress_line(2, 4, 10, std::string(200, 'x'), 60).size(), 60u);
  EXPECT_EQ(progress_line(9, 0, 1, "", 80), progress_line(1, 1, 1, "", 80));
}

TEST(Numbers, KeepThreeDigits) {
  EXPECT_EQ(time_text(0.5), "0.50 us");
  EXPECT_EQ(time_text(12.34), "12.3 us");
  EXPECT_EQ(time_text(999.6), "1.00 ms");
  EXPECT_EQ(time_text(123456), "123 ms");
  EXPECT_EQ(time_text(45.6e6), "45.6 s");
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1536), "1.50 KiB");
  EXPECT_EQ(bytes_text(1024.0 * 1024 * 1024), "1.00 GiB");
  EXPECT_EQ(count_text(950), "950");
  EXPECT_EQ(count_text(1.234e6), "1.23 M");
  EXPECT_EQ(rate_text(0.1234), "0.123");
  EXPECT_EQ(rate_text(12.34), "12.3");
  EXPECT_EQ(rate_text(45678.4), "45678");
}

TEST(Suggestion, CountsSwapsAsOneSlip) {
  EXPECT_EQ(edit_distance("bench", "bench"), 0);
  EXPECT_EQ(edit_distance("bnech", "bench"), 1);
  EXPECT_EQ(edit_distance("", "run"), 3);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
}

TEST(Suggestion, IsSilentWhereNothingIsNear) {
  const std::vector<std::string> known{"run", "bench", "explain", "devices"};
  EXPECT_EQ(nearest("bnech", known), "bench");
  EXPECT_EQ(nearest("device", known), "devices");
  EXPECT_EQ(nearest("exp", known), "explain");
  EXPECT_EQ(nearest("xyzzy", known), "");
  EXPECT_EQ(did_you_mean("rnu", known), "; did you mean 'run'?");
  EXPECT_EQ(did_you_mean("xyzzy", known), "");
}

TEST(ExitCode, FollowsTheStatus) {
  EXPECT_EQ(exit_code({}), 0);
  EXPECT_EQ(exit_code({Code::kVerificationFailed, ""}), 1);
  EXPECT_EQ(exit_code({Code::kBadInput, ""}), 2);
  EXPECT_EQ(exit_code({Code::kIo, ""}), 2);
  EXPECT_EQ(exit_code({Code::kUnsupported, ""}), 3);
  EXPECT_EQ(exit_code({Code::kDevice, ""}), 4);
  EXPECT_EQ(exit_code({Code::kCompile, ""}), 4);
}

TEST(ExitCode, AWrongResultOutweighsEverything) {
  EXPECT_EQ(graver(0, 3), 3);
  EXPECT_EQ(graver(4, 3), 4);
  EXPECT_EQ(graver(1, 4), 1);
  EXPECT_EQ(graver(2, 3), 3);
  EXPECT_EQ(graver(130, 1), 130);
}

}  // namespace
}  // namespace wt::cli
