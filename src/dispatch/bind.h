// SPDX-License-Identifier: Apache-2.0
// dispatch/bind.h - a configuration meets a problem: the launches with everything filled in but the addresses.
//
//   KernelConfig + ConvProblem --> Binding --plan.cc--> execute
#pragma once

#include <vector>

#include "base/status.h"
#include "config/kernel_config.h"
#include "kernel/gemm/tma/stream.h"
#include "problem/problem.h"
#include "runtime/device.h"
#include "runtime/launch.h"

namespace wt {

struct Binding {
  std::vector<Launch> launches;  // in order; none where the problem has no output
  int64_t workspace_bytes = 0;
  // For people (split_facts.h): parts of each sum of a gemm kernel that divides them, or how Hopper's stream-K cuts
  // them.
  int64_t parts = 1;
  StreamShares stream{};
};

// The configuration accepts the problem (candidates.h); what is refused here is a bug.
Binding bind(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device);

// The role of the direction's output: y, x (dx) or w (dw).
Tensor output_tensor(Direction direction);

}  // namespace wt
