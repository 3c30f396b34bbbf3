// SPDX-License-Identifier: Apache-2.0
// dispatch/trial/search.h - every kernel that accepts a problem, compiled, verified and timed; the fastest right one
// wins.
//
//   candidates.h --> compile in parallel --> trial.h, one by one --> ranked rows; wrong kernels never rank
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "dispatch/choice/candidates.h"
#include "dispatch/trial/trial.h"

namespace wt {

struct SearchOptions {
  TrialOptions trial;
  Breadth candidates = Breadth::kAll;
  std::string filter;           // part of a kernel's name; empty: all
  std::set<std::string> names;  // of kernels; empty: all
  bool own_only = false;        // only those of PlanOptions::kernels
  std::function<bool()> stop;   // asked between two kernels; what is done then is the report
  size_t best = 0;              // only so many with the least predicted times; 0: all
};

struct SearchRow {
  KernelConfig config;
  TrialResult result;  // its status says whether the kernel was refused, wrong or right
  bool ranks() const { return result.verified && result.timing.has_value(); }
};

struct SearchReport {
  ConvProblem problem;
  std::vector<SearchRow> rows;  // those that rank first, fastest first; then those that failed
  int wrong = 0;                // kernels whose result was wrong
  int failed = 0;               // kernels that did not compile or run
  size_t not_tried = 0;         // since the search was stopped
};

// Called before the first kernel and after each; first they are compiled, then tried, so that `total` is twice their
// number.
using SearchProgress = std::function<void(size_t done, size_t total, const std::string& kernel)>;

Result<SearchReport> search(const std::shared_ptr<Device>& device, const ConvProblem& problem,
                            const SearchOptions& options, const SearchProgress& progress = {});

}  // namespace wt
