// SPDX-License-Identifier: Apache-2.0
#include "dispatch/cost_model_tma.h"

#include <memory>

#include "dispatch/bind_merge_groups.h"
#include "dispatch/bind_whole_rows.h"
#include "dispatch/split.h"
#include "dispatch/tma_maps.h"
#include "problem/choice.h"
#include "problem/gemm_view.h"
#include "problem/image_phases.h"
#include "problem/tap_regions.h"

namespace wt::tma_model {
namespace {

constexpr double kStoreBytesPerCycle = 40;
constexpr double kDirectStorePenalty = 9;    // stores of two columns instead of whole rows
constexpr double kCopyCycles = 1100;         // copying staged rows: for a tile, and for 64 rows of 64 columns
constexpr double kCopiedBlockCycles = 4400;  // of the latter, divided by the elements of a vector

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
    for (int i = 0; i < kMaxDims; ++i) facts.stepped = facts.stepped || image_line(problem, i).step > 1;
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

BoxParts box_parts(const KernelConfig& config, const ConvProblem& problem, const Facts& facts) {
  const int64_t box = tma_layout::box_k(config);
  if (facts.whole_boxes && box <= 64) return {};
  const bool forward = problem.direction == Direction::kForward;
  const int64_t depth = (forward ? problem.c_per_group() : problem.k_per_group()) * config.gemm.groups_per_tile;
  if (!(tma_layout::is_halo(config) || tma_layout::skips_steps(config)) || depth % box == 0) return {};
  const int64_t copied = tma_layout::copied_depth(config, depth), count = ceil_div(depth, box);
  const auto quarters = [&](int64_t channels) {
    return static_cast<double>(channels * 4 > box * 3 ? 4 : channels * 2 > box ? 3 : 2);
  };
  const auto before = static_cast<double>(count - 1);
  return {static_cast<double>(copied) / static_cast<double>(box),
          (before * quarters(copied) + quarters(depth - (count - 1) * copied)) / (4 * (before + 1))};
}

double output_cycles(const KernelConfig& config) {
  const GemmConfig& gemm = config.gemm;
  // Each consumer copies its own rows, one block after the other.
  if (gemm.staging == Staging::kShared)
    return kCopyCycles +
           tma_layout::rows_of_consumer(config) / 64.0 * gemm.tile.n / 64.0 * kCopiedBlockCycles / gemm.vector_c;
  const double bytes = double{1} * gemm.tile.m * gemm.tile.n * size_of(output_type(config));
  return bytes / kStoreBytesPerCycle * (gemm.staging == Staging::kDirect ? kDirectStorePenalty : 1);
}

double split_waves(const KernelConfig& config, int64_t tiles, int64_t splits, int multiprocessors) {
  const bool cluster = config.gemm.split_k == SplitK::kCluster;
  const int64_t at_once =
      cluster ? resident_clusters(multiprocessors, static_cast<int>(splits)) : std::max(1, multiprocessors);
  return static_cast<double>(ceil_div(tiles * (cluster ? 1 : splits), at_once));
}

// Figures of the exchange and of the workspace are those of microbenchmarks.
double after_parts(const KernelConfig& config, const ConvProblem& problem, double waves, int64_t splits) {
  constexpr double kPartBytesPerCycle = 32, kPartCycles = 3500, kSumCycles = 4000;
  const auto parts = static_cast<double>(splits);
  const double bytes = double{4} * config.gemm.tile.m * config.gemm.tile.n;
  if (config.gemm.split_k == SplitK::kCluster) {
    const double exchange = bytes * (parts - 1) / parts / kExchangeBytesPerCycle + kExchangeCycles;
    return waves * (exchange + output_cycles(config) / parts);
  }
  const double outputs =
      static_cast<double>(problem.direction == Direction::kForward ? problem.y_elements() : problem.x_elements());
  const double sum = kLaunchCycles / 2 + kSumCycles + outputs * 4 * (parts + 0.5) / kMemoryBytesPerCycle;
  return waves * bytes / kPartBytesPerCycle + kPartCycles + sum;
}

int64_t least_splits(const KernelConfig& config, int64_t tiles, double longest, int multiprocessors,
                     const std::function<double(int64_t)>& cycles) {
  constexpr int64_t kMostParts = 16;  // in the workspace; more are as many bytes as a whole operand
  const int64_t most = config.gemm.split_k == SplitK::kCluster ? tma_layout::kMaxCluster : kMostParts;
  if (const int64_t asked = requested_splits()) return std::clamp<int64_t>(asked, 2, most);
  int64_t best = 2;
  // WHY not asked further: enough tiles for all multiprocessors only pay for parts.
  if (tiles >= 2 * int64_t{multiprocessors}) return best;
  double least = cycles(best);
  for (int64_t splits = 3; splits <= most && static_cast<double>(splits) <= longest; ++splits) {
    const double more = cycles(splits);
    if (more >= least) continue;
    least = more;
    best = splits;
  }
  return best;
}

const ConvProblem& merged(const KernelConfig& config, const ConvProblem& problem, std::optional<ConvProblem>& room) {
  return config.gemm.groups_per_tile == 1 ? problem : room.emplace(merged_problem(config, problem));
}

}  // namespace wt::tma_model
