// SPDX-License-Identifier: Apache-2.0
// base/parallel.h - a loop spread over the machine's cores.
#pragma once

#include <cstdint>
#include <functional>

namespace wt {

// Cores this process may use: WAVETILE_THREADS where set, else its CPU affinity.
int hardware_threads();

// Calls body(i) once for each i in [0, count), on up to `threads` threads (0: hardware_threads()), and returns when
// all calls have. Indices are handed out one at a time, so that uneven work balances. body must not throw.
void parallel_for(int64_t count, const std::function<void(int64_t)>& body, int threads = 0);

// The caller's threads in place of our own: run(user, count, body, context) calls body(context, i) once for each i in
// [0, count), on any threads, and returns when all calls have. Null: our own again.
struct ThreadPool {
  void* user = nullptr;
  void (*run)(void* user, int64_t count, void (*body)(void* context, int64_t index), void* context) = nullptr;
};
void set_thread_pool(const ThreadPool& pool);
bool has_thread_pool();

}  // namespace wt
