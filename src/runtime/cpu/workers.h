// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/workers.h - work items spread over threads that each keep a slot (for its own scratch memory).
#pragma once

#include <cstdint>
#include <functional>

namespace wt::cpu {

// Calls body(i, slot) once for each i in [0, count); calls with the same slot, below `threads`, never overlap.
// Runs on oneDNN's own threads where its provider is loaded.
// WHY: OpenMP's threads spin for a while after each region, and threads of our own would compete with them.
void for_each_item(int64_t count, int threads, const std::function<void(int64_t, int)>& body);

}  // namespace wt::cpu
