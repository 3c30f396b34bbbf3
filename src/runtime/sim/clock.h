// SPDX-License-Identifier: Apache-2.0
// runtime/sim/clock.h - vector clocks: what a warp knows to have happened.
//
// A component is an actor: a warp of the cluster (the clock up to which the accesses of all its lanes are known), the
// products of a warpgroup (how many are done) or an mbarrier (its completed phases). `seen` orders everything; `fenced`
// is the part of it whose generic writes a proxy fence has handed over to the asynchronous proxy, on the writer's or on
// the reader's side. A lane that releases something on its own publishes its own accesses and not those of its
// neighbours: `lanes_seen` and `lanes_fenced` hold, thread by thread of the cluster, what is known beyond `seen` and
// `fenced`. They count only where `lanes` is set, which it is not for most clocks at most times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wt::sim {

struct Clock {
  std::vector<uint32_t> seen;
  std::vector<uint32_t> fenced;
  std::vector<uint32_t> lanes_seen;
  std::vector<uint32_t> lanes_fenced;
  bool lanes = false;

  void reset(int actors) {
    seen.assign(actors, 0);
    fenced.assign(actors, 0);
    lanes = false;
  }
  // The later of both, in the first `count` components; the others are 0 in both.
  void join(const Clock& other, int count) {
    raise(seen, other.seen, static_cast<size_t>(count));
    raise(fenced, other.fenced, static_cast<size_t>(count));
    if (!other.lanes) return;
    use_lanes(other.lanes_seen.size());
    raise(lanes_seen, other.lanes_seen, other.lanes_seen.size());
    raise(lanes_fenced, other.lanes_fenced, other.lanes_seen.size());
  }
  // What `other` has seen counts as fenced here.
  void join_fenced(const Clock& other, int count) {
    raise(fenced, other.seen, static_cast<size_t>(count));
    if (!other.lanes) return;
    use_lanes(other.lanes_seen.size());
    raise(lanes_fenced, other.lanes_seen, other.lanes_seen.size());
  }
  void use_lanes(size_t threads) {
    if (lanes) return;
    lanes = true;
    lanes_seen.assign(threads, 0);
    lanes_fenced.assign(threads, 0);
  }

 private:
  static void raise(std::vector<uint32_t>& to, const std::vector<uint32_t>& from, size_t count) {
    uint32_t* const own = to.data();
    const uint32_t* const other = from.data();
    for (size_t i = 0; i < count; ++i) own[i] = own[i] < other[i] ? other[i] : own[i];
  }
};

}  // namespace wt::sim
