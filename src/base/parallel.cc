// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/environment.h"

namespace wt {

namespace {

std::mutex g_pool_mutex;  // of g_pool
ThreadPool g_pool;

ThreadPool current_pool() {
  const std::lock_guard lock(g_pool_mutex);
  return g_pool;
}

}  // namespace

void set_thread_pool(const ThreadPool& pool) {
  const std::lock_guard lock(g_pool_mutex);
  g_pool = pool;
}

bool has_thread_pool() { return current_pool().run != nullptr; }

int hardware_threads() {
  static const int count = [] {
    if (const char* text = environment_or_null("WAVETILE_THREADS")) {
      if (const int asked = std::atoi(text); asked > 0) return std::min(asked, 1024);
    }
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  }();
  return count;
}

void parallel_for(int64_t count, const std::function<void(int64_t)>& body, int threads) {
  const int64_t workers = std::min<int64_t>(count, threads > 0 ? threads : hardware_threads());
  if (workers <= 1) {
    for (int64_t i = 0; i < count; ++i) body(i);
    return;
  }
  std::atomic<int64_t> next{0};
  std::mutex mutex;
  std::exception_ptr thrown;
  // WHY caught: an exception that leaves a thread ends the process, and memory may run out in any of them.
  const auto work = [&] {
    try {
      for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) body(i);
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!thrown) thrown = std::current_exception();
    }
  };
  if (const ThreadPool pool = current_pool(); pool.run) {
    pool.run(
        pool.user, workers, [](void* context, int64_t) { (*static_cast<const decltype(work)*>(context))(); },
        const_cast<void*>(static_cast<const void*>(&work)));
    if (thrown) std::rethrow_exception(thrown);
    return;
  }
  std::vector<std::thread> others;
  others.reserve(static_cast<size_t>(workers));
  try {
    for (int64_t i = 1; i < workers; ++i) others.emplace_back(work);
  } catch (const std::exception&) {
    // No more threads, or no memory for one: those that there are do all of it. WHY nothing may leave here: a thread
    // that is not joined ends the process.
  }
  work();
  for (std::thread& other : others) other.join();
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace wt
