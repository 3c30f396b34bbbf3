// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/context.cc - retains contexts and words their faults.
#include "runtime/cuda/context.h"

namespace wt::cuda {
namespace {

Result<Target> target_of(int major, int minor, const std::string& name, int index) {
  if (major == 8) return Target::kSm80;  // machine code for 8.0 runs on every 8.x
  if (major == 9 && minor == 0) return Target::kSm90a;
  if (major == 10 && minor == 0) return Target::kSm100a;
  return unsupported(
      "gpu:{} ({}) has compute capability {}.{}, which no target of Wavetile covers (8.x: sm_80, 9.0: sm_90a, "
      "10.0: sm_100a); use another GPU or device cpu",
      index, name, major, minor);
}

Status call_failed(const Driver& driver, int code, const char* call) {
  return failure(Code::kDevice, "{} failed: {}", call, driver.describe(code));
}

}  // namespace

Result<DeviceInfo> describe_device(const Driver& driver, int index) {
  int count = 0;
  if (int code = driver.device_get_count(&count)) return call_failed(driver, code, "cuDeviceGetCount");
  if (index < 0 || index >= count)
    return bad_input("there is no gpu:{}: this machine shows {} GPU{}; see `wavetile devices` and CUDA_VISIBLE_DEVICES",
                     index, count, count == 1 ? "" : "s");
  DeviceOrdinal ordinal = 0;
  if (int code = driver.device_get(&ordinal, index)) return call_failed(driver, code, "cuDeviceGet");
  char name[256] = "";
  if (int code = driver.device_get_name(name, sizeof name, ordinal))
    return call_failed(driver, code, "cuDeviceGetName");
  int major = 0, minor = 0, multiprocessors = 0, l2 = 0, shared = 0;
  const std::pair<int*, int> wanted[] = {{&major, kComputeCapabilityMajor},
                                         {&minor, kComputeCapabilityMinor},
                                         {&multiprocessors, kMultiprocessorCount},
                                         {&l2, kL2CacheSize},
                                         {&shared, kMaxSharedMemoryPerBlockOptin}};
  for (const auto& [value, attribute] : wanted)
    if (int code = driver.device_get_attribute(value, attribute, ordinal))
      return call_failed(driver, code, "cuDeviceGetAttribute");
  size_t memory = 0;
  if (int code = driver.device_total_mem(&memory, ordinal)) return call_failed(driver, code, "cuDeviceTotalMem_v2");
  WT_TRY_ASSIGN(const Target target, target_of(major, minor, name, index));
  return DeviceInfo{.kind = DeviceKind::kCuda,
                    .id = fmt::format("gpu:{}", index),
                    .name = name,
                    .target = target,
                    .multiprocessors = multiprocessors,
                    .shared_bytes_per_block = shared,
                    .l2_bytes = l2,
                    .memory_bytes = static_cast<int64_t>(memory),
                    .driver_version = driver.version};
}

Result<std::shared_ptr<Context>> Context::retain(int index) {
  WT_TRY_ASSIGN(Driver* const driver, load_driver());
  WT_TRY(driver->initialize());
  WT_TRY_ASSIGN(DeviceInfo info, describe_device(*driver, index));
  DeviceOrdinal ordinal = 0;
  if (int code = driver->device_get(&ordinal, index)) return call_failed(*driver, code, "cuDeviceGet");
  ContextHandle handle = nullptr;
  if (int code = driver->primary_ctx_retain(&handle, ordinal))
    return call_failed(*driver, code, "cuDevicePrimaryCtxRetain").with_context(info.id);
  std::shared_ptr<Context> context(new Context(*driver, ordinal, handle, std::move(info)));
  // Another library of this process may hold a context that a fault has already taken.
  Scope scope(*context);
  WT_TRY(scope.status());
  size_t free = 0, total = 0;
  WT_TRY(context->check(driver->mem_get_info(&free, &total), "cuMemGetInfo_v2"));
  return context;
}

Context::~Context() { driver_.primary_ctx_release(ordinal_); }

Status Context::failed(int code, const char* call, const std::string& detail) const {
  std::string text = fmt::format("{}: {} failed: {}", info_.id, call, driver_.describe(code));
  if (!detail.empty()) text += "; " + detail;
  if (!is_sticky(code)) return Status(Code::kDevice, std::move(text));

  std::lock_guard lock(mutex_);
  if (!lost_.load(std::memory_order_relaxed)) {
    const char* kernel = last_kernel_.load(std::memory_order_relaxed);
    const char* replay = last_replay_.load(std::memory_order_relaxed);
    text += kernel ? fmt::format("; a kernel faulted, the last one launched was {}", kernel)
                   : std::string("; no kernel of Wavetile was launched on this context before");
    if (replay) text += fmt::format("; replay with: {}", replay);
    text +=
        "; the CUDA context of this process is lost: drop every plan, module and device on it and open the device "
        "again, or restart the process where another library holds the context too";
    fault_ = std::move(text);
    lost_.store(true, std::memory_order_release);
  }
  return Status(Code::kDevice, fault_);
}

Status Context::usable() const {
  if (!lost_.load(std::memory_order_acquire)) [[likely]]
    return {};
  std::lock_guard lock(mutex_);
  return Status(Code::kDevice, fault_);
}

Scope::Scope(const Context& context) : context_(context), status_(context.usable()) {
  if (!status_.ok()) return;
  ContextHandle current = nullptr;
  if (context.driver().ctx_get_current(&current) == kSuccess && current == context.handle()) return;
  const int code = context.driver().ctx_push_current(context.handle());
  pushed_ = code == kSuccess;
  if (!pushed_) status_ = context.check(code, "cuCtxPushCurrent_v2");
}

Scope::~Scope() {
  ContextHandle popped = nullptr;
  if (pushed_) context_.driver().ctx_pop_current(&popped);
}

}  // namespace wt::cuda
