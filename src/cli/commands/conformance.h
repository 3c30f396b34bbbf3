// SPDX-License-Identifier: Apache-2.0
// cli/commands/conformance.h - wavetile conformance: the simulator's primitives against a GPU's, bit for bit.
#pragma once

#include <string>

namespace wt::cli {

struct ConformanceOptions {
  std::string device = "auto";  // a GPU, or a simulator alone
  std::string filter;           // glob over probes' names; empty: all
  std::string json;             // file, "-" for standard output, empty: none
  bool list = false;
  bool progress = true;
};

int run_conformance(const ConformanceOptions& options);

}  // namespace wt::cli
