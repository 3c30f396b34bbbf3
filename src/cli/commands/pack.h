// SPDX-License-Identifier: Apache-2.0
// cli/commands/pack.h - wavetile pack: build, list and verify files of compiled kernels (compile/pack.h).
//
//   rules/rules.h or dispatch/tuning/contenders.h: which kernels --> generate/source.h --> compile_all --> write_pack
#pragma once

#include <string>
#include <vector>

#include "cli/input/selection.h"
#include "compile/pack.h"
#include "config/targets.h"

namespace wt::cli {

struct PackBuildOptions {
  SuiteCode code = SuiteCode::kRefused;  // in suite files
  std::string target;                    // sm_90a, or sim:sm_90a
  std::string rule_set = "default";
  std::vector<std::string> problems;   // suites, files, problem texts: what tuning would try for them, no rule set
  std::vector<std::string> kernels;    // files and folders of JSON: these, no rule set
  std::string tuned;                   // a tuning export whose kernels are taken beside those of the rule set
  std::string names;                   // of problems: file of the kernels that are taken instead, of those that accept
  double within = 1.3;                 // of problems: times the least predicted time
  size_t most = 0;                     // of problems: kernels in all; 0: no limit
  double seconds = 0;                  // of problems: after which no further kernel is begun; 0: no limit
  std::string output;                  // file
  std::vector<std::string> variants;   // fwd, bwd_data, bwd_weight; empty: all
  std::vector<std::string> datatypes;  // of the inputs; empty: all
  std::vector<int> dims;               // 1, 2, 3; empty: all
  std::string report;                  // file for the figures of the build, as JSON; empty: none
  bool allow_spills = false;           // else a kernel that spills registers fails the build
  bool progress = true;
};

struct PackListOptions {
  std::string file;
  std::string json;  // a file, "-" for standard output, or empty: not asked for
};

struct PackVerifyOptions {
  std::string file;
  std::string target;  // empty: any
};

// Compiles every kernel, or writes nothing: the ones that fail are named with the compiler's log, the ones that spill
// with what they spill. With problems, kernels that fail are left out and make the exit code, as tuning would pass them
// over.
int run_pack_build(const PackBuildOptions& options);
int run_pack_list(const PackListOptions& options);
int run_pack_verify(const PackVerifyOptions& options);

compile::Backend backend_for(const TargetName& name);
std::string target_text(const compile::PackInfo& info);

}  // namespace wt::cli
