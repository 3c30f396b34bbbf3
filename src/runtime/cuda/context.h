// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/context.h - one retained primary context, and how a driver's refusal becomes a Status.
//
// Everything that lives on the context (device, modules, events, graphs) shares it, so it goes when the last of them
// does. A fault in a kernel is sticky: the driver then refuses every call, and the context remembers what happened.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/cuda/driver.h"
#include "runtime/device.h"

namespace wt::cuda {

class Context {
 public:
  static Result<std::shared_ptr<Context>> retain(int index);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Driver& driver() const { return driver_; }
  const DeviceInfo& info() const { return info_; }
  ContextHandle handle() const { return handle_; }

  // Ok, or the failure of `call` in the driver's words. A sticky code marks the context as lost.
  Status check(int code, const char* call) const {
    if (code == kSuccess) [[likely]]
      return {};
    return failed(code, call, "");
  }
  Status failed(int code, const char* call, const std::string& detail) const;

  // What a later fault is blamed on.
  void note_launch(const char* kernel, const char* replay) const {
    last_replay_.store(replay, std::memory_order_relaxed);
    last_kernel_.store(kernel, std::memory_order_relaxed);
  }

  // Ok, or the message of the fault that took the context.
  Status usable() const;

 private:
  Context(const Driver& driver, DeviceOrdinal ordinal, ContextHandle handle, DeviceInfo info)
      : driver_(driver), ordinal_(ordinal), handle_(handle), info_(std::move(info)) {}

  const Driver& driver_;
  DeviceOrdinal ordinal_;
  ContextHandle handle_;
  DeviceInfo info_;
  mutable std::atomic<const char*> last_kernel_{nullptr};
  mutable std::atomic<const char*> last_replay_{nullptr};
  mutable std::atomic<bool> lost_{false};
  mutable std::mutex mutex_;   // of fault_
  mutable std::string fault_;  // what took the context
};

// Makes the context current on this thread, and restores what was current before.
class Scope {
 public:
  explicit Scope(const Context& context);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  // Ok, or why calls on the context cannot be made.
  const Status& status() const { return status_; }

 private:
  const Context& context_;
  bool pushed_ = false;
  Status status_;
};

// A GPU by its number, with the target that its compute capability asks for.
Result<DeviceInfo> describe_device(const Driver& driver, int index);

}  // namespace wt::cuda
