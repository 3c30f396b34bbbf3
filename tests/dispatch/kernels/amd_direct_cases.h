// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/amd_direct_cases.h - kernels of the direct family on AMD's simulated targets.
#pragma once

#include "tests/dispatch/exact_trial.h"

namespace wt {

// The accepting kernels of a kind, best guess first.
inline std::vector<KernelConfig> direct_kernels_of(const ConvProblem& problem, Target target, Kind kind) {
  std::vector<KernelConfig> kernels;
  for (const RankedCandidate& c : rank_candidates(problem, target, {}, Breadth::kAll))
    if (c.accepts() && c.config.kind == kind) kernels.push_back(c.config);
  return kernels;
}

struct DirectCase {
  const char* text;
  Kind kind;
  // False: lanes have no registers for such a filter on RDNA, for its gradient on any target.
  bool on_rdna = true, gradient = true;
};

// 64 and 32 lanes, and each way that matrix instructions lay out their operands.
inline constexpr Target kDirectTargets[] = {Target::kGfx90a, Target::kGfx942, Target::kGfx950, Target::kGfx1100,
                                            Target::kGfx1201};

}  // namespace wt
