// SPDX-License-Identifier: Apache-2.0
#include "kernels/shared/tile_runs.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace wt {
namespace {

// What each block has to do; checks that every tile is taken once.
std::vector<int64_t> loads(const std::vector<TileClass>& classes, int64_t blocks, const std::vector<TileRun>& runs) {
  int64_t tiles = 0;
  for (const TileClass& some : classes) tiles = std::max(tiles, some.first + some.count);
  std::vector<int64_t> cost(static_cast<size_t>(tiles)), taken(cost), load(static_cast<size_t>(blocks));
  for (const TileClass& some : classes)
    std::fill_n(cost.begin() + some.first, static_cast<size_t>(some.count), some.cost);
  for (const TileRun& run : runs) {
    EXPECT_LE(run.block + run.width, blocks);
    for (u32 tile = run.first; tile < run.end; ++tile) {
      ++taken[tile];
      load[run.block + (tile - run.first) % run.width] += cost[tile];
    }
  }
  for (size_t tile = 0; tile < taken.size(); ++tile) EXPECT_EQ(taken[tile], 1) << "tile " << tile;
  return load;
}

int64_t most(const std::vector<int64_t>& load) { return *std::max_element(load.begin(), load.end()); }

// 3x3 with stride 2 over 25x25: tiles of 4, 2 and 1 taps. In turns the first fifty blocks get one of each, 28.
TEST(TileRuns, BalanceThePhasesOfAStride) {
  const std::vector<TileClass> classes{{0, 72, 16}, {72, 156, 8}, {228, 86, 4}};
  const std::vector<TileRun> runs = balanced_runs(classes, 132);
  EXPECT_LE(runs.size(), 8u);
  EXPECT_EQ(most(loads(classes, 132, runs)), 24);
}

TEST(TileRuns, GoThroughBandsAndGroupsByCost) {
  const std::vector<TileClass> classes{{0, 40, 4}, {40, 8, 1}, {48, 40, 4}, {88, 8, 1}};
  const std::vector<int64_t> load = loads(classes, 16, balanced_runs(classes, 16));
  EXPECT_EQ(most(load), 21);
  EXPECT_EQ(*std::min_element(load.begin(), load.end()), 21);
}

TEST(TileRuns, AreOneWhereTurnsAreAsGood) {
  for (const int64_t tiles : {0, 3, 132, 1000, 1 << 28}) {
    const std::vector<TileClass> classes{{0, tiles, 5}};
    const std::vector<TileRun> runs = balanced_runs(classes, 132);
    ASSERT_EQ(runs.size(), 1u) << tiles;
    EXPECT_EQ(runs[0].first, 0u);
    EXPECT_EQ(runs[0].end, tiles);
    EXPECT_EQ(runs[0].block, 0u);
    EXPECT_EQ(runs[0].width, 132u);
  }
}

// Costs without a common measure split the blocks further with every class.
TEST(TileRuns, AreOneWhereTheListWouldBeTooLong) {
  std::vector<TileClass> classes;
  for (int64_t i = 0; i < 40; ++i) classes.push_back({7 * i, 7, 1000 + 37 * i * i});
  EXPECT_EQ(balanced_runs(classes, 132).size(), 1u);
  loads(classes, 132, balanced_runs(classes, 132));
}

}  // namespace
}  // namespace wt
