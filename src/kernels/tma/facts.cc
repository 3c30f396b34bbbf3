// SPDX-License-Identifier: Apache-2.0
#include "kernels/tma/cost.h"

#include "kernels/beside/merge_groups.h"
#include "kernels/beside/whole_rows.h"
#include "kernels/shared/split.h"
#include "kernels/shared/tma_maps.h"
#include "problem/gemm_view.h"
#include "problem/image_line.h"
#include "problem/tap_regions.h"
#include "problem/traffic.h"

namespace wt::tma_model {
namespace {

constexpr double kStoreBytesPerCycle = 40;
constexpr double kDirectStorePenalty = 9;    // stores of two columns instead of whole rows
constexpr double kDirectWordPenalty = 5.4;   // the same of 32-bit numbers: 1.72 TB/s of an H200's multiprocessors
constexpr double kCopyCycles = 1100;         // copying staged rows: for a tile, and for 64 rows of 64 columns
constexpr double kCopiedBlockCycles = 4400;  // of the latter, divided by the elements of a vector
constexpr double kAnyRowsVector = 3.5;       // that rows of any start count as: instructions counted on paper

double memory_cycles(const ConvProblem& problem, const Rates& rates) {
  // Only the pixels of x that some tap reads; backward data writes them all.
  double x = static_cast<double>(problem.x_elements());
  if (problem.direction != Direction::kBackwardData) {
    const Spatial out = problem.out();
    for (size_t i = 0; i < 3; ++i) {
      x *= std::min(1.0, static_cast<double>(out[i] * problem.filter[i]) / static_cast<double>(problem.in[i]));
    }
  }
  const double bytes = x * size_of(problem.x) + static_cast<double>(problem.w_elements()) * size_of(problem.w) +
                       static_cast<double>(problem.y_elements()) * size_of(problem.y) + epilogue_bytes(problem);
  return bytes / rates.memory_per_cycle();
}

}  // namespace

Facts::Facts(const View& seen) {
  const ConvProblem& problem = seen.problem();
  if (problem.direction == Direction::kForward) {
    rows.push_back({problem.n * pixels(problem.out()), pixels(problem.filter)});
    for (int i = 0; i < kMaxDims; ++i) stepped = stepped || image_line(problem, i).step > 1;
  } else if (problem.direction == Direction::kBackwardData) {
    for (const StridePhase& phase : stride_phases(problem)) {
      int64_t taps = 1;
      for (const DimPhase& dim : phase.dim) taps *= dim.tap_count;
      rows.push_back({phase.gemm.m, taps});
    }
  }
  for (const TapRegion& region : tap_regions(problem)) divided.push_back({problem.n * region.pixels(), region.taps()});
  const bool forward = problem.direction == Direction::kForward;
  crossed = crossed_lines(forward ? problem.c : problem.k, forward ? problem.x : problem.y);
  whole_boxes = (forward ? problem.c_per_group() : problem.k_per_group()) % 64 == 0;
  memory_power = overlap_power(memory_cycles(problem, seen.rates()));
}

// fp32: three products whose columns come from shared memory, where three warps part the numbers before, 16 bytes a
// thread at a time: read once and written twice. Rows come from there too, parted before; but for weight gradients
// through registers, read once. Not timed; rates are those of the manual.
double three_product_cycles(const KernelConfig& config, double bytes_deep, const Rates& rates) {
  const GemmConfig& gemm = config.gemm;
  const double tiles = (gemm.tile.m + gemm.tile.n) * bytes_deep;
  const bool in_registers = tma_layout::parts_rows(config);
  const double vector_cycles = in_registers ? 60 : 24;  // guesses
  const double parted = in_registers ? gemm.tile.n * bytes_deep : tiles;
  const double read =
      3 * gemm.tile.m / 64.0 * ((in_registers ? 0 : 64) + gemm.tile.n) * bytes_deep + (tiles - parted);
  const double parting = parted / 16 / tma_layout::kRemainderThreads * vector_cycles;
  return std::max({3 * mma_cycles(config, bytes_deep), (read + tiles + 3 * parted) / rates.shared, parting});
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
    return kCopyCycles + tma_layout::rows_of_consumer(config) / 64.0 * gemm.tile.n / 64.0 * kCopiedBlockCycles /
                             (gemm.vector_c == 1 ? kAnyRowsVector : gemm.vector_c);
  const double bytes = double{1} * gemm.tile.m * gemm.tile.n * size_of(output_type(config));
  const double penalty = size_of(output_type(config)) == 4 ? kDirectWordPenalty : kDirectStorePenalty;
  return bytes / kStoreBytesPerCycle * (gemm.staging == Staging::kDirect ? penalty : 1);
}

double split_waves(const KernelConfig& config, int64_t tiles, int64_t splits, const Rates& rates) {
  const bool cluster = config.gemm.split_k == SplitK::kCluster;
  const int64_t at_once = cluster ? resident_clusters(rates.units, static_cast<int>(splits)) : std::max(1, rates.units);
  return static_cast<double>(ceil_div(tiles * (cluster ? 1 : splits), at_once));
}

// Figures of the exchange and of the workspace are those of microbenchmarks.
double after_parts(const KernelConfig& config, const View& seen, double waves, int64_t splits) {
  const Rates& rates = seen.rates();
  const ConvProblem& problem = seen.problem();
  constexpr double kPartBytesPerCycle = 32, kPartCycles = 3500, kSumCycles = 4000;
  const auto parts = static_cast<double>(splits);
  const double bytes = double{4} * config.gemm.tile.m * config.gemm.tile.n;
  if (config.gemm.split_k == SplitK::kCluster) {
    const double exchange = bytes * (parts - 1) / parts / kExchangeBytesPerCycle + kExchangeCycles;
    return waves * (exchange + output_cycles(config) / parts);
  }
  const double outputs =
      static_cast<double>(problem.direction == Direction::kForward ? problem.y_elements() : problem.x_elements());
  const double sum = rates.launch_cycles() / 2 + kSumCycles + outputs * 4 * (parts + 0.5) / rates.memory_per_cycle();
  return waves * bytes / kPartBytesPerCycle + kPartCycles + sum;
}

int64_t least_splits(const KernelConfig& config, int64_t tiles, double longest, int units, int asked,
                     const std::function<double(int64_t)>& cycles) {
  constexpr int64_t kMostParts = 16;  // in the workspace; more are as many bytes as a whole operand
  const int64_t most = config.gemm.split_k == SplitK::kCluster ? tma_layout::kMaxCluster : kMostParts;
  if (asked > 0) return std::clamp<int64_t>(asked, 2, most);
  int64_t best = 2;
  // WHY not asked further: enough tiles for all multiprocessors only pay for parts.
  if (tiles >= 2 * int64_t{units}) return best;
  double least = cycles(best);
  for (int64_t splits = 3; splits <= most && static_cast<double>(splits) <= longest; ++splits) {
    const double more = cycles(splits);
    if (more >= least) continue;
    least = more;
    best = splits;
  }
  return best;
}

}  // namespace wt::tma_model
