// SPDX-License-Identifier: Apache-2.0
// problem/verify.h - is an output right? Whole where that is cheap, else a sample that finds the usual mistakes.
//
//   HostTensors --(reference.h, tolerance.h)--> VerifyReport
//
// Every element is looked at for NaN and for the poison of tensor_data.h, and amax is checked against every element.
// The comparison with the reference covers all elements while that takes at most work_limit multiply-adds. Beyond it:
// the first and last elements of every dimension, the corners of 64- and 128-wide tiles of the GEMM view (all of them
// where the limit allows, evenly spread ones where not) and a random sample.
#pragma once

#include <vector>

#include "problem/tolerance.h"

namespace wt {

struct VerifyOptions {
  ErrorModel model;
  int64_t work_limit = int64_t{1} << 26;  // multiply-adds of the reference
  uint64_t seed = 1;                      // of the sample
  int max_reported = 5;
  int threads = 0;
};

struct Mismatch {
  int64_t index = 0;     // in memory order
  std::string position;  // "n=0 k=3 h=1 w=7"
  double expected = 0;   // rounded to the output's type
  double got = 0;
  double bound = 0;
  bool unwritten = false;  // still poisoned
};

struct VerifyReport {
  int64_t elements = 0;           // of the output
  int64_t compared = 0;           // with the reference
  int64_t wrong = 0;              // among those compared
  int64_t unwritten = 0;          // among all
  int64_t nan = 0;                // among all, unwritten ones not counted
  int64_t rounded_otherwise = 0;  // right, but not the reference's own rounding, among those compared
  double worst = 0;               // the largest share_of_bound of those compared: at most 1 where all are right
  std::vector<Mismatch> first;    // the first few, in memory order
  std::string amax_fault;         // empty: right, or not asked for
  std::string bias_gradient_fault;
  std::string new_history_fault;
  std::string history_gradient_fault;
  std::string store_fault;  // of the store's own tensors, or why nothing was compared

  bool passed() const {
    return wrong == 0 && unwritten == 0 && nan == 0 && amax_fault.empty() && bias_gradient_fault.empty() &&
           new_history_fault.empty() && history_gradient_fault.empty() && store_fault.empty();
  }
  bool sampled() const { return compared < elements; }
  std::string summary() const;  // one line, then one a mismatch
  Status status() const;        // kVerificationFailed with the summary
};

VerifyReport verify(const ConvProblem& problem, const HostTensors& tensors, const VerifyOptions& options = {});

// The same where the user's store writes: it may write anywhere, so every byte that it can reach is compared with those
// of the reference's numbers and of both ends of their bounds. Beyond work_limit nothing is, and the report says so.
VerifyReport verify_store(const ConvProblem& problem, const HostTensors& tensors, const VerifyOptions& options);

// What is wrong with these outputs; empty: nothing, or the problem has them not. Every element is compared.
std::string bias_gradient_fault(const ConvProblem& problem, const HostTensors& tensors, const ErrorModel& model);
std::string new_history_fault(const ConvProblem& problem, const HostTensors& tensors);
// The same of the gradient of the history; beyond options.work_limit, elements at even distances.
std::string history_gradient_fault(const ConvProblem& problem, const HostTensors& tensors,
                                   const VerifyOptions& options);

// The elements that a sampled comparison looks at, sorted. For tests and for whoever wants the same sample elsewhere.
std::vector<int64_t> sample_elements(const ConvProblem& problem, const VerifyOptions& options);

}  // namespace wt
