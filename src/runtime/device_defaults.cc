// SPDX-License-Identifier: Apache-2.0
// runtime/device_defaults.cc - what a device does unless its own folder says otherwise.
#include <mutex>
#include <set>

#include "runtime/device.h"

namespace wt {

const char* replay_text(const std::string& command) {
  static std::mutex mutex;
  static auto* texts = new std::set<std::string>;  // WHY: never freed; a fault may be reported during exit
  std::lock_guard lock(mutex);
  return texts->insert(command).first->c_str();
}

Result<int64_t> Device::resident_blocks(const Function&, const LaunchShape&) {
  return static_cast<int64_t>(info().multiprocessors);
}

Result<std::unique_ptr<Graph>> Device::capture(Stream, const std::function<Status()>&) {
  return unsupported("device {} has no graphs; only a GPU captures launches", info().id);
}

Result<bool> Device::is_capturing(Stream) { return false; }
std::shared_ptr<void> Device::shield_captures() { return nullptr; }

}  // namespace wt
