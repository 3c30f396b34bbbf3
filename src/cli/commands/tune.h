// SPDX-License-Identifier: Apache-2.0
// cli/commands/tune.h - wavetile tune: the fastest right kernel of each problem, measured and remembered.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/input/selection.h"

namespace wt::cli {

struct TuneCommandOptions {
  SuiteCode code = SuiteCode::kRefused;  // in suite files
  std::vector<std::string> what;         // suite names, suite files, problem texts
  std::string device = "auto";
  std::string filter;     // glob over row names
  std::string direction;  // as for bench
  double budget = 0;      // seconds for everything; 0: no limit
  std::optional<int64_t> workspace_limit;
  bool strict_nonfinite = false;
  std::vector<std::string> own;         // --kernel: only these
  std::vector<std::string> registered;  // --register: these, too
  bool few = false;                     // only the best guesses
  bool exhaustive = false;              // also what the model says cannot win
  bool precompiled = false;             // compile nothing: only what a pack or the cache holds
  bool quick = false;                   // few runs of each
  bool again = false;                   // also what is tuned already
  std::string json;                     // file, "-" for standard output, empty: none
  uint64_t seed = 1;
  bool progress = true;
};

int run_tune(const TuneCommandOptions& options);

}  // namespace wt::cli
