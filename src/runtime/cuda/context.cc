// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/context.cc - retains contexts and says what a GPU is.
#include "runtime/cuda/context.h"

namespace wt::cuda {
namespace {

Result<Target> target_of(int major, int minor, const std::string& name, int index) {
  if (major == 8) return Target::kSm80;  // machine code for 8.0 runs on every 8.x
  if (major == 9 && minor == 0) return Target::kSm90a;
  if (major == 10 && minor == 0) return Target::kSm100a;
  if (major == 10 && minor == 3) return Target::kSm103a;
  if (major == 11 && minor == 0) return Target::kSm110a;
  if (major == 12 && minor == 0) return Target::kSm120a;
  if (major == 12 && minor == 1) return Target::kSm121a;
  return unsupported(
      "gpu:{} ({}) has compute capability {}.{}, which no target of Wavetile covers (8.x: sm_80, 9.0: sm_90a, "
      "10.0: sm_100a, 10.3: sm_103a, 11.0: sm_110a, 12.0: sm_120a, 12.1: sm_121a); use another GPU or device cpu",
      index, name, major, minor);
}

}  // namespace

Result<DeviceInfo> describe_device(const Driver& driver, int index) {
  int count = 0;
  if (int code = driver.device_get_count(&count)) return call_failed(driver, code, driver.device_get_count);
  if (index < 0 || index >= count)
    return bad_input("there is no gpu:{}: this machine shows {} GPU{}; see `wavetile devices` and CUDA_VISIBLE_DEVICES",
                     index, count, count == 1 ? "" : "s");
  DeviceOrdinal ordinal = 0;
  if (int code = driver.device_get(&ordinal, index)) return call_failed(driver, code, driver.device_get);
  char name[256] = "";
  if (int code = driver.device_get_name(name, sizeof name, ordinal))
    return call_failed(driver, code, driver.device_get_name);
  int major = 0, minor = 0, multiprocessors = 0, l2 = 0, shared = 0;
  const std::pair<int*, int> wanted[] = {{&major, kComputeCapabilityMajor},
                                         {&minor, kComputeCapabilityMinor},
                                         {&multiprocessors, kMultiprocessorCount},
                                         {&l2, kL2CacheSize},
                                         {&shared, kMaxSharedMemoryPerBlockOptin}};
  for (const auto& [value, attribute] : wanted)
    if (int code = driver.device_get_attribute(value, attribute, ordinal))
      return call_failed(driver, code, driver.device_get_attribute);
  // Not every driver tells these: 0 where it does not.
  int clock = 0, memory_clock = 0, bus = 0;
  const std::pair<int*, int> more[] = {
      {&clock, kClockRate}, {&memory_clock, kMemoryClockRate}, {&bus, kMemoryBusWidth}};
  for (const auto& [value, attribute] : more)
    if (driver.device_get_attribute(value, attribute, ordinal)) *value = 0;
  size_t memory = 0;
  if (int code = driver.device_total_mem(&memory, ordinal)) return call_failed(driver, code, driver.device_total_mem);
  WT_TRY_ASSIGN(const Target target, target_of(major, minor, name, index));
  return DeviceInfo{.kind = DeviceKind::kCuda,
                    .id = fmt::format("gpu:{}", index),
                    .name = name,
                    .target = target,
                    .multiprocessors = multiprocessors,
                    .shared_bytes_per_block = shared,
                    .l2_bytes = l2,
                    .memory_bytes = static_cast<int64_t>(memory),
                    .clock_mhz = clock / 1e3,
                    .memory_peak = 2e-3 * memory_clock * (bus / 8.0),  // two transfers per cycle
                    .driver_version = driver.version};
}

Result<std::shared_ptr<Context>> Context::retain(int index) {
  WT_TRY_ASSIGN(Driver* const driver, load_driver());
  WT_TRY(driver->initialize());
  WT_TRY_ASSIGN(DeviceInfo info, describe_device(*driver, index));
  DeviceOrdinal ordinal = 0;
  if (int code = driver->device_get(&ordinal, index)) return call_failed(*driver, code, driver->device_get);
  ContextHandle handle = nullptr;
  if (int code = driver->primary_ctx_retain(&handle, ordinal))
    return call_failed(*driver, code, driver->primary_ctx_retain).with_context(info.id);
  std::shared_ptr<Context> context(new Context(*driver, ordinal, handle, std::move(info)));
  // Another library of this process may hold a context that a fault has already taken.
  Scope scope(*context);
  WT_TRY(scope.status());
  size_t free = 0, total = 0;
  WT_TRY(context->call(driver->mem_get_info, &free, &total));
  return context;
}

Context::~Context() { driver().primary_ctx_release(ordinal_); }

Scope::Scope(const Context& context) : context_(context), status_(context.usable()) {
  if (!status_.ok()) return;
  ContextHandle current = nullptr;
  if (context.driver().ctx_get_current(&current) == kSuccess && current == context.handle()) return;
  const int code = context.driver().ctx_push_current(context.handle());
  pushed_ = code == kSuccess;
  if (!pushed_) status_ = context.check(code, context.driver().ctx_push_current);
}

Scope::~Scope() {
  ContextHandle popped = nullptr;
  if (pushed_) context_.driver().ctx_pop_current(&popped);
}

}  // namespace wt::cuda
