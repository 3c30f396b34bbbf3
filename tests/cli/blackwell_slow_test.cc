// SPDX-License-Identifier: Apache-2.0
// The commands of docs/blackwell.md's table of features, each of which must exit with 0. Those that are filters of test
// programs are run by these.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "base/files.h"
#include "tests/cli/subprocess.h"
#include "tests/places.h"

namespace wt::cli::testing {
namespace {

// What stands between K ' and ' in the table's last column.
std::vector<std::string> problems_of_page() {
  const Result<std::string> page = read_file(std::string(places::kSourceTree) + "/docs/blackwell.md");
  EXPECT_TRUE(page.ok()) << page.status().message();
  std::vector<std::string> problems;
  std::istringstream lines(page.ok() ? *page : "");
  for (std::string line; std::getline(lines, line);) {
    const size_t from = line.find("| `K '"), end = line.rfind("'` |");
    if (!line.starts_with("|") || from == std::string::npos || end == std::string::npos) continue;
    problems.push_back(line.substr(from + 6, end - from - 6));
  }
  return problems;
}

TEST(BlackwellPage, CommandsOfTheFeatureTableExitWithZero) {
  const std::vector<std::string> problems = problems_of_page();
  ASSERT_GE(problems.size(), 7u);
  for (const std::string& problem : problems) {
    const Outcome outcome = run({.arguments = {"run", "--device", "sim:sm_100a", "--exact", problem},
                                 .environment = {{"WAVETILE_CXX_FLAGS", "-O0"}}});
    EXPECT_EQ(outcome.exit_code, 0) << problem << ": " << outcome.out << outcome.err;
  }
}

}  // namespace
}  // namespace wt::cli::testing
