// SPDX-License-Identifier: Apache-2.0
// runtime/sim/lane.h - lanes as actors: what one lane of a warp releases, and where all lanes of a warp meet.
//
// Accesses to shared memory carry the clock of their lane, `Warp::now`. Lanes that meet (sync_warp, or a barrier that
// all of them wait at) know each other's accesses up to then: that is the warp's own component of its clock. A lane
// that arrives somewhere without such a meeting releases its own accesses since then, and nothing of its neighbours.
// What a lane has waited for counts as known to its whole warp.
#pragma once

#include "runtime/sim/engine.h"

namespace wt::sim {

// The lane of `thread` reads, or writes, shared memory now; returns the access's clock.
inline uint32_t touch(Thread& thread, bool writes) {
  Warp& warp = *thread.warp;
  const uint32_t now = warp.now[thread.lane];
  warp.touched[thread.lane] = now;
  if (writes) warp.written[thread.lane] = now;
  return now;
}

// Adds what the thread knows, and what it did itself, to `into`.
void release_lane(Thread& thread, Clock& into);

// All lanes of the warp are here.
void meet(Warp& warp);

// Where `clock` knows each lane of a warp up to some time, it knows the warp.
void gather_lanes(Cluster& cluster, Clock& clock);

// A proxy fence of one lane: it covers what the lane knows and did itself. Others profit from it once they meet the
// lane or wait for something that it released.
void fence_lane(Thread& thread);
// Whether `thread` may hand on to the asynchronous proxy what all lanes of a warp wrote up to `clock`; what one did.
bool warp_fenced(const Thread& thread, uint32_t actor, uint32_t clock);
bool lane_fenced(const Thread& thread, uint32_t actor, uint32_t lane, uint32_t clock);

// Whether `known` covers what this lane of a warp did at `clock`.
inline bool knows(const Clock& known, uint32_t actor, uint32_t lane, uint32_t lanes, uint32_t clock) {
  return clock <= known.seen[actor] || (known.lanes && clock <= known.lanes_seen[actor * lanes + lane]);
}

}  // namespace wt::sim
