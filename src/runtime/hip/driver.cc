// SPDX-License-Identifier: Apache-2.0
// runtime/hip/driver.cc - finds the HIP library and its functions.
#include "runtime/hip/driver.h"

#include <cstring>
#include <mutex>
#include <vector>

#include "runtime/gpu/driver.h"

namespace wt::hip {
namespace {

// The oldest with hipThreadExchangeStreamCaptureMode.
constexpr int kOldestVersion = 5000;

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

// HIP writes 6.4.43484 as 60443484.
int short_version(int version) { return version / 10000000 * 1000 + version / 100000 % 100 * 10; }

Status too_old(const Driver& driver, int version, const std::string& detail) {
  return failure(Code::kDevice,
                 "{} is HIP {} and too old{}; Wavetile needs HIP {} or newer: update ROCm, or use device cpu or "
                 "sim:gfx942",
                 driver.path, version_text(version), detail, version_text(kOldestVersion));
}

Result<std::unique_ptr<Driver>> load_from(const std::vector<std::string>& names, bool named_by_user) {
  // WHY loaded ones first: streams and pointers of PyTorch belong to the library it has loaded, and to no other.
  auto library = DynamicLibrary::open_loaded_first(names);
  if (!library.ok())
    return failure(Code::kDevice, "no HIP: {}; {}", library.status().message(),
                   named_by_user ? "check WAVETILE_HIP_DRIVER" : "install ROCm, or use device cpu or sim:gfx942");
  auto driver = std::make_unique<Driver>(std::move(library).value());
  std::string missing = driver->find_calls();
  if (!driver->properties_r0600 && !driver->properties_r0000)
    missing += (missing.empty() ? "" : ", ") + std::string(driver->properties_r0600.symbol());
  if (missing.empty()) return driver;
  int version = 0;
  if (driver->driver_get_version && driver->driver_get_version(&version) == kSuccess &&
      short_version(version) < kOldestVersion)
    return too_old(*driver, short_version(version), fmt::format(" (it has no {})", missing));
  return failure(Code::kDevice, "{} is not a usable HIP: it has no {}", driver->path, missing);
}

}  // namespace

bool Driver::is_sticky(int code) {
  switch (code) {
    case kEccUncorrectable:
    case kIllegalAddress:
    case kLaunchTimeout:
    case kAssert:
    case kLaunchFailed:
      return true;
    default:
      return false;  // WHY kContextIsDestroyed too: HIP says it of a stream that does not exist
  }
}

std::string Driver::describe(int code) const {
  const char* name = get_error_name(code);
  const char* text = get_error_string(code);
  if (!name) return fmt::format("HIP error {}", code);
  if (!text || std::strcmp(name, text) == 0) return fmt::format("{} ({})", name, code);  // HIP 5 repeats the name
  return fmt::format("{} ({}): {}", name, code, text);
}

Status Driver::initialize() {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  int found = 0;
  if (int code = driver_get_version(&found); code == kSuccess && short_version(found) < kOldestVersion)
    return too_old(*this, short_version(found), "");
  const int code = init(0);
  version = short_version(found);
  if (code == kSuccess) return {};
  if (code == kNoDevice || code == kInvalidDevice)  // HIP 5 says the second of a machine without a GPU
    return failure(Code::kDevice,
                   "no AMD GPU: hipInit of {} says {}; check rocminfo, that this user may open /dev/kfd (group render) "
                   "and HIP_VISIBLE_DEVICES, or use device cpu or sim:gfx942",
                   path, describe(code));
  return failure(Code::kDevice, "hipInit of {} failed: {}", path, describe(code));
}

Result<std::string> Driver::architecture(int device) const {
  const bool newer = static_cast<bool>(properties_r0600);
  const auto& ask = newer ? properties_r0600 : properties_r0000;
  alignas(16) char properties[kPropertiesRoom] = {};
  if (int code = ask(properties, device)) return call_failed(*this, code, ask);
  const char* text = properties + (newer ? kPropertiesR0600 : kPropertiesR0000).architecture;
  std::string name(text, strnlen(text, kArchitectureRoom));
  if (!name.starts_with("gfx"))
    return failure(Code::kDevice,
                   "{} of {} (HIP {}) fills a struct of another layout than Wavetile knows: it tells no architecture; "
                   "use the HIP of ROCm 5, 6 or 7",
                   ask.symbol(), path, version_text(version));
  return name;
}

Result<Driver*> load_driver() {
  return load_once<Driver>("WAVETILE_HIP_DRIVER", [](const std::string& named) {
    if (!named.empty()) return load_from({named}, true);
    return load_from({"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "/opt/rocm/lib/libamdhip64.so"},
                     false);
  });
}

}  // namespace wt::hip
