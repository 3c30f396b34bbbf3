// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/conversion.h - which inputs become fp32 copies in the workspace, and making them.
#pragma once

#include "problem/problem.h"
#include "runtime/cpu/gemm.h"
#include "runtime/cpu/tensors.h"

namespace wt::cpu {

inline constexpr int64_t kWorkspaceAlignment = 256;

inline int64_t aligned(int64_t bytes) {
  return (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
}

inline bool is_fp32(DataType type) { return size_of(type) == 4; }

struct Conversion {
  bool x = false, w = false, y = false;

  // Every input of the direction that is not stored as fp32.
  static Conversion of_inputs(const ConvProblem& problem);

  int64_t bytes(const ConvProblem& problem) const;
  // The copies are made at `workspace`; what is not converted is passed on as it is.
  Inputs apply(const ConvProblem& problem, const Tensors& tensors, char* workspace, int threads) const;
};

}  // namespace wt::cpu
