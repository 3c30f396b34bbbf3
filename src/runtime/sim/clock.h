// SPDX-License-Identifier: Apache-2.0
// runtime/sim/clock.h - vector clocks: what a warp knows to have happened.
//
// A component is an actor: a warp of the cluster (its own count of release points) or an mbarrier (its completed
// phases). `seen` orders everything; `fenced` is the part of it whose generic writes a proxy fence has handed over to
// the asynchronous proxy, on the writer's or on the reader's side.
#pragma once

#include <cstddef>
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
  void join(const Clock& other) {
    const std::size_t count = seen.size();
    for (std::size_t i = 0; i < count; ++i) seen[i] = seen[i] < other.seen[i] ? other.seen[i] : seen[i];
    for (std::size_t i = 0; i < count; ++i) fenced[i] = fenced[i] < other.fenced[i] ? other.fenced[i] : fenced[i];
  }
};

}  // namespace wt::sim
