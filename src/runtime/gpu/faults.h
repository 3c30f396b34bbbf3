// SPDX-License-Identifier: Apache-2.0
// runtime/gpu/faults.h - what a GPU's owner remembers of a kernel that faulted.
//
// A fault in a kernel is sticky: the driver then refuses every call. It comes to light long after the launch, so the
// last launch is noted, and the first message is kept and given to everybody who asks later.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "base/status.h"

namespace wt::gpu {

class Faults {
 public:
  // What a later fault is blamed on. Both texts must live as long as the process (replay_text of launch/launch.h).
  void note_launch(const char* kernel, const char* replay) {
    last_replay_.store(replay, std::memory_order_relaxed);
    last_kernel_.store(kernel, std::memory_order_relaxed);
  }

  // Remembers a fault that `text` describes, with what was launched last and `remedy`; a later one changes nothing.
  Status lose(std::string text, const char* remedy);

  // Ok, or the message of the fault that was remembered.
  Status usable() const;

 private:
  std::atomic<const char*> last_kernel_{nullptr};
  std::atomic<const char*> last_replay_{nullptr};
  std::atomic<bool> lost_{false};
  mutable std::mutex mutex_;  // of fault_
  std::string fault_;
};

}  // namespace wt::gpu
