// SPDX-License-Identifier: Apache-2.0
// api/hooks.cc - what the library borrows from its caller: where the log goes, device memory, threads.
#include "api/guard.h"
#include "api/handles.h"
#include "base/log.h"
#include "base/parallel.h"

using namespace wt;
using namespace wt::api;

namespace {

constexpr size_t kAllocatorFirstSize = sizeof(wavetile_allocator);
constexpr size_t kPoolFirstSize = sizeof(wavetile_thread_pool);

static_assert(static_cast<int>(log::Level::kTrace) == WAVETILE_LOG_TRACE);
static_assert(static_cast<int>(log::Level::kOff) == WAVETILE_LOG_OFF);

// The C function under the C++ signature.
struct LogReceiver {
  wavetile_log_receiver receive = nullptr;
  void* user = nullptr;
};
LogReceiver g_log;

}  // namespace

extern "C" {

wavetile_status wavetile_set_log(wavetile_log_receiver receive, void* user, wavetile_log_level level) {
  return guard([&]() -> Status {
    if (level < WAVETILE_LOG_TRACE || level > WAVETILE_LOG_OFF)
      return bad_input("level={} is no choice; use 0 (trace) to 5 (off)", static_cast<int>(level));
    log::set_receiver(nullptr, nullptr, log::Level::kOff);  // nobody reads g_log while it changes
    g_log = {receive, user};
    if (!receive) return {};
    log::set_receiver(
        [](void* log, log::Level at, const char* line) {
          const auto& to = *static_cast<const LogReceiver*>(log);
          to.receive(to.user, static_cast<wavetile_log_level>(at), line);
        },
        &g_log, static_cast<log::Level>(level));
    return {};
  });
}

wavetile_status wavetile_device_set_allocator(wavetile_device* device, const wavetile_allocator* allocator) {
  WT_API_REQUIRE(device);
  return guard([&]() -> Status {
    wavetile_allocator given{};
    if (allocator) {
      WT_TRY(read_struct(*allocator, "wavetile_allocator", kAllocatorFirstSize, given));
      if (!given.allocate || !given.free) return bad_input("an allocator needs both functions, allocate and free");
      if (device->device->info().kind == DeviceKind::kSim)
        return unsupported("{} watches its memory and takes no allocator", device->device->info().id);
    }
    device->device->set_allocator({given.user, given.allocate, given.free});
    return {};
  });
}

wavetile_status wavetile_set_thread_pool(const wavetile_thread_pool* pool) {
  return guard([&]() -> Status {
    wavetile_thread_pool given{};
    if (pool) {
      WT_TRY(read_struct(*pool, "wavetile_thread_pool", kPoolFirstSize, given));
      if (!given.run) return bad_input("a thread pool needs its function run");
    }
    set_thread_pool({given.user, given.run});
    return {};
  });
}

}  // extern "C"
