// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/workers.h"

#include <algorithm>
#include <atomic>

#include "base/parallel.h"
#include "runtime/cpu/onednn.h"
#include "runtime/cpu/sound_thread.h"

namespace wt::cpu {

void for_each_item(int64_t count, int threads, const std::function<void(int64_t, int)>& body) {
  const int slots = static_cast<int>(std::clamp<int64_t>(count, 1, threads));
  if (slots == 1) {
    for (int64_t i = 0; i < count; ++i) body(i, 0);
    return;
  }
  std::atomic<int64_t> next{0};
  const std::function<void(int64_t)> work = [&](int64_t slot) {
    for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) body(i, static_cast<int>(slot));
  };
  const WavetileOnednnProvider* provider = has_thread_pool() ? nullptr : onednn_plugin().provider;
  if (provider) {
    on_sound_thread([&] {
      provider->parallel(
          slots,
          [](void* context, int32_t slot) { (*static_cast<const std::function<void(int64_t)>*>(context))(slot); },
          const_cast<std::function<void(int64_t)>*>(&work));
    });
    return;
  }
  parallel_for(slots, work, slots);
}

}  // namespace wt::cpu
