// SPDX-License-Identifier: Apache-2.0
// tests/cli/subprocess.h - the built command, run as a user runs it.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace wt::cli::testing {

struct Outcome {
  int exit_code = -1;  // 128 + signal where a signal ended it
  std::string out;
  std::string err;
};

struct Invocation {
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;  // added to the test's own
  bool terminal = false;  // both streams are a pseudo-terminal of `columns`; all output is in `out`
  int columns = 120;
  std::string interrupt_after;  // sends SIGINT once this text has appeared on either stream
};

Outcome run(const Invocation& invocation);

// run({{"bench", "quick"}}) with less to write.
Outcome wavetile(std::vector<std::string> arguments);

std::string binary_path();

}  // namespace wt::cli::testing
