// SPDX-License-Identifier: Apache-2.0
// cli/commands/explain.h - wavetile explain: what a problem is, which kernels take it, which decline it and why.
#pragma once

#include <string>
#include <vector>

namespace wt::cli {

struct ExplainOptions {
  std::string problem;
  std::string device;                   // empty: auto, and where that is the CPU, also the kernels of a GPU target
  std::string target;                   // a GPU target to explain without having one
  std::string kernel;                   // only whether this one can run it, and why not: a name, JSON or a .json file
  std::vector<std::string> registered;  // --register
  std::string gpu;                      // the same of a GPU of the page of rates (docs/rates.md)
  bool strict_nonfinite = false;        // leave out kernels that are finite_only
  bool deterministic = true;            // and those whose bits may differ from run to run
  bool batch_invariant = false;
  bool all = false;  // every kernel that a search would try, not only those that a choice picks from
  std::string json;  // a file, "-" for standard output, or empty: not asked for
};

int run_explain(const ExplainOptions& options);

}  // namespace wt::cli
