// SPDX-License-Identifier: Apache-2.0
// compile/process.h - runs a compiler as a child process: arguments without a shell, its output, a time limit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace wt::compile {

struct ProcessResult {
  int exit_code = 0;   // 128 + signal where one ended it
  std::string output;  // standard output and standard error in the order written
};

// arguments[0] is a path or a name on PATH. Past `timeout_seconds` the child and its children are ended and the result
// is a failure. An exit code other than 0 is a result.
Result<ProcessResult> run_process(const std::vector<std::string>& arguments, double timeout_seconds);

// The first of `names` that is an executable file, searched on PATH; empty when there is none.
std::string find_program(const std::vector<std::string>& names);

// A value split at spaces, for environment variables that hold extra flags.
std::vector<std::string> split_words(std::string_view text);

}  // namespace wt::compile
