// SPDX-License-Identifier: Apache-2.0
// cli/commands/explain_suite.h - wavetile explain SUITE: for every layer and target, who takes it, who is chosen, and
// why.
#pragma once

#include <string>
#include <vector>

namespace wt::cli {

struct ExplainSuiteOptions {
  std::vector<std::string> what;     // suites, or problems in quotes
  std::vector<std::string> targets;  // names; empty: every target of the catalogue
  std::string filter;                // over names of layers
  std::string direction;             // as bench has it
  bool strict_nonfinite = false;
  bool deterministic = true;
  bool batch_invariant = false;
  std::string json;  // a file, "-" for standard output, or empty: not asked for
};

int run_explain_suite(const ExplainSuiteOptions& options);

}  // namespace wt::cli
