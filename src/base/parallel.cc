// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

namespace wt {

int hardware_threads() {
  static const int count = [] {
    if (const char* text = std::getenv("WAVETILE_THREADS")) {
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
  const auto work = [&] {
    for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) body(i);
  };
  std::vector<std::thread> others;
  for (int64_t i = 1; i < workers; ++i) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
}

}  // namespace wt
