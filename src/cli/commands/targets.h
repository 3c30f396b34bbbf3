// SPDX-License-Identifier: Apache-2.0
// cli/commands/targets.h - wavetile targets: kernels compiled for GPUs that are not here, and their machine code
// checked.
#pragma once

#include <string>
#include <vector>

namespace wt::cli {

struct TargetsOptions {
  std::vector<std::string> targets;  // empty: every target of the catalogue
  std::string kernels;               // only those whose name contains this
  std::string rule_set;              // empty: the first kernel of each sort
  std::string update;                // a page whose table is written anew
  bool loops = false;                // what limits each kernel's hot loop, instead of the table
  std::string json;                  // a file, "-" for standard output, or empty: not asked for
  bool progress = true;
};

// Exit code 1 where a kernel's machine code is not what it should be.
int run_targets(const TargetsOptions& options);

}  // namespace wt::cli
