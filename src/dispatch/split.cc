// SPDX-License-Identifier: Apache-2.0
#include "dispatch/split.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include "base/check.h"

namespace wt {
namespace {

constexpr int64_t kMaxSplits = 128;
// Cycles, estimates for an H200 that are not calibrated: what a block costs before its first product and after its
// last, and what the launch that adds the parts costs beside its bytes.
constexpr double kBlockCycles = 6000;
constexpr double kSumCycles = 5000;
constexpr double kBytesPerCycle = 2400;  // of the whole device's memory

double block_cycles(const SplitInput& input) {
  // wgmma takes max(n / 2, 16 + n / 4) cycles for 64 rows and 16 deep.
  const double step = std::max(input.tile_n / 2.0, 16 + input.tile_n / 4.0);
  return input.tile_m / 64.0 * input.tile_k / 16.0 * step;
}

double predicted_cycles(const SplitInput& input, int64_t splits) {
  const double waves = static_cast<double>((input.tiles * splits + input.multiprocessors - 1) / input.multiprocessors);
  const double blocks = static_cast<double>((input.blocks + splits - 1) / splits);
  double cycles = waves * (kBlockCycles + blocks * block_cycles(input));
  // Parts are written and read once each, the output is written once.
  cycles +=
      kSumCycles + static_cast<double>(input.elements) * 4 * (2 * static_cast<double>(splits) + 0.5) / kBytesPerCycle;
  return cycles;
}

int64_t find_split_count(const SplitInput& input) {
  int64_t best = 1;
  double least = predicted_cycles(input, 1);
  for (int64_t splits = 2; splits <= std::min(kMaxSplits, input.blocks); ++splits) {
    const double cycles = predicted_cycles(input, splits);
    // Parts beyond that only add bytes: a last wave that is nearly empty costs less than this.
    if (cycles > 3 * least) break;
    if (cycles < least) {
      least = cycles;
      best = splits;
    }
  }
  return best;
}

}  // namespace

int64_t requested_splits() {
  const char* text = std::getenv("WAVETILE_SPLITS");
  return text ? std::clamp<int64_t>(std::strtoll(text, nullptr, 10), 0, kMaxSplits) : 0;
}

int64_t resident_clusters(int64_t multiprocessors, int members) {
  // Blocks that an H200 with 132 multiprocessors holds at once, by the size of their clusters: its processing clusters
  // are not all of one size, and a cluster lies in one of them.
  constexpr int64_t kMeasuredOn = 132;
  constexpr std::array<int64_t, 9> kBlocks = {0, 132, 132, 117, 120, 110, 102, 105, 120};
  WT_CHECK(members >= 1 && members < static_cast<int>(kBlocks.size()), "clusters of {}", members);
  return std::max<int64_t>(1, multiprocessors * kBlocks[static_cast<size_t>(members)] / kMeasuredOn / members);
}

// WHY remembered: a choice asks for the same tiles once for each way to load them, and each answer costs a loop.
int64_t split_count(const SplitInput& input) {
  if (const int64_t asked = requested_splits())
    return std::clamp<int64_t>(asked, 1, std::max<int64_t>(1, input.blocks));
  struct Known {
    SplitInput input{};
    int64_t count = 0;  // 0: empty
  };
  // WHY on the heap: a library that is loaded late has next to no room for what is local to a thread.
  thread_local std::vector<Known> known;
  if (known.empty()) known.resize(256);
  const auto mixed = static_cast<uint64_t>(input.tiles * 31 + input.blocks * 7 + input.tile_m + input.tile_n / 8 +
                                           input.tile_k + input.elements);
  Known& slot = known[(mixed ^ mixed >> 8) % known.size()];
  if (slot.count == 0 || !(slot.input == input)) slot = {input, find_split_count(input)};
  return slot.count;
}

int64_t split_count_by_occupancy(const SplitInput& input) {
  const int64_t splits = input.multiprocessors / std::max<int64_t>(1, input.tiles);
  return std::clamp<int64_t>(splits, 1, std::min(kMaxSplits, std::max<int64_t>(1, input.blocks)));
}

}  // namespace wt
