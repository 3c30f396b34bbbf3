// SPDX-License-Identifier: Apache-2.0
// cli/commands/bench.h - wavetile bench: suites and problems, each verified, as a table or JSON.
//
//   selection.h: which rows --> dispatch/trial/trial.h: one row --> bench_report.h: table, summary, JSON
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/input/selection.h"
#include "dispatch/plan/plan.h"

namespace wt::cli {

struct BenchOptions {
  SuiteCode code = SuiteCode::kRefused;  // in suite files
  std::vector<std::string> what;         // suite names, suite files, problem texts
  std::string device = "auto";
  std::string filter;             // glob over row names; empty: all
  std::string direction;          // fwd, bwd_data, bwd_weight, all; empty: suites in all, problems as written
  std::string target = "sm_90a";  // whose kernels a machine without a GPU shows; empty: none
  std::string json;               // file, "-" for standard output, empty: none
  std::string csv;                // the same for rows as CSV
  std::string log;                // a log of executions, whose problems are the rows
  std::string compare;            // "cudnn", or empty
  bool quiet = false;             // only the summary
  bool roof = true;               // measure how fast the device is, for the share of the limit
  PlanOptions plan;
  bool exact = false;
  uint64_t seed = 1;
  int repeat = 0;
  bool progress = true;
};

int run_bench(const BenchOptions& options);

}  // namespace wt::cli
