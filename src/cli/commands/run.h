// SPDX-License-Identifier: Apache-2.0
// cli/commands/run.h - wavetile run: one problem, computed, verified and timed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dispatch/plan/plan.h"

namespace wt::cli {

struct RunOptions {
  std::string problem;                  // its text
  std::string device = "auto";          // as open_device reads it
  std::string kernel;                   // by name, as JSON or as a .json file; empty: choose
  std::vector<std::string> registered;  // --register
  PlanOptions plan;                     // the rest of what is asked of a plan
  bool exact = false;                   // small integers, compared bit for bit
  int same = 1;                         // executions that must give the same bits
  uint64_t seed = 1;
  int repeat = 0;              // timed repetitions; 0: as many as the timer finds useful
  bool bias_gradient = false;  // that alone, of a bwd_weight problem
  std::string json;            // a file, "-" for standard output, or empty: not asked for
};

int run_run(const RunOptions& options);

}  // namespace wt::cli
