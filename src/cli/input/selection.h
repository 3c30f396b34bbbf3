// SPDX-License-Identifier: Apache-2.0
// cli/input/selection.h - which rows a benchmark has: suites and problems, filtered, in the wanted directions.
#pragma once

#include <string>
#include <vector>

#include "problem/problem.h"

namespace wt::cli {

struct Row {
  std::string name;
  ConvProblem problem;
  std::string suite;  // it comes from, and the network it belongs to; empty: none
  std::string model;
};

// C++ in a suite file (+f="..." and +store="...") would be compiled and run: a stranger's file must not do that
// unasked.
enum class SuiteCode { kRefused, kAllowed };

// `what`: names of suites, paths of suite files, texts of problems. `filter`: a glob over names; empty: all.
// `direction`: one of the three, "all", or empty: suites in all three, problems as they are written. No row is an
// error.
Result<std::vector<Row>> select_rows(const std::vector<std::string>& what, const std::string& filter,
                                     const std::string& direction, SuiteCode code = SuiteCode::kRefused);

// Whether a word names a suite, or a file that may hold one.
bool is_suite(const std::string& word);

// Names of the suites in all suite folders, sorted.
std::vector<std::string> suite_names();

}  // namespace wt::cli
