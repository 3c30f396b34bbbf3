// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/context.h - one retained primary context (gpu/context.h), and how a thread makes it current.
#pragma once

#include <memory>

#include "runtime/cuda/driver.h"
#include "runtime/gpu/context.h"

namespace wt::cuda {

class Scope;

class Context final : public gpu::Context<Driver> {
 public:
  using Scope = cuda::Scope;
  static Result<std::shared_ptr<Context>> retain(int index);
  ~Context();

  ContextHandle handle() const { return handle_; }

 private:
  Context(const Driver& driver, DeviceOrdinal ordinal, ContextHandle handle, DeviceInfo info)
      : gpu::Context<Driver>(driver, std::move(info)), ordinal_(ordinal), handle_(handle) {}

  DeviceOrdinal ordinal_;
  ContextHandle handle_;
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
