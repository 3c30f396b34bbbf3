// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/watch.h"

#include <sys/mman.h>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

#include <algorithm>

#include "runtime/sim/lane.h"
#include "runtime/sim/primitives.h"
#include "runtime/sim/report.h"

namespace wt::sim {
namespace {

constexpr uint32_t kWord = 4;

// As one word, so that a host thread never sees half of it. `clock` is 0 where the cluster's own clocks cannot judge.
struct Record {
  uint32_t cluster;
  uint32_t actor;  // a warp of the cluster
  Access access;
  uint32_t mask;  // of the word's bytes
  uint32_t clock;

  uint64_t packed() const {
    return uint64_t{cluster} << 32 | actor << 22 | static_cast<uint32_t>(access) << 20 | mask << 16 | clock;
  }
  static Record of(uint64_t bits) {
    return {static_cast<uint32_t>(bits >> 32), static_cast<uint32_t>(bits >> 22 & 0x3ff),
            static_cast<Access>(bits >> 20 & 3), static_cast<uint32_t>(bits >> 16 & 15),
            static_cast<uint32_t>(bits & 0xffff)};
  }
};

const Buffer* buffer_of(Cluster& cluster, uintptr_t address) {
  if (address >= cluster.last_buffer.low && address < cluster.last_buffer.high) return &cluster.last_buffer;
  const auto& buffers = cluster.plan->buffers;
  const auto after = std::upper_bound(buffers.begin(), buffers.end(), address,
                                      [](uintptr_t a, const Buffer& buffer) { return a < buffer.low; });
  return after == buffers.begin() || address >= (after - 1)->high ? nullptr : &*(after - 1);
}

// Calls visit(word, mask of its bytes).
template <class Visit>
void for_words(const Buffer& buffer, uintptr_t address, size_t bytes, Visit visit) {
  size_t at = address - buffer.low;
  const size_t end = at + bytes;
  while (at < end) {
    const size_t first = at % kWord, stop = std::min<size_t>(kWord, first + (end - at));
    visit(buffer.watch->word(at / kWord), byte_mask(static_cast<uint32_t>(first), static_cast<uint32_t>(stop)));
    at += stop - first;
  }
}

bool ordered_inside(const Thread& thread, const Record& record) {
  const Clock& known = thread.warp->clock;
  if (static_cast<int>(record.actor) == thread.warp->actor || record.clock == 0) return true;
  if (record.clock <= known.seen[record.actor]) return true;
  if (!known.lanes) return false;
  // Which lane wrote is not recorded: any will do.
  const auto lanes = static_cast<size_t>(thread.block->cluster->plan->target->warp_size);
  const uint32_t* of_warp = &known.lanes_seen[record.actor * lanes];
  return *std::max_element(of_warp, of_warp + lanes) >= record.clock;
}

// Without the heap: a thread that fails is left where it stands.
template <class... Values>
Text text_of(fmt::format_string<Values...> format, Values&&... values) {
  Text text;
  const auto end = fmt::format_to_n(text.text, sizeof text.text - 1, format, std::forward<Values>(values)...).out;
  *end = '\0';
  return text;
}
Text place_text(const Cluster& cluster, uintptr_t address) {
  return text_of("{}", describe_address(cluster.plan->buffers, address));
}

[[noreturn, gnu::noinline, gnu::cold]] void fail_overlap(const Cluster& cluster, uintptr_t address, bool writes,
                                                         const char* operation, Site site) {
  const Text place = place_text(cluster, address);
  fail(Fault::kRace, operation, site,
       fmt::format("global address {:#x} ({}) was written by the launch before, which may not be over: "
                   "wait_prerequisites must come before this {}",
                   address, place.text, writes ? "write" : "read"));
}

[[noreturn, gnu::noinline, gnu::cold]] void fail_global_race(const Cluster& cluster, const Record& record,
                                                             uintptr_t address, bool writes, const char* operation,
                                                             Site site) {
  const bool inside = record.cluster == cluster.number;
  const Text who = inside ? actor_text(cluster, record.actor)
                          : text_of("another {} (number {})", cluster.blocks.size() == 1 ? "block" : "cluster",
                                    record.cluster - cluster.plan->first_cluster);
  const Text place = place_text(cluster, address);
  fail(Fault::kRace, operation, site,
       fmt::format("global address {:#x} ({}) is written {}by {}, and nothing orders that write before this {}",
                   address, place.text, record.access == Access::kAtomic ? "atomically " : "", who.text,
                   writes ? "one" : "read"));
}

// The record's write, of bytes that `thread` is about to access, must be ordered before.
void check(Thread& thread, const Record& record, uintptr_t address, Access access, bool writes, const char* operation,
           Site site) {
  const Cluster& cluster = *thread.block->cluster;
  const LaunchPlan& plan = *cluster.plan;
  if (record.cluster < plan.first_cluster) {
    if (thread.warp->clock.seen[cluster.prerequisites_actor()] == 0)
      fail_overlap(cluster, address, writes, operation, site);
    return;
  }
  const uint32_t index = record.cluster - plan.first_cluster;
  if (index >= plan.clusters) return;  // of a launch by another thread of the host
  if (access == Access::kAtomic && record.access == Access::kAtomic) return;
  if (record.cluster == cluster.number) {
    if (!ordered_inside(thread, record)) fail_global_race(cluster, record, address, writes, operation, site);
    return;
  }
  const bool fences = plan.fences[index].load(std::memory_order_relaxed) &&
                      plan.fences[cluster.number - plan.first_cluster].load(std::memory_order_relaxed);
  if (!fences) fail_global_race(cluster, record, address, writes, operation, site);
}

}  // namespace

Watch::Watch(size_t bytes) : bytes_((bytes + kWord - 1) / kWord * sizeof(uint64_t)) {
  // WHY mapped: what is never written costs no memory.
  void* const memory =
      mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  words_ = memory == MAP_FAILED ? nullptr : static_cast<std::atomic<uint64_t>*>(memory);
#if defined(__SANITIZE_ADDRESS__)
  // WHY: a thread's stack may have been here, whose marks stay behind.
  if (words_) __asan_unpoison_memory_region(words_, bytes_);
#endif
}

Watch::~Watch() {
  if (words_) munmap(words_, bytes_);
}

void Watch::forget() {
  latest_ = 0;
  if (words_) madvise(words_, bytes_, MADV_DONTNEED);
}

bool may_be_unordered(Cluster& cluster, uintptr_t address) {
  if (!cluster.plan->watched) return false;
  const Buffer* buffer = buffer_of(cluster, address);
  return buffer && buffer->watch->written_since(cluster.plan->first_unsettled);
}

void watch_read(Thread& thread, uintptr_t address, size_t bytes, Access access, const char* operation, Site site) {
  Cluster& cluster = *thread.block->cluster;
  const LaunchPlan& plan = *cluster.plan;
  if (!plan.watched) return;
  const Buffer* buffer = buffer_of(cluster, address);
  if (!buffer || !buffer->watch->written_since(plan.first_unsettled)) return;
  for_words(*buffer, address, bytes, [&](std::atomic<uint64_t>& word, uint32_t mask) {
    const Record record = Record::of(word.load(std::memory_order_relaxed));
    if (record.cluster >= plan.first_unsettled && (record.mask & mask))
      check(thread, record, address, access, false, operation, site);
  });
}

void watch_write(Thread& thread, uintptr_t address, size_t bytes, Access access, const char* operation, Site site) {
  Cluster& cluster = *thread.block->cluster;
  const LaunchPlan& plan = *cluster.plan;
  if (!plan.watched) return;
  const Buffer* buffer = buffer_of(cluster, address);
  if (!buffer) return;
  buffer->watch->note_cluster(cluster.number);
  // A bulk store happens at a time of its own, which the thread's waits and not its clock tell.
  const uint32_t clock = access == Access::kBulk ? 0 : touch(thread, false);
  const Record mine{cluster.number, static_cast<uint32_t>(thread.warp->actor),
                    access == Access::kBulk ? Access::kPlain : access, 0, clock > 0xffff ? 0 : clock};
  for_words(*buffer, address, bytes, [&](std::atomic<uint64_t>& word, uint32_t mask) {
    const Record record = Record::of(word.load(std::memory_order_relaxed));
    if (record.cluster >= plan.first_unsettled && (record.mask & mask))
      check(thread, record, address, access, true, operation, site);
    Record next = mine;
    const bool same = record.cluster == mine.cluster && record.actor == mine.actor && record.clock == mine.clock &&
                      record.access == mine.access;
    next.mask = same ? record.mask | mask : mask;
    word.store(next.packed(), std::memory_order_relaxed);
  });
}

}  // namespace wt::sim
