// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/driver.cc - finds the driver library and its functions.
#include "runtime/cuda/driver.h"

#include <mutex>
#include <vector>

#include "runtime/gpu/driver.h"

namespace wt::cuda {
namespace {

// The oldest driver with tensor maps and cuLaunchKernelEx in their present form.
constexpr int kOldestVersion = 12000;

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

Status too_old(const Driver& driver, int version, const std::string& detail) {
  return failure(Code::kDevice,
                 "the CUDA driver {} supports CUDA {} and is too old{}; Wavetile needs one for CUDA {} or newer "
                 "(Linux driver 525 or newer): update the NVIDIA driver",
                 driver.path, version_text(version), detail, version_text(kOldestVersion));
}

Result<std::unique_ptr<Driver>> load_from(const std::vector<std::string>& names, bool named_by_user) {
  auto library = DynamicLibrary::open(names);
  if (!library.ok())
    return failure(Code::kDevice, "no CUDA driver: {}; {}", library.status().message(),
                   named_by_user ? "check WAVETILE_CUDA_DRIVER"
                                 : "install the NVIDIA driver, or use device hip:0 (an AMD GPU), cpu or sim:sm_90a");
  auto driver = std::make_unique<Driver>(std::move(library).value());
  const std::string missing = driver->find_calls();
  if (missing.empty()) return driver;
  int version = 0;
  if (driver->driver_get_version && driver->driver_get_version(&version) == kSuccess && version < kOldestVersion)
    return too_old(*driver, version, fmt::format(" (it has no {})", missing));
  return failure(Code::kDevice, "{} is not a usable CUDA driver: it has no {}", driver->path, missing);
}

}  // namespace

bool Driver::is_sticky(int code) {
  switch (code) {
    case kEccUncorrectable:
    case kIllegalAddress:
    case kLaunchTimeout:
    case kContextIsDestroyed:
    case kAssert:
    case kHardwareStackError:
    case kIllegalInstruction:
    case kMisalignedAddress:
    case kInvalidAddressSpace:
    case kInvalidPc:
    case kLaunchFailed:
      return true;
    default:
      return false;
  }
}

std::string Driver::describe(int code) const {
  const char* name = nullptr;
  const char* text = nullptr;
  get_error_name(code, &name);
  get_error_string(code, &text);
  if (!name) return fmt::format("CUDA error {}", code);
  return fmt::format("{} ({}): {}", name, code, text ? text : "no text");
}

Status Driver::initialize() {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  int found = 0;
  if (int code = driver_get_version(&found); code == kSuccess && found < kOldestVersion)
    return too_old(*this, found, "");
  const int code = init(0);
  version = found;
  switch (code) {
    case kSuccess:
      return {};
    case kNoDevice:
      return failure(Code::kDevice,
                     "no NVIDIA GPU: cuInit says {}; check nvidia-smi and CUDA_VISIBLE_DEVICES, or use device cpu or "
                     "sim:sm_90a",
                     describe(code));
    case kStubLibrary:
      return failure(Code::kDevice,
                     "{} is the toolkit's stub, not a driver: cuInit says {}; take the stubs folder out of "
                     "LD_LIBRARY_PATH",
                     path, describe(code));
    case kSystemDriverMismatch:
    case kCompatNotSupported:
      return failure(Code::kDevice,
                     "the CUDA driver library {} does not fit the kernel module: cuInit says {}; reboot after a driver "
                     "update, or remove the CUDA compatibility package",
                     path, describe(code));
    default:
      return failure(Code::kDevice, "cuInit of {} failed: {}", path, describe(code));
  }
}

Result<Driver*> load_driver() {
  return load_once<Driver>("WAVETILE_CUDA_DRIVER", [](const std::string& named) {
    return load_from({named.empty() ? "libcuda.so.1" : named}, !named.empty());
  });
}

}  // namespace wt::cuda
