// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "tests/scarce_memory.h"

namespace wt {
namespace {

TEST(Parallel, CallsEachIndexOnce) {
  for (const int threads : {0, 1, 2, 7}) {
    for (const int64_t count : {0, 1, 2, 5, 1000}) {
      std::vector<std::atomic<int>> calls(static_cast<size_t>(count));
      parallel_for(
          count, [&](int64_t i) { ++calls[static_cast<size_t>(i)]; }, threads);
      for (const std::atomic<int>& call : calls) ASSERT_EQ(call, 1);
    }
  }
}

TEST(Parallel, IsDoneWhenItReturns) {
  int64_t sum = 0;
  std::mutex mutex;
  parallel_for(
      1000,
      [&](int64_t i) {
        const std::lock_guard lock(mutex);
        sum += i;
      },
      4);
  EXPECT_EQ(sum, 499500);
}

TEST(Parallel, UsesAtMostTheThreadsAskedFor) {
  std::mutex mutex;
  std::set<std::thread::id> seen;
  parallel_for(
      500,
      [&](int64_t) {
        const std::lock_guard lock(mutex);
        seen.insert(std::this_thread::get_id());
      },
      3);
  EXPECT_LE(seen.size(), 3u);
  seen.clear();
  parallel_for(
      100, [&](int64_t) { seen.insert(std::this_thread::get_id()); }, 1);
  EXPECT_EQ(seen, std::set{std::this_thread::get_id()});
}

// Two bodies that wait for each other end only when they run at the same time.
TEST(Parallel, RunsBodiesAtTheSameTime) {
  std::atomic<int> arrived = 0;
  parallel_for(
      2,
      [&](int64_t) {
        ++arrived;
        while (arrived < 2) std::this_thread::yield();
      },
      2);
  EXPECT_EQ(arrived, 2);
}

TEST(Parallel, NestsAndKnowsItsThreads) {
  std::atomic<int> calls = 0;
  parallel_for(
      4,
      [&](int64_t) {
        parallel_for(
            5, [&](int64_t) { ++calls; }, 2);
      },
      2);
  EXPECT_EQ(calls, 20);
  EXPECT_GE(hardware_threads(), 1);
}

// A thread that cannot be started is done without; one that was started must be joined, or the process ends.
TEST(Parallel, MemoryThatRunsOutEndsInNoThreadOrAnException) {
  bool reached = true;
  int failed = 0;
  for (long nth = 1; reached; ++nth) {
    std::atomic<int> calls{0};
    const std::function<void(int64_t)> body = [&](int64_t) { ++calls; };
    const scarce::Memory memory(nth);
    try {
      parallel_for(100, body, 4);
      EXPECT_EQ(calls, 100);
    } catch (const std::bad_alloc&) {
      ++failed;
    }
    reached = memory.ran_out();
  }
  EXPECT_EQ(failed, 1) << "the list of threads is all that cannot be done without";
}

}  // namespace
}  // namespace wt
