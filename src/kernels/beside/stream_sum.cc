// SPDX-License-Identifier: Apache-2.0
#include "kernels/beside/stream_sum.h"

#include "base/check.h"
#include "base/integers.h"
#include "kernels/beside/device/split_sum_arguments.h"

namespace wt {

StreamShares planned_stream(int64_t tiles, int64_t depth, int64_t most) {
  constexpr int64_t kMostUnits = int64_t{1} << 31;
  WT_CHECK(most * depth < kMostUnits && tiles < kMostUnits, "{} tiles of {} stages are more than stream-K counts",
           tiles, depth);
  return stream_shares(tiles, depth, most);
}

StreamKCut for_people(const StreamShares& cut) {
  return {cut.blocks, cut.rounds, cut.tiles, cut.depth, cut.share, cut.rest};
}

int64_t stream_bytes(const KernelConfig& config, const StreamShares& cut) {
  if (!cut.divides()) return 0;
  return int64_t{cut.slots()} * config.gemm.tile.m * config.gemm.tile.n * int64_t{sizeof(float)};
}

std::optional<Launch> stream_sum_launch(const KernelConfig& config, const Launch& pieces, const StreamShares& cut) {
  if (!cut.divides()) return std::nullopt;
  Launch sum = pieces;
  sum.kernel += kSumSuffix;
  sum.maps.clear();
  sum.zeros.clear();  // whole tiles have left their amax already
  sum.shape = {};
  sum.shape.threads = StreamShares::kSumThreads;
  sum.shape.programmatic = true;  // as kernels/device/overlap.h has it
  const int64_t blocks =
      ceil_div(int64_t{config.gemm.tile.m} * config.gemm.tile.n, StreamShares::kSumThreads * StreamShares::kSumWidth);
  sum.shape.grid[0] = static_cast<uint32_t>(cut.tiles * blocks);
  return sum;
}

}  // namespace wt
