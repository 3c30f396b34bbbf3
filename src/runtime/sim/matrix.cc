// SPDX-License-Identifier: Apache-2.0
// runtime/sim/matrix.cc - 8x8 matrices of 16-bit elements between shared memory and fragments.
//
// PTX manual, ldmatrix and stmatrix: lane l gives the row l % 8 of matrix l / 8, and holds elements 2 * (l % 4) and the
// next of row l / 4 of each matrix.
#include <cstring>

#include "runtime/sim/lane.h"
#include "runtime/sim/primitives.h"
#include "runtime/sim/report.h"

namespace wt::sim {
namespace {

struct Call {
  SharedAddress row;
  u32* registers;
  int count;
  bool transposed;
  Site site;
};

using Matrix = uint16_t[8][8];

Call& of(void* argument) { return *static_cast<Call*>(argument); }

// Which elements of a matrix are the low and the high half of the lane's register.
struct Pair {
  int row, col, next_row, next_col;
};
Pair pair_of(int lane, bool transposed) {
  const int a = lane / 4, b = lane % 4 * 2;
  return transposed ? Pair{b, a, b + 1, a} : Pair{a, b, a, b + 1};
}

void load(Warp& warp, void** lanes) {
  Block& block = *warp.block;
  Matrix matrices[4];
  const int count = of(lanes[0]).count;
  for (int lane = 0; lane < 8 * count; ++lane) {
    const Call& call = of(lanes[lane]);
    Thread& thread = block.threads[warp.index * 32 + lane];
    check_shared(block, call.row, 16, 16, "load_matrix", call.site);
    if (block.cluster->plan->options.checks) block.shadow.read(thread, block, call.row, 16, "load_matrix", call.site);
    std::memcpy(matrices[lane / 8][lane % 8], block.host(call.row), 16);
  }
  for (int lane = 0; lane < 32; ++lane) {
    const Call& call = of(lanes[lane]);
    const Pair at = pair_of(lane, call.transposed);
    for (int i = 0; i < count; ++i) {
      call.registers[i] = matrices[i][at.row][at.col] | static_cast<u32>(matrices[i][at.next_row][at.next_col]) << 16;
    }
  }
}

void store(Warp& warp, void** lanes) {
  Block& block = *warp.block;
  Matrix matrices[4];
  const int count = of(lanes[0]).count;
  for (int lane = 0; lane < 32; ++lane) {
    const Call& call = of(lanes[lane]);
    const Pair at = pair_of(lane, call.transposed);
    for (int i = 0; i < count; ++i) {
      matrices[i][at.row][at.col] = static_cast<uint16_t>(call.registers[i]);
      matrices[i][at.next_row][at.next_col] = static_cast<uint16_t>(call.registers[i] >> 16);
    }
  }
  for (int lane = 0; lane < 8 * count; ++lane) {
    const Call& call = of(lanes[lane]);
    Thread& thread = block.threads[warp.index * 32 + lane];
    check_shared(block, call.row, 16, 16, "store_matrix", call.site);
    if (block.cluster->plan->options.checks) block.shadow.write(thread, block, call.row, 16, "store_matrix", call.site);
    std::memcpy(block.host(call.row), matrices[lane / 8][lane % 8], 16);
  }
  // Every lane's register is part of what was written, so every lane has something to fence.
  for (int lane = 0; lane < 32; ++lane) touch(block.threads[warp.index * 32 + lane], true);
}

}  // namespace

void load_matrix(u32* to, int count, bool transposed, SharedAddress row, Site site) {
  Call call{row, to, count, transposed, site};
  collective("load_matrix", &call, site, load);
}

void store_matrix(SharedAddress row, const u32* from, int count, bool transposed, Site site) {
  Call call{row, const_cast<u32*>(from), count, transposed, site};
  collective("store_matrix", &call, site, store);
}

}  // namespace wt::sim
