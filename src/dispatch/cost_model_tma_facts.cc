// SPDX-License-Identifier: Apache-2.0
#include "dispatch/cost_model_tma.h"

#include <memory>

#include "dispatch/bind_merge_groups.h"
#include "dispatch/bind_whole_rows.h"
#include "dispatch/tma_maps.h"
#include "problem/choice.h"
#include "problem/gemm_view.h"
#include "problem/tap_regions.h"

namespace wt::tma_model {
namespace {

double memory_cycles(const ConvProblem& problem) {
  // Of x only the pixels that some tap reads; backward data writes them all.
  double x = static_cast<double>(problem.x_elements());
  if (problem.direction != Direction::kBackwardData) {
    const Spatial out = problem.out();
    for (size_t i = 0; i < 3; ++i) {
      x *= std::min(1.0, static_cast<double>(out[i] * problem.filter[i]) / static_cast<double>(problem.in[i]));
    }
  }
  const double bytes = x * size_of(problem.x) + static_cast<double>(problem.w_elements()) * size_of(problem.w) +
                       static_cast<double>(problem.y_elements()) * size_of(problem.y);
  return bytes / kMemoryBytesPerCycle;
}

Facts make_facts(const ConvProblem& problem) {
  Facts facts;
  if (problem.direction == Direction::kForward) {
    facts.rows.push_back({problem.n * pixels(problem.out()), pixels(problem.filter)});
  } else if (problem.direction == Direction::kBackwardData) {
    for (const StridePhase& phase : stride_phases(problem)) {
      int64_t taps = 1;
      for (const DimPhase& dim : phase.dim) taps *= dim.tap_count;
      facts.rows.push_back({phase.gemm.m, taps});
    }
  }
  for (const TapRegion& region : tap_regions(problem))
    facts.divided.push_back({problem.n * region.pixels(), region.taps()});
  const bool forward = problem.direction == Direction::kForward;
  facts.crossed = crossed_lines(forward ? problem.c : problem.k, forward ? problem.x : problem.y);
  facts.whole_boxes = (forward ? problem.c_per_group() : problem.k_per_group()) % 64 == 0;
  facts.memory_power = overlap_power(memory_cycles(problem));
  return facts;
}

}  // namespace

const Facts& facts_of(const ConvProblem& problem) {
  struct Memory {
    LastProblem problem;
    Facts facts;
  };
  // WHY a pointer: a library that is loaded late has next to no room for what is local to a thread.
  thread_local std::unique_ptr<Memory> last;
  if (!last) last = std::make_unique<Memory>();
  if (!last->problem.is(problem)) {
    last->facts = make_facts(problem);
    last->problem.set(problem);
  }
  return last->facts;
}

// fp32: three products whose operands all come from shared memory, where three warps part the numbers before, 16 bytes
// a thread at a time: read once and written twice. Not timed; rates are those of the manual.
double three_product_cycles(const KernelConfig& config, double bytes_deep) {
  const GemmConfig& gemm = config.gemm;
  constexpr double kSharedBytesPerCycle = 128, kVectorCycles = 24;
  const double tiles = (gemm.tile.m + gemm.tile.n) * bytes_deep;
  const double read = 3 * gemm.tile.m / 64.0 * (64 + gemm.tile.n) * bytes_deep;
  const double parting = tiles / 16 / tma_layout::kRemainderThreads * kVectorCycles;
  return std::max({3 * mma_cycles(config, bytes_deep), (read + 3 * tiles) / kSharedBytesPerCycle, parting});
}

double crossed_lines(int64_t channels, DataType type) {
  constexpr double kCrossedLines = 1.4;  // of bulk copies that start inside a line of 128 bytes
  constexpr double kHalfCrossed = 1.2;   // and where every other one does
  const int64_t bytes = channels * size_of(type), pitch = bytes % 16 == 0 ? bytes : whole_row_bytes(bytes);
  return pitch % 128 == 0 ? 1 : pitch % 64 == 0 ? kHalfCrossed : kCrossedLines;
}

const ConvProblem& merged(const KernelConfig& config, const ConvProblem& problem, std::optional<ConvProblem>& room) {
  return config.gemm.groups_per_tile == 1 ? problem : room.emplace(merged_problem(config, problem));
}

}  // namespace wt::tma_model
