// SPDX-License-Identifier: Apache-2.0
// wavetile/registry.hpp - kernels of one's own, with priorities, for the plans of a device.
#pragma once

#include <wavetile/device.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace wavetile {

enum class Priority {
  kLow = WAVETILE_PRIORITY_LOW,
  kNormal = WAVETILE_PRIORITY_NORMAL,
  kHigh = WAVETILE_PRIORITY_HIGH,
};

// Copies share the registry. Any thread may change it while others make plans: a plan sees it as it was when the plan
// was made.
class Registry {
 public:
  static Result<Registry> create(const Device& device) {
    wavetile_registry* handle = nullptr;
    if (Status status = Status::of(wavetile_registry_create(device.get(), &handle)); !status) return status;
    return Registry(handle);
  }

  // JSON of configs, a .json file, a folder, a pack or an exported tree's library; gives how many kernels it held.
  Result<size_t> add(const std::string& from, Priority priority = Priority::kNormal) const {
    size_t added = 0;
    const auto c_priority = static_cast<wavetile_priority>(priority);
    if (Status status = Status::of(wavetile_registry_add(get(), from.c_str(), c_priority, &added)); !status) {
      return status;
    }
    return added;
  }
  Status set_priority(const std::string& kernel, Priority priority) const {
    return Status::of(wavetile_registry_set_priority(get(), kernel.c_str(), static_cast<wavetile_priority>(priority)));
  }
  Status remove(const std::string& kernel) const { return Status::of(wavetile_registry_remove(get(), kernel.c_str())); }
  size_t size() const { return wavetile_registry_size(get()); }
  Result<std::string> list(wavetile_format format = WAVETILE_FORMAT_TEXT) const {
    char* report = nullptr;
    if (Status status = Status::of(wavetile_registry_list(get(), format, &report)); !status) return status;
    return detail::take(report);
  }

  wavetile_registry* get() const { return handle_.get(); }

 private:
  explicit Registry(wavetile_registry* handle) : handle_(handle, wavetile_registry_destroy) {}
  std::shared_ptr<wavetile_registry> handle_;
};

}  // namespace wavetile
