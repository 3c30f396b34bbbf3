// SPDX-License-Identifier: Apache-2.0
// cli/run_command.h - wavetile run: one problem, computed, verified and timed.
#pragma once

#include <cstdint>
#include <string>

#include "dispatch/plan.h"

namespace wt::cli {

struct RunOptions {
  std::string problem;          // its text
  std::string device = "auto";  // as open_device reads it
  std::string kernel;           // by name; empty: choose
  PlanOptions plan;             // the rest of what is asked of a plan
  bool exact = false;           // small integers, compared bit for bit
  int same = 1;                 // executions that must give the same bits
  uint64_t seed = 1;
  int repeat = 0;              // timed repetitions; 0: as many as the timer finds useful
  bool bias_gradient = false;  // that alone, of a bwd_weight problem
  bool json = false;
};

int run_run(const RunOptions& options);

}  // namespace wt::cli
