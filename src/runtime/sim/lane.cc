// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/lane.h"

#include <algorithm>

namespace wt::sim {
namespace {

size_t lanes_of(const Cluster& cluster) { return static_cast<size_t>(cluster.plan->target->warp_size); }
size_t threads_of(const Cluster& cluster) {
  return cluster.blocks.size() * cluster.blocks[0].warps.size() * lanes_of(cluster);
}
size_t first_lane(const Warp& warp) { return static_cast<size_t>(warp.actor) * lanes_of(*warp.block->cluster); }

// Up to which of its own clocks a lane's writes are fenced, where it has some that are not; otherwise `otherwise`.
uint32_t fenced_up_to(const Warp& warp, int lane, uint32_t otherwise) {
  const uint32_t fenced = std::max(warp.fenced[lane], warp.clock.fenced[warp.actor]);
  return warp.written[lane] > fenced ? fenced : otherwise;
}

}  // namespace

void release_lane(Thread& thread, Clock& into) {
  Warp& warp = *thread.warp;
  const Cluster& cluster = *warp.block->cluster;
  const int lane = thread.lane;
  into.join(warp.clock, cluster.active_actors);
  if (warp.fence_lanes >> lane & 1) into.join_fenced(warp.fence, cluster.active_actors);
  if (warp.touched[lane] <= warp.clock.seen[warp.actor]) return;
  into.use_lanes(threads_of(cluster));
  const size_t at = first_lane(warp) + static_cast<size_t>(lane);
  into.lanes_seen[at] = std::max(into.lanes_seen[at], warp.now[lane]);
  into.lanes_fenced[at] = std::max(into.lanes_fenced[at], fenced_up_to(warp, lane, warp.now[lane]));
  ++warp.now[lane];  // what it does from here on is not released
}

void meet(Warp& warp) {
  Cluster& cluster = *warp.block->cluster;
  if (warp.fence_lanes) {
    warp.clock.join_fenced(warp.fence, cluster.active_actors);
    warp.fence_lanes = 0;
  }
  uint32_t last = warp.clock.seen[warp.actor];
  for (int lane = 0; lane < warp.lanes; ++lane) last = std::max(last, warp.touched[lane]);
  if (last == warp.clock.seen[warp.actor]) return;
  uint32_t fenced = last;
  for (int lane = 0; lane < warp.lanes; ++lane) fenced = std::min(fenced, fenced_up_to(warp, lane, last));
  for (int lane = 0; lane < warp.lanes; ++lane) {
    const uint32_t own = fenced_up_to(warp, lane, last);
    if (own > fenced && warp.written[lane] > fenced) {
      warp.clock.use_lanes(threads_of(cluster));
      warp.clock.lanes_fenced[first_lane(warp) + static_cast<size_t>(lane)] = own;
    }
    warp.now[lane] = std::max(warp.now[lane], last + 1);
  }
  warp.clock.seen[warp.actor] = last;
  warp.clock.fenced[warp.actor] = std::max(warp.clock.fenced[warp.actor], fenced);
}

void gather_lanes(Cluster& cluster, Clock& clock) {
  if (!clock.lanes) return;
  constexpr uint32_t kAll = UINT32_MAX;
  bool left = false;
  for (Block& block : cluster.blocks) {
    for (Warp& warp : block.warps) {
      uint32_t &seen = clock.seen[warp.actor], &fenced = clock.fenced[warp.actor];
      const uint32_t* lanes_seen = &clock.lanes_seen[first_lane(warp)];
      const uint32_t* lanes_fenced = &clock.lanes_fenced[first_lane(warp)];
      uint32_t all_seen = kAll, all_fenced = kAll, last = 0;
      for (int lane = 0; lane < warp.lanes; ++lane) {
        const uint32_t known = std::max(seen, lanes_seen[lane]), handed = std::max(fenced, lanes_fenced[lane]);
        last = std::max({last, lanes_seen[lane], lanes_fenced[lane]});
        // A lane that did nothing beyond is no hindrance: what it does next gets a later clock.
        if (warp.touched[lane] > known) all_seen = std::min(all_seen, known);
        if (warp.written[lane] > handed) all_fenced = std::min(all_fenced, handed);
      }
      if (last <= seen && last <= fenced) continue;
      seen = std::max(seen, std::min(all_seen, last));
      fenced = std::max(fenced, std::min({all_fenced, last, seen}));
      for (int lane = 0; lane < warp.lanes; ++lane) warp.now[lane] = std::max(warp.now[lane], seen + 1);
      left |= last > seen || last > fenced;
    }
  }
  clock.lanes = left;
}

void fence_lane(Thread& thread) {
  Warp& warp = *thread.warp;
  const uint64_t lane = uint64_t{1} << thread.lane;
  if (warp.written[thread.lane] == warp.now[thread.lane]) ++warp.now[thread.lane];
  warp.fenced[thread.lane] = warp.now[thread.lane] - 1;
  const bool same = warp.fence_lanes && warp.fence.seen == warp.clock.seen && warp.fence.lanes == warp.clock.lanes &&
                    (!warp.fence.lanes || warp.fence.lanes_seen == warp.clock.lanes_seen);
  if (same) {
    warp.fence_lanes |= lane;
    return;
  }
  // Lanes whose older fence is not remembered give it to their warp, which can hide a missing fence.
  if (warp.fence_lanes & ~lane) warp.clock.join_fenced(warp.fence, warp.block->cluster->active_actors);
  warp.fence = warp.clock;
  warp.fence_lanes = lane;
}

bool warp_fenced(const Thread& thread, uint32_t actor, uint32_t clock) {
  const Warp& warp = *thread.warp;
  if (clock <= warp.clock.fenced[actor]) return true;
  return (warp.fence_lanes >> thread.lane & 1) && clock <= warp.fence.seen[actor];
}

bool lane_fenced(const Thread& thread, uint32_t actor, uint32_t lane, uint32_t clock) {
  if (warp_fenced(thread, actor, clock)) return true;
  const Warp& warp = *thread.warp;
  const Clock& known = warp.clock;
  const size_t at = actor * lanes_of(*warp.block->cluster) + lane;
  if (known.lanes && clock <= known.lanes_fenced[at]) return true;
  if (static_cast<int>(actor) == warp.actor && static_cast<int>(lane) == thread.lane &&
      clock <= warp.fenced[thread.lane]) {
    return true;
  }
  return (warp.fence_lanes >> thread.lane & 1) && warp.fence.lanes && clock <= warp.fence.lanes_seen[at];
}

}  // namespace wt::sim
