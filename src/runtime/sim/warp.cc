// SPDX-License-Identifier: Apache-2.0
// runtime/sim/warp.cc - exchanges inside a warp.
#include "runtime/sim/lane.h"
#include "runtime/sim/primitives.h"
#include "runtime/sim/report.h"

namespace wt::sim {
namespace {

struct Ballot {
  Vote kind;
  u64 value;
  int lane;
  u64 result;
  Site site;
};

Ballot& of(void* argument) { return *static_cast<Ballot*>(argument); }

void shuffle(Warp& warp, void** lanes) {
  for (int lane = 0; lane < warp.lanes; ++lane) {
    const int from = of(lanes[lane]).lane;
    if (from < 0 || from >= warp.lanes) {
      fail(Fault::kUse, "shuffle", of(lanes[lane]).site, fmt::format("lane {} of a warp of {}", from, warp.lanes));
    }
    of(lanes[lane]).result = of(lanes[from]).value;
  }
}

void shuffle_xor(Warp& warp, void** lanes) {
  for (int lane = 0; lane < warp.lanes; ++lane) {
    const int from = lane ^ of(lanes[lane]).lane;
    if (from < 0 || from >= warp.lanes) {
      fail(Fault::kUse, "shuffle_xor", of(lanes[lane]).site,
           fmt::format("mask {} leads from lane {} out of a warp of {}", of(lanes[lane]).lane, lane, warp.lanes));
    }
    of(lanes[lane]).result = of(lanes[from]).value;
  }
}

void ballot(Warp& warp, void** lanes) {
  u64 result = 0;
  for (int lane = 0; lane < warp.lanes; ++lane) result |= u64{of(lanes[lane]).value != 0} << lane;
  for (int lane = 0; lane < warp.lanes; ++lane) of(lanes[lane]).result = result;
}

void uniform(Warp& warp, void** lanes) {
  for (int lane = 0; lane < warp.lanes; ++lane) {
    if (of(lanes[lane]).value != of(lanes[0]).value) {
      fail(Fault::kDivergence, "uniform", of(lanes[lane]).site,
           fmt::format("lane {} has {}, lane 0 has {}", lane, static_cast<int>(of(lanes[lane]).value),
                       static_cast<int>(of(lanes[0]).value)));
    }
    of(lanes[lane]).result = of(lanes[0]).value;
  }
}

}  // namespace

void sync_warp(Site site) {
  // WHY only here: shuffles, votes and matrix instructions wait for the lanes too, but order no memory between them.
  collective("sync_warp", nullptr, site, [](Warp& warp, void**) { meet(warp); });
}

void note_aligned(Site site) {
  Thread& thread = *current;
  count_step(*thread.block->cluster, site);
  ++thread.warp->aligned[thread.lane];
  ++thread.warp->aligned_sum;
  thread.warp->aligned_site = site;
}

u64 vote(Vote kind, u64 value, int lane, Site site) {
  Ballot ballot_of_lane{kind, value, lane, 0, site};
  switch (kind) {
    case Vote::kShuffle:
      collective("shuffle", &ballot_of_lane, site, shuffle);
      break;
    case Vote::kShuffleXor:
      collective("shuffle_xor", &ballot_of_lane, site, shuffle_xor);
      break;
    case Vote::kBallot:
      collective("ballot", &ballot_of_lane, site, ballot);
      break;
    case Vote::kUniform:
      collective("uniform", &ballot_of_lane, site, uniform);
      break;
  }
  return ballot_of_lane.result;
}

}  // namespace wt::sim
