// SPDX-License-Identifier: Apache-2.0
// runtime/hip/context.h - one AMD GPU (gpu/context.h), and how a thread makes it current.
#pragma once

#include <memory>

#include "runtime/gpu/context.h"
#include "runtime/hip/driver.h"

namespace wt::hip {

class Scope;

class Context final : public gpu::Context<Driver> {
 public:
  using Scope = hip::Scope;
  static Result<std::shared_ptr<Context>> open(int index);

  DeviceOrdinal ordinal() const { return ordinal_; }

 private:
  Context(const Driver& driver, DeviceOrdinal ordinal, DeviceInfo info)
      : gpu::Context<Driver>(driver, std::move(info)), ordinal_(ordinal) {}

  DeviceOrdinal ordinal_;
};

// Makes the GPU current on this thread, and restores the one that was current before.
class Scope {
 public:
  explicit Scope(const Context& context);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  // Ok, or why calls on the GPU cannot be made.
  const Status& status() const { return status_; }

 private:
  const Context& context_;
  int before_ = -1;  // -1: nothing to restore
  Status status_;
};

// A GPU by its number, with the target that its architecture asks for.
Result<DeviceInfo> describe_device(const Driver& driver, int index);

}  // namespace wt::hip
