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

Status Device::copy_in_async(void* device, const void* host, size_t bytes, Stream) {
  return copy_in(device, host, bytes);
}

Status Device::copy_out_async(void* host, const void* device, size_t bytes, Stream) {
  return copy_out(host, device, bytes);
}

Status Device::wait_for(Stream, Event&) { return {}; }

void Device::set_allocator(const Allocator& allocator) {
  const std::lock_guard lock(allocator_mutex_);
  allocator_ = allocator;
}

Result<void*> Device::allocate(size_t bytes) {
  Allocator allocator;
  {
    const std::lock_guard lock(allocator_mutex_);
    allocator = allocator_;
  }
  if (!allocator.allocate) return allocate_own(bytes);
  void* memory = allocator.allocate(allocator.user, bytes);
  if (!memory)
    return failure(Code::kDevice, "{}: the caller's allocator gave no memory for {} bytes", info().id, bytes);
  if (reinterpret_cast<uintptr_t>(memory) % 256 != 0) {
    allocator.free(allocator.user, memory);
    return bad_input("the caller's allocator gave memory at {}, which is not 256-byte aligned", memory);
  }
  const std::lock_guard lock(allocator_mutex_);
  borrowed_[memory] = allocator;
  return memory;
}

Status Device::free(void* memory) {
  Allocator allocator;
  {
    const std::lock_guard lock(allocator_mutex_);
    if (const auto found = borrowed_.find(memory); found != borrowed_.end()) {
      allocator = found->second;
      borrowed_.erase(found);
    }
  }
  if (!allocator.free) return free_own(memory);
  allocator.free(allocator.user, memory);
  return {};
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
