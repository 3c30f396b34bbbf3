// SPDX-License-Identifier: Apache-2.0
// kernels/tma_weight/cost.cc - predicted cycles of Hopper's weight gradients, but for few output channels
// (weight_few.cc).
#include <algorithm>
#include <cmath>

#include "kernels/beside/stream_sum.h"
#include "kernels/shared/split.h"
#include "kernels/shared/tma_maps.h"
#include "kernels/tma/cost.h"
#include "kernels/tma/seen.h"
#include "kernels/tma_weight/kind.h"
#include "kernels/tma_weight_halo/device/layout.h"
#include "kernels/tma_weight_halo/kind.h"
#include "kernels/tma_weight_halo/view.h"

namespace wt::tma_model {
namespace {

// Factors of the machine's rates to a multiprocessor and to all: 77 and 8900 bytes per cycle, by 400 timed runs on an
// H200.
constexpr double kFill = 1.375, kFillAll = 1.156;
constexpr double kTile = 700;              // cycles of a tile beside its products; a guess
constexpr double kDirectSumPenalty = 2.5;  // stores of two columns instead of whole rows, of tiles that are few
// Blocks of a stream-K grid stand at different depths, so that none finds in the L2 what another one has read.
constexpr double kStreamLocality = 2.4;

// Stream-K: whole rounds of tiles, then every block has as many k-blocks, and at most two pieces of tiles to write and
// to add again.
double stream_cycles(const KernelConfig& config, int64_t tiles, int64_t depth, double stage, double whole_output,
                     const View& seen) {
  const Rates& rates = seen.rates();
  constexpr double kPieceBytesPerCycle = 30, kSumCycles = 4000;
  const StreamShares cut = planned_stream(tiles, std::max<int64_t>(1, depth), rates.units);
  const double share = cut.share + (cut.rest > 0 ? 1.0 : 0.0), all = static_cast<double>(depth);
  const double whole = cut.rounds + std::floor(share / std::max(1.0, all));
  const double piece = double{4} * config.gemm.tile.m * config.gemm.tile.n;
  const double pieces = cut.divides() ? 2 : 0;
  const double busy = (cut.rounds * all + kStreamLocality * share) * stage + whole * (whole_output + kTile) +
                      kStreamLocality * pieces * (piece / kPieceBytesPerCycle + kTile);
  const double sum =
      cut.divides() ? rates.launch_cycles() / 2 + kSumCycles + pieces * cut.blocks * piece / rates.memory_per_cycle()
                    : 0;
  return rates.launch_cycles() + rates.first_data_cycles() + overlapped(busy, facts_of(seen)) + sum;
}

// The launch that adds the parts.
double sum_cycles(const ConvProblem& problem, const Rates& rates, int64_t splits) {
  const double bytes = static_cast<double>(problem.w_elements()) * 4 * (static_cast<double>(splits) + 1);
  return rates.launch_cycles() / 2 + bytes / rates.memory_per_cycle();
}

}  // namespace

double weight_cycles(const KernelConfig& config, const View& whole, int64_t members, int asked) {
  const Rates& rates = whole.rates();
  const GemmConfig& gemm = config.gemm;
  const ConvProblem& problem = whole.merged(gemm.groups_per_tile).problem();
  const int block = tma_layout::box_k(config);
  const int64_t blocks_n = ceil_div(problem.c_per_group(), block) * pixels(problem.filter);
  // Blocks that share operands take their tiles together, those past the edge too.
  const int64_t tiles = ceil_div(problem.k_per_group(), gemm.tile.m * gemm.cluster_m) * gemm.cluster_m *
                        ceil_div(blocks_n, gemm.tile.n / block * gemm.cluster_n) * gemm.cluster_n * problem.g;
  const int64_t depth = ceil_div(problem.n * pixels(problem.out()), gemm.tile.k);
  const bool split = gemm.split_k == SplitK::kWorkspace, bulk = gemm.staging == Staging::kTmaStore;
  const bool cluster = gemm.split_k == SplitK::kCluster, atomic = gemm.split_k == SplitK::kAtomic;
  const int64_t splits =
      cluster ? members
      : split || atomic
          ? split_count(whole, split_input(config, tiles, depth, rates.units, problem.w_elements(), asked))
          : 1;
  const auto units = static_cast<double>(rates.units);
  const auto items = static_cast<double>(tiles * splits);
  const double waves = cluster
                           ? std::ceil(static_cast<double>(tiles) /
                                       static_cast<double>(resident_clusters(rates.units, static_cast<int>(members))))
                           : std::ceil(items / units);
  constexpr double kStore = 30;  // of a microbenchmark
  const double deep = gemm.tile.k * size_of(operand_a(config));
  // Rows that cross lines cost more here than forward, where the other operand is mostly the filter.
  constexpr double kCrossedMore = 2.5;
  const auto crossed = [](int64_t channels, DataType type) {
    return 1 + kCrossedMore * (crossed_lines(channels, type) - 1);
  };
  const double rows = gemm.tile.m * crossed(problem.k, problem.y) + gemm.tile.n * crossed(problem.c, problem.x);
  const double fill = rows * deep / std::min(kFill * rates.fill, kFillAll * rates.fill_all / std::min(items, units));
  // Three warps turn boxes of 32-bit numbers round, a box in so many cycles; an estimate.
  constexpr double kTurnCycles = 250;
  const double turning =
      tma_layout::turns_tiles(config) ? std::ceil((gemm.tile.m + gemm.tile.n) / 32.0 / 3) * kTurnCycles : 0;
  const double products =
      tma_layout::three_products(config) ? three_product_cycles(config, deep, rates) : mma_cycles(config, deep);
  const double stage = std::max({products, turning, fill});
  const auto parts = static_cast<double>(members);
  const double exchange =
      cluster ? double{4} * gemm.tile.m * gemm.tile.n * (parts - 1) / parts / kExchangeBytesPerCycle + kExchangeCycles
              : 0;
  const double output = exchange + double{1} * gemm.tile.m * gemm.tile.n * (split || atomic ? 4 : 2) / parts *
                                       (split || bulk ? 1 : kDirectSumPenalty) / kStore;
  if (gemm.stream_k != StreamK::kOff) return stream_cycles(config, tiles, depth, stage, output, whole);
  const double busy =
      waves * (std::ceil(static_cast<double>(depth) / static_cast<double>(splits)) * stage + output + kTile);
  // With unit filters, parts of 128 or 256 rows by 64 columns took least, those of fewer rows or more columns longer
  // than predicted; why is not known.
  constexpr double kSquareParts = 1.12;
  const bool low = gemm.tile.m == 64 && problem.k_per_group() > 64;
  const bool square = split && problem.filter_taps() == 1 && (low || (gemm.tile.m >= 128 && gemm.tile.n >= 128));
  // Operands that two blocks share gained a twentieth where several taps read the same pixels, else they cost a tenth.
  // Where the rows do not fill a tile, or tiles are narrow, they cost more.
  constexpr double kSharedTaps = 0.95, kSharedUnit = 1.1, kSharedPart = 1.4;
  constexpr double kSharedWholeTaps = 1.05, kSharedWholeUnit = 0.95;  // of sums that are not divided, by 12 timed runs
  const bool shares = tma_layout::sharing_blocks(config) > 1;
  const bool part = problem.k_per_group() < gemm.tile.m || gemm.tile.n < 128;
  const bool unit = problem.filter_taps() == 1;
  const double shared = !shares ? 1
                        : part  ? kSharedPart
                        : split ? (unit ? kSharedUnit : kSharedTaps)
                                : (unit ? kSharedWholeUnit : kSharedWholeTaps);
  // Depthwise as merged groups took 1.7 and 2.5 times as long as counted.
  constexpr double kMergedChannels = 2;
  const bool channels = gemm.groups_per_tile > 1 && whole.problem().c_per_group() == 1;
  const double factor = (cluster ? kParts : square ? kSquareParts : 1) * shared * (channels ? kMergedChannels : 1);
  return rates.launch_cycles() + rates.first_data_cycles() + overlapped(busy, facts_of(whole)) * factor +
         (split    ? sum_cycles(problem, rates, splits)
          : atomic ? rates.launch_cycles() / 2 + sum_cycles(problem, rates, 1)  // the sum is zeroed before
                   : 0);
}

// A tile of pixels and its patch at a time, for several taps. Rates are those of weight_cycles; ring and store by 26
// timed runs, whose predictions were off by 0.023 in the mean.
double weight_halo_cycles(const KernelConfig& config, const View& seen, int asked) {
  const Rates& rates = seen.rates();
  const ConvProblem& problem = seen.problem();
  constexpr double kStore = 20, kRing = 0.2;
  const GemmConfig& gemm = config.gemm;
  const WeightHaloView view = weight_halo_view(config, problem);
  const int64_t tiles = view.tiles_m * view.tiles_n * problem.g;
  const bool split = gemm.split_k == SplitK::kWorkspace;
  const int64_t splits =
      split ? split_count(seen, split_input(config, tiles, view.blocks, rates.units, problem.w_elements(), asked)) : 1;
  const auto units = static_cast<double>(rates.units), items = static_cast<double>(tiles * splits);
  const double instructions = gemm.tile.m / 64.0 * gemm.warps.n * weight_halo::steps(config);
  const auto row_bytes = [](int64_t box, int64_t channels, DataType type) {
    const double bytes = static_cast<double>(weight_halo::copied(static_cast<int>(box), channels)) * size_of(type);
    return std::max(kLeastRowBytes, bytes);
  };
  const int dy_box = weight_halo::rows_of_box(config);
  const double rows = double{1} * gemm.tile.m / dy_box * gemm.tile.k * crossed_lines(problem.k, problem.y) *
                          row_bytes(dy_box, problem.k_per_group(), problem.y) +
                      view.tile.patch_h * view.tile.patch_w * crossed_lines(problem.c, problem.x) *
                          row_bytes(weight_halo::channels(config), problem.c_per_group(), problem.x);
  const double fill = rows / std::min(kFill * rates.fill, kFillAll * rates.fill_all / std::min(items, units));
  const double stage = std::max(instructions * gemm.mma.n / 2.0, fill) * (1 + kRing / gemm.stages);
  const double output = double{1} * gemm.tile.m * gemm.tile.n * (split ? 4 : 2 * kDirectSumPenalty) / kStore;
  const double deep = std::ceil(static_cast<double>(view.blocks) / static_cast<double>(splits));
  const double busy = std::ceil(items / units) * (deep * stage + output + kTile);
  return rates.launch_cycles() + rates.first_data_cycles() + overlapped(busy, facts_of(seen)) +
         (split ? sum_cycles(problem, rates, splits) : 0);
}

int64_t best_members(const KernelConfig& config, const View& seen, int asked) {
  const ConvProblem& problem = seen.problem();
  const int64_t depth = ceil_div(problem.n * pixels(problem.out()), config.gemm.tile.k);
  const int64_t most = std::clamp<int64_t>(depth, 2, tma_layout::kMaxCluster);
  if (asked > 0) return std::clamp<int64_t>(asked, 2, most);
  int64_t best = 2;
  double least = weight_cycles(config, seen, best, asked);
  for (int64_t members = 3; members <= most; ++members) {
    const double cycles = weight_cycles(config, seen, members, asked);
    if (cycles >= least) continue;
    least = cycles;
    best = members;
  }
  return best;
}

}  // namespace wt::tma_model

namespace wt {

double tma_weight_kind::predict(const KernelConfig& config, const View& asked, int splits) {
  using namespace tma_model;
  const View& seen = asked.seen_by(config);
  const bool cluster = config.gemm.split_k == SplitK::kCluster;
  const int64_t members = cluster ? best_members(config, seen, splits) : 1;
  const double cycles = weight_cycles(config, seen, members, splits);
  return with_aligned_copy(config, seen, cycles) / seen.rates().clock;
}

double tma_weight_halo_kind::predict(const KernelConfig& config, const View& seen, int splits) {
  using namespace tma_model;
  const double cycles = weight_halo_cycles(config, seen, splits);
  return with_aligned_copy(config, seen, cycles) / seen.rates().clock;
}

}  // namespace wt
