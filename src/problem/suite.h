// SPDX-License-Identifier: Apache-2.0
// problem/suite.h - suite files: one "name: problem" a line, # starts a comment.
//
// A line gives a problem in one direction (forward in bench/suites); with_direction makes the other two. A comment
// "# models: GLOB NAME, GLOB NAME" says which network the layers of such names belong to.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "problem/problem.h"

namespace wt {

struct SuiteEntry {
  std::string name;
  ConvProblem problem;
  std::string model;  // the network it belongs to; empty: none is named
};

struct Suite {
  std::string name;  // of the file, without its folder and ending
  std::vector<SuiteEntry> entries;

  const SuiteEntry* find(std::string_view entry) const;  // null when absent
};

// A fault names `source` and the line.
Result<Suite> parse_suite(std::string_view text, const std::string& source);
Result<Suite> read_suite(const std::filesystem::path& path);

// A path to a file, or a name looked up as <folder>/<name>.txt in suite_folders().
Result<Suite> find_suite(const std::string& name_or_path);

// $WAVETILE_SUITES where set; bench/suites below the working directory; share/wavetile/suites beside the program.
std::vector<std::filesystem::path> suite_folders();

}  // namespace wt
