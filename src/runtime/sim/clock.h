// SPDX-License-Identifier: Apache-2.0
// runtime/sim/clock.h - vector clocks: what a warp knows to have happened.
//
// A component is an actor: a warp of the cluster (its own count of release points) or an mbarrier (its completed
// phases). `seen` orders everything; `fenced` is the part of it whose generic writes a proxy fence has handed over to
// the asynchronous proxy, on the writer's or on the reader's side.
#pragma once

#include <cstdint>
#include <vector>

namespace wt::sim {

struct Clock {
  std::vector<uint32_t> seen;
  std::vector<uint32_t> fenced;

  void reset(int actors) {
    seen.assign(actors, 0);
    fenced.assign(actors, 0);
  }
  // The later of both, in the first `count` components; the others are 0 in both.
  void join(const Clock& other, int count) {
    uint32_t* const own_seen = seen.data();
    uint32_t* const own_fenced = fenced.data();
    const uint32_t* const other_seen = other.seen.data();
    const uint32_t* const other_fenced = other.fenced.data();
    for (int i = 0; i < count; ++i) own_seen[i] = own_seen[i] < other_seen[i] ? other_seen[i] : own_seen[i];
    for (int i = 0; i < count; ++i) own_fenced[i] = own_fenced[i] < other_fenced[i] ? other_fenced[i] : own_fenced[i];
  }
};

}  // namespace wt::sim
