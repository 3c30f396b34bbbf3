// SPDX-License-Identifier: Apache-2.0
// dispatch/choice/decision.h - what a plan will run and why, decided before anything is compiled.
//
//   device, problem, options --decide--> Decision, a tree --plan/plan.cc--> plan
//                                                        \--> explain, previews, the C API
//
//   bias gradient beside ( joined or first rows ( ranges ( transposed ( kernel ) ) ) ): each part may be missing
//
// A plan is built from the decision, and whoever tells a user what would run prints it: nothing else decides.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/kernel_config.h"
#include "dispatch/plan/history.h"
#include "dispatch/plan/plan.h"
#include "dispatch/tuning/lookup.h"
#include "kernels/view.h"
#include "launch/device_info.h"

namespace wt {

class CpuConvolution;

// Of a decision with PlanOptions::batch_invariant: what it is decided for, and its price.
struct BatchInvariance {
  int64_t images = 0;          // that the choice was made for
  std::string free_kernel;     // of the choice without the option; empty: there is none, or the caller chose
  double us = 0, free_us = 0;  // predicted or measured, of both; 0: not known
};

struct Decision {
  enum class Kind : uint8_t {
    kKernel,        // one kernel
    kCpu,           // a path of the CPU
    kTransposed,    // a channels-last problem between transpositions
    kRanges,        // ranges of images, one after the other; `rest` are those left over
    kJoined,        // history and x joined before, and the new history after
    kNextHistory,   // a kernel that reads the history, and the new history after
    kFirstRows,     // x alone, and the rows that the history meets apart, which `rest` computes
    kBiasGradient,  // the sums of a bias gradient after a weight gradient
  };

  Kind kind = Kind::kKernel;
  ConvProblem problem;
  PlanOptions options;                   // less what is around it takes of the workspace
  std::string reason;                    // of this part alone
  std::vector<std::string> passed_over;  // other ways, with the times that they should take
  // For kKernel and kCpu:
  std::string kernel;                         // its name, or the CPU's path
  std::optional<KernelConfig> config;         // of kKernel
  std::shared_ptr<const View> view;           // that the kernel was chosen by, for its launches; null: none was made
  double predicted_us = 0, measured_us = 0;   // 0: not known
  bool borrowed = false;                      // measured of the plain layer, or as another compiler made it
  std::shared_ptr<const CpuConvolution> cpu;  // of kCpu, ready to run
  // For the others:
  double around_us = 0;  // predicted, of what is done beside the inner decision
  int64_t ranges = 1;
  JoinIn join_in = JoinIn::kNothing;
  std::shared_ptr<const Decision> inner, rest;
  std::optional<BatchInvariance> invariance;  // of the outermost

  // The innermost: what description().kernel of the plan names.
  const Decision& leaf() const { return inner ? inner->leaf() : *this; }
  // The time of everything, measured where the kernel was; 0: not known.
  double expected_us() const;
  // The reasons of all parts, the outermost first.
  std::string why() const;
};

// A decision of one of the kinds that have an inner one.
Decision around(Decision::Kind kind, const ConvProblem& problem, const PlanOptions& options, Decision inner,
                double around_us, std::string reason);

// "kernel", "cpu", "transposed", "ranges", "joined", "next history", "first rows", "bias gradient".
std::string_view name_of(Decision::Kind kind);

// Measures nothing: tuning on first use comes when the plan is built. Compiles nothing either, unless `check` lets it
// compare a tuned kernel whose source has changed with what was measured.
Result<Decision> decide(const DeviceInfo& device, const ConvProblem& problem, const PlanOptions& options,
                        tuning::CodeCheck check = tuning::CodeCheck::kKnown);

}  // namespace wt
