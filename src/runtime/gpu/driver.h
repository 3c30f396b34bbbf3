// SPDX-License-Identifier: Apache-2.0
// runtime/gpu/driver.h - one driver library of a process, and the GPUs it shows.
#pragma once

#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/environment.h"
#include "runtime/gpu/context.h"

namespace wt::gpu {

// The driver of this process: the library that the environment's `variable` names, or the system's (an empty name).
// `load` makes it; loaded once a name and never unloaded.
template <class Driver, class Load>
Result<Driver*> load_once(const char* variable, const Load& load) {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<Driver>> loaded;
  const char* named = environment_or_null(variable);
  const std::string key = named ? named : "";
  std::lock_guard lock(mutex);
  if (auto it = loaded.find(key); it != loaded.end()) return it->second.get();
  WT_TRY_ASSIGN(std::unique_ptr<Driver> driver, load(key));
  return (loaded[key] = std::move(driver)).get();
}

// The GPUs that `describe(driver, index)` accepts. `refused` gets a line for each that it does not, or the one reason
// why there is none.
template <class Driver, class Describe>
std::vector<DeviceInfo> list_gpus(const Result<Driver*>& loaded, const Describe& describe,
                                  std::vector<std::string>* refused) {
  std::vector<DeviceInfo> found;
  const auto refuse = [&](const Status& status) {
    if (refused) refused->push_back(status.message());
  };
  if (!loaded.ok()) return refuse(loaded.status()), found;
  Driver& driver = **loaded;
  if (Status status = driver.initialize(); !status.ok()) return refuse(status), found;
  int count = 0;
  if (int code = driver.device_get_count(&count))
    return refuse(call_failed(driver, code, driver.device_get_count)), found;
  for (int index = 0; index < count; ++index) {
    Result<DeviceInfo> info = describe(driver, index);
    if (info.ok())
      found.push_back(std::move(info).value());
    else
      refuse(info.status());
  }
  return found;
}

}  // namespace wt::gpu
