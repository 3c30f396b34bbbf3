// SPDX-License-Identifier: Apache-2.0
#include "kernels/shared/tile_runs.h"

#include <algorithm>

namespace wt {
namespace {

TileRun run_of(int64_t first, int64_t count, int64_t block, int64_t width) {
  return {static_cast<u32>(first), static_cast<u32>(first + count), static_cast<u32>(block), static_cast<u32>(width)};
}

int64_t most_in_turns(const std::vector<TileClass>& classes, int64_t blocks) {
  std::vector<int64_t> load(static_cast<size_t>(blocks));
  for (const TileClass& tiles : classes) {
    for (int64_t block = 0; block < blocks; ++block) {
      const int64_t offset = ((block - tiles.first) % blocks + blocks) % blocks;  // of the class's first tile there
      if (offset >= tiles.count) continue;
      load[static_cast<size_t>(block)] += ((tiles.count - offset - 1) / blocks + 1) * tiles.cost;
    }
  }
  return *std::max_element(load.begin(), load.end());
}

}  // namespace

std::vector<TileRun> balanced_runs(std::vector<TileClass> classes, int64_t blocks) {
  int64_t tiles = 0;
  for (const TileClass& some : classes) tiles += some.count;
  const std::vector<TileRun> in_turns{run_of(0, tiles, 0, blocks)};
  std::stable_sort(classes.begin(), classes.end(),
                   [](const TileClass& a, const TileClass& b) { return a.cost > b.cost; });

  std::vector<TileRun> runs;
  std::vector<int64_t> load(static_cast<size_t>(blocks));
  for (const TileClass& some : classes) {
    int64_t next = some.first, left = some.count;
    while (left > 0) {
      const auto least = std::min_element(load.begin(), load.end());
      const auto end = std::find_if(least, load.end(), [&](int64_t other) { return other != *least; });
      const int64_t block = least - load.begin(), width = std::min<int64_t>(end - least, left);
      const int64_t rounds = width == blocks ? left / blocks : 1;
      for (int64_t i = 0; i < width; ++i) load[static_cast<size_t>(block + i)] += rounds * some.cost;
      if (!runs.empty() && runs.back().end == next && runs.back().block == block && runs.back().width == width) {
        runs.back().end += static_cast<u32>(rounds * width);
      } else {
        runs.push_back(run_of(next, rounds * width, block, width));
      }
      if (runs.size() > kMaxTileRuns) return in_turns;
      next += rounds * width;
      left -= rounds * width;
    }
  }
  const bool better = tiles > 0 && *std::max_element(load.begin(), load.end()) < most_in_turns(classes, blocks);
  return better ? runs : in_turns;
}

}  // namespace wt
