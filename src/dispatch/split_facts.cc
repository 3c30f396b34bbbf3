// SPDX-License-Identifier: Apache-2.0
#include "dispatch/split_facts.h"

#include <fmt/format.h>

#include "base/integers.h"
#include "config/merged_problem.h"
#include "config/rows_weight_view.h"
#include "dispatch/bind.h"
#include "dispatch/split.h"
#include "dispatch/weight_few.h"
#include "kernel/gemm/portable/layout.h"
#include "kernel/gemm/rows/weight_layout.h"
#include "problem/gemm_view.h"

namespace wt {
std::optional<SplitFacts> split_facts(const KernelConfig& config, const ConvProblem& problem,
                                      const DeviceInfo& device) {
  const GemmConfig& gemm = config.gemm;
  const bool divides = gemm.split_k != SplitK::kNone;
  if (config.family != Family::kGemm) return std::nullopt;
  if (gemm.stream_k != StreamK::kOff) {
    SplitFacts facts;
    facts.stream = bind(config, problem, device).stream;
    return facts.stream.blocks > 0 ? std::optional(facts) : std::nullopt;
  }
  if (!divides && problem.direction != Direction::kBackwardWeight) return std::nullopt;
  const GemmView view = gemm_view(merged_problem(config, problem));
  SplitFacts facts;
  facts.tiles = view.batch * ceil_div(view.m, gemm.tile.m) * ceil_div(view.n, gemm.tile.n);
  facts.blocks = ceil_div(view.k, gemm.tile.k);
  if (weight_few::serves(config)) {
    const WeightFewView few = weight_few_view(config, problem, device.multiprocessors);
    facts.tiles = few.tiles();
    facts.blocks = few.blocks;
  } else if (rows_weight_layout::serves(config)) {
    const RowsWeightView rows = rows_weight_view(config, problem, device.multiprocessors);
    facts.tiles = rows.tiles_m * rows.tiles_n;
    facts.blocks = rows.units;
  } else if (gemm.pipeline == Pipeline::kWavelet && !portable_layout::serves(config)) {
    // Rows are what is gathered under the taps: x, or dy.
    const int64_t rows = config.finite_only ? view.m * problem.filter_taps() : view.n;
    const int64_t columns = config.finite_only ? problem.c_per_group() : view.m;
    facts.tiles = view.batch * ceil_div(rows, gemm.tile.m) * ceil_div(columns, gemm.tile.n);
  }
  facts.parts = bind(config, problem, device).parts;
  facts.by_occupancy = split_count_by_occupancy(split_input(
      gemm, facts.tiles, facts.blocks, int64_t{device.multiprocessors} * config.min_blocks, problem.w_elements()));
  return facts;
}

std::string to_text(const SplitFacts& facts) {
  if (const StreamShares& cut = facts.stream; cut.blocks > 0) {
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
