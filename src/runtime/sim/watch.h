// SPDX-License-Identifier: Apache-2.0
// runtime/sim/watch.h - who last wrote each 4 bytes of global memory, in this launch or in one that may not be over.
//
//   store, atomic, bulk store --> record of the word;   every access --> is the record's write ordered before this one?
//
// Clusters of a launch run in no order and on several host threads, so that a plain write of one is a race with every
// other access to the same bytes by another, unless both use fences (fence_global, store_release, load_acquire): which
// of their accesses those order is not looked into. Inside a cluster its clocks decide. Launches that may overlap the
// one before see its writes once they know of wait_prerequisites.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "target/sim/table.h"

namespace wt::sim {

struct Cluster;
struct Thread;

// The records of one buffer. Every cluster of every launch of a device has a number of its own, which rises.
class Watch {
 public:
  explicit Watch(size_t bytes);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch();

  bool written_since(uint32_t cluster) const { return latest_.load(std::memory_order_relaxed) >= cluster; }
  void note_cluster(uint32_t cluster) {
    if (latest_.load(std::memory_order_relaxed) < cluster) latest_.store(cluster, std::memory_order_relaxed);
  }
  std::atomic<uint64_t>& word(size_t index) { return words_[index]; }
  void forget();

 private:
  std::atomic<uint64_t>* words_ = nullptr;
  size_t bytes_ = 0;  // of words_
  std::atomic<uint32_t> latest_{0};
};

enum class Access : uint8_t { kPlain, kAtomic, kBulk };

// Whether anything in the buffer at `address` was written by this launch or by one that may not be over.
bool may_be_unordered(Cluster& cluster, uintptr_t address);

// `thread` reads or writes these bytes, which lie inside one buffer.
void watch_read(Thread& thread, uintptr_t address, size_t bytes, Access access, const char* operation, Site site);
void watch_write(Thread& thread, uintptr_t address, size_t bytes, Access access, const char* operation, Site site);

}  // namespace wt::sim
