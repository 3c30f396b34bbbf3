// SPDX-License-Identifier: Apache-2.0
// cli/show/problem_facts.h - what can be said of a problem before any kernel: sizes, work, its view as a GEMM, its
// phases.
#pragma once

#include <string>
#include <vector>

#include "problem/problem.h"

namespace wt::cli {

struct Fact {
  std::string label;  // empty: goes on with the one above
  std::string text;
};

std::vector<Fact> problem_facts(const ConvProblem& problem);

}  // namespace wt::cli
