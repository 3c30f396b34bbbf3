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

}  // namespace wt
