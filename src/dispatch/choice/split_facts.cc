// SPDX-License-Identifier: Apache-2.0
#include "dispatch/choice/split_facts.h"

#include <fmt/format.h>

#include "base/integers.h"
#include "kernels/kind.h"
#include "kernels/shared/split.h"
#include "problem/gemm_view.h"

namespace wt {
namespace {

TileCount tile_count(const KernelConfig& config, const View& seen) {
  if (const auto own = kind_of(config.kind).tile_count) return own(config, seen);
  const GemmView view = gemm_view(seen.merged(config.gemm.groups_per_tile).problem());
  const Extent3& tile = config.gemm.tile;
  return {view.batch * ceil_div(view.m, tile.m) * ceil_div(view.n, tile.n), ceil_div(view.k, tile.k)};
}

}  // namespace

std::optional<SplitFacts> split_facts(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device,
                                      int splits) {
  const GemmConfig& gemm = config.gemm;
  const bool divides = gemm.split_k != SplitK::kNone;
  const View view(problem, rates_of(device));
  if (config.family() != Family::kGemm) return std::nullopt;
  if (gemm.stream_k != StreamK::kOff) {
    SplitFacts facts;
    facts.stream = bind(config, view, device).stream;
    return facts.stream.blocks > 0 ? std::optional(facts) : std::nullopt;
  }
  if (!divides && problem.direction != Direction::kBackwardWeight) return std::nullopt;
  const TileCount count = tile_count(config, view);
  SplitFacts facts;
  facts.tiles = count.tiles;
  facts.blocks = count.blocks;
  facts.parts = bind(config, view, device, splits).parts;
  facts.by_occupancy = split_count_by_occupancy(split_input(
      config, facts.tiles, facts.blocks, int64_t{device.multiprocessors} * config.min_blocks, problem.w_elements(), 0));
  return facts;
}

int parts_by_occupancy(const KernelConfig& config, const View& view, int registers) {
  const TileCount count = tile_count(config, view);
  SplitInput input = split_input(config, count.tiles, count.blocks, view.rates().units, view.problem().w_elements(), 0);
  input.sharing = resident_blocks(config, registers);
  return static_cast<int>(split_count_by_occupancy(input));
}

std::string to_text(const SplitFacts& facts) {
  if (const StreamKCut& cut = facts.stream; cut.blocks > 0) {
    const std::string rounds =
        cut.rounds > 0 ? fmt::format("{} rounds of {} whole tiles, then ", cut.rounds, cut.blocks) : "";
    if (cut.tiles == 0) return fmt::format("stream-K: {}none", rounds);
    return fmt::format("stream-K: {}{} tiles of {} k-blocks cut into shares of {}{}", rounds, cut.tiles, cut.depth,
                       cut.share, cut.rest > 0 ? fmt::format(" or {}", cut.share + 1) : "");
  }
  return fmt::format("{} parts by predicted time, {} by occupancy alone (tiles {}, k-blocks of each {})", facts.parts,
                     facts.by_occupancy, facts.tiles, facts.blocks);
}

}  // namespace wt
