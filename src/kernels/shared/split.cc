// SPDX-License-Identifier: Apache-2.0
#include "kernels/shared/split.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/check.h"

namespace wt {
namespace {

// Guesses, of the machine's launch: what a block costs before its first product and after its last, and what the launch
// that adds the parts costs beside its bytes.
constexpr double kBlockLaunches = 0.723;
constexpr double kSumLaunches = 0.602;

// What all counts of parts share. WHY worked out first: a choice tries up to 128 counts for each of some dozen tiles.
struct Prices {
  Prices(const Rates& rates, const SplitInput& input)
      : block(kBlockLaunches * rates.launch_cycles()),
        step(rates.product_cycles(input.type, input.tile_m, input.tile_n, input.tile_k)),
        sum(kSumLaunches * rates.launch_cycles()),
        output(static_cast<double>(input.elements) * 4 / rates.memory_per_cycle()) {}

  double block, step, sum;
  double output;  // of its fp32 sums
};

double predicted_cycles(const Prices& prices, const SplitInput& input, int64_t splits) {
  const double waves = static_cast<double>((input.tiles * splits + input.units - 1) / input.units);
  const double blocks = static_cast<double>((input.blocks + splits - 1) / splits);
  // Parts are written and read once each, the output, of half as many bytes, is written once.
  return waves * (prices.block + blocks * prices.step) + prices.sum +
         prices.output * (2 * static_cast<double>(splits) + 0.5);
}

int64_t find_split_count(const Rates& rates, const SplitInput& input) {
  const Prices prices(rates, input);
  int64_t best = 1;
  double least = predicted_cycles(prices, input, 1);
  for (int64_t splits = 2; splits <= std::min(kMaxSplits, input.blocks); ++splits) {
    const double cycles = predicted_cycles(prices, input, splits);
    // Parts beyond that only add bytes: a last wave that is nearly empty costs less than this.
    if (cycles > 3 * least) break;
    if (cycles < least) {
      least = cycles;
      best = splits;
    }
  }
  return best;
}

// WHY remembered: a choice asks for the same tiles once for each way to load them, and each answer costs a loop.
class SplitCounts {
 public:
  explicit SplitCounts(const View& seen) : rates_(seen.rates()), known_(256) {}

  int64_t get(const SplitInput& input) {
    const auto mixed = static_cast<uint64_t>(input.tiles * 31 + input.blocks * 7 + input.tile_m + input.tile_n / 8 +
                                             input.tile_k + input.elements);
    Known& slot = known_[(mixed ^ mixed >> 8) % known_.size()];
    if (slot.count == 0 || !(slot.input == input)) slot = {input, find_split_count(rates_, input)};
    return slot.count;
  }

 private:
  struct Known {
    SplitInput input{};
    int64_t count = 0;  // 0: empty
  };
  const Rates& rates_;
  std::vector<Known> known_;
};

}  // namespace

int64_t resident_clusters(int64_t multiprocessors, int members) {
  // Blocks that an H200 with 132 multiprocessors holds at once, by the size of their clusters: its processing clusters
  // are not all of one size, and a cluster lies in one of them.
  constexpr int64_t kMeasuredOn = 132;
  constexpr std::array<int64_t, 9> kBlocks = {0, 132, 132, 117, 120, 110, 102, 105, 120};
  WT_CHECK(members >= 1 && members < static_cast<int>(kBlocks.size()), "clusters of {}", members);
  return std::max<int64_t>(1, multiprocessors * kBlocks[static_cast<size_t>(members)] / kMeasuredOn / members);
}

int64_t split_count(const View& seen, const SplitInput& input) {
  if (input.asked == kSplitsByOccupancy) return split_count_by_occupancy(input);
  if (input.asked > 0) return std::clamp<int64_t>(input.asked, 1, std::max<int64_t>(1, input.blocks));
  return seen.part<SplitCounts>().get(input);
}

int64_t split_count_by_occupancy(const SplitInput& input) {
  const int64_t splits = input.units * input.sharing / std::max<int64_t>(1, input.tiles);
  return std::clamp<int64_t>(splits, 1, std::min(kMaxSplits, std::max<int64_t>(1, input.blocks)));
}

}  // namespace wt
