// SPDX-License-Identifier: Apache-2.0
// cli/commands/search.h - wavetile search: every kernel that accepts a problem, verified and timed, fastest first.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/input/selection.h"

namespace wt::cli {

struct SearchCommandOptions {
  SuiteCode code = SuiteCode::kRefused;  // in suite files
  std::vector<std::string> what;         // suite names, suite files, problem texts
  std::string device = "auto";
  std::string filter;                   // glob over row names
  std::string direction;                // as for bench
  std::string kernels;                  // part of a kernel's name
  std::string names;                    // file of whole names; empty: all kernels
  std::vector<std::string> own;         // --kernel: only these
  std::vector<std::string> registered;  // --register: these, too
  bool few = false;                     // only what a choice without tuning picks from
  bool strict_nonfinite = false;
  bool deterministic = true;
  int splits = 0;    // parts of divided sums; 0: as predicted
  int best = 0;      // only so many with the least predicted times; 0: all
  int top = 5;       // rows shown of each problem
  std::string json;  // file, "-" for standard output, empty: none
  bool exact = false;
  bool time = true;
  int same = 1;
  uint64_t seed = 1;
  double budget = 0.1;  // seconds of timing a kernel
  bool progress = true;
};

int run_search(const SearchCommandOptions& options);

}  // namespace wt::cli
