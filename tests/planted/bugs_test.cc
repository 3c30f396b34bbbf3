// SPDX-License-Identifier: Apache-2.0
// tests/planted/bugs_test.cc - a sample of the planted bugs, and the table of all of them.
#include "tests/planted/harness.h"

namespace wt::planted {

TEST_P(PlantedBugs, AreFound) { run_bugs(true); }
INSTANTIATE_TEST_SUITE_P(Sample, PlantedBugs, testing::ValuesIn(kernels_with(true)), test_name);

namespace {

TEST(PlantedBugsTable, HasEveryKindAndTargetAndEnoughBugs) {
  std::map<std::string, int> kinds, targets;
  int bugs = 0, named = 0;
  for (const Kernel& kernel : planted_kernels()) {
    const int count = static_cast<int>(kernel.bugs.size());
    kinds[kernel.kind] += count, targets[kernel.target] += count, bugs += count;
    for (const Bug& bug : kernel.bugs) named += bug.says.at(0).fault != "wrong result";
  }
  EXPECT_GE(bugs, 60);
  EXPECT_GE(named, bugs * 3 / 4);
  for (const KernelKind* kind : kernel_kinds())
    EXPECT_GT(kinds[std::string(text_of(kind->id))], 0) << "no bug is planted in " << text_of(kind->id);
  for (const char* target :
       {"sm_80", "sm_90a", "sm_100a", "sm_120a", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"})
    EXPECT_GT(targets[target], 0) << "no bug is planted on " << target;
}

// Sooner than the slow tests: who changes a kernel changes its bugs.
TEST(PlantedBugsTable, NamesTextThatStandsInTheHeadersOnce) {
  for (const Kernel& kernel : planted_kernels()) {
    for (const Bug& bug : kernel.bugs) {
      EXPECT_NE(place_of(bug.header, bug.before), "") << kernel.name << ": " << bug.what;
      for (const Expectation& says : bug.says) {
        if (says.header.empty()) continue;
        EXPECT_NE(place_of(says.header, says.text), "") << kernel.name << ": " << bug.what;
      }
    }
  }
}

TEST(PlantedBugsTable, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(parse_bugs("bug x\n").status().message(), "line 1 comes before the first kernel");
  EXPECT_EQ(parse_bugs("kernel x\nin y\n").status().message(), "line 2 belongs to a bug, and there is none");
  const Result<std::vector<Kernel>> read = parse_bugs(
      "kernel k\n on t: p q\n by kind part\nsample bug b\n in kernels/h\n - one\\n  two\n +\n"
      " says unfinished at exit at kernels/h: two: three\n says wrong result\n");
  ASSERT_TRUE(read.ok()) << read.status().message();
  const Bug& bug = read->at(0).bugs.at(0);
  EXPECT_EQ(read->at(0).problem, "p q");
  EXPECT_EQ(read->at(0).part, "part");
  EXPECT_TRUE(bug.sample);
  EXPECT_EQ(bug.before, "one\n  two");
  EXPECT_EQ(bug.after, "");
  EXPECT_EQ(bug.says.at(0).fault, "unfinished at exit");
  EXPECT_EQ(bug.says.at(0).header, "kernels/h");
  EXPECT_EQ(bug.says.at(0).text, "two: three");
  EXPECT_EQ(bug.says.at(1).fault, "wrong result");
}

}  // namespace
}  // namespace wt::planted
