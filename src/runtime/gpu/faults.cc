// SPDX-License-Identifier: Apache-2.0
#include "runtime/gpu/faults.h"

namespace wt::gpu {

Status Faults::lose(std::string text, const char* remedy) {
  std::lock_guard lock(mutex_);
  if (!lost_.load(std::memory_order_relaxed)) {
    const char* kernel = last_kernel_.load(std::memory_order_relaxed);
    const char* replay = last_replay_.load(std::memory_order_relaxed);
    text += kernel ? fmt::format("; a kernel faulted, the last one launched was {}", kernel)
                   : std::string("; no kernel of Wavetile was launched on this GPU before");
    if (replay) text += fmt::format("; replay with: {}", replay);
    fault_ = std::move(text) + "; " + remedy;
    lost_.store(true, std::memory_order_release);
  }
  return Status(Code::kDevice, fault_);
}

Status Faults::usable() const {
  if (!lost_.load(std::memory_order_acquire)) [[likely]]
    return {};
  std::lock_guard lock(mutex_);
  return Status(Code::kDevice, fault_);
}

}  // namespace wt::gpu
