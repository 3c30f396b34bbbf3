// SPDX-License-Identifier: Apache-2.0
// dispatch/choice/split_facts.h - into how many parts a kernel's launch divides its sums, beside what a simpler rule
// says, or how stream-K cuts them; for people.
#pragma once

#include <optional>
#include <string>

#include "config/kernel_config.h"
#include "launch/binding.h"
#include "problem/problem.h"
#include "runtime/device.h"

namespace wt {

class View;

struct SplitFacts {
  int64_t tiles = 0;         // of the output
  int64_t blocks = 0;        // k-blocks of a tile
  int64_t parts = 0;         // of each sum, as launched
  int64_t by_occupancy = 0;  // what split_count_by_occupancy says
  StreamKCut stream{};       // instead of all these, of Hopper's kernels with stream-K; else without blocks
};

// For kernels of the gemm family that divide their sums, or could: those of weight gradients. The config accepts the
// problem. `splits` is PlanOptions::splits.
std::optional<SplitFacts> split_facts(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device,
                                      int splits = 0);

// The parts that PlanOptions::splits = kSplitsByOccupancy means for a kernel whose compiler says how many registers it
// has; 0: it says nothing, as in the simulator, and threads and shared memory alone count.
int parts_by_occupancy(const KernelConfig& config, const View& view, int registers);

// In a line.
std::string to_text(const SplitFacts& facts);

}  // namespace wt
