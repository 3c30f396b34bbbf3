// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/module.h - a cubin on a context, its functions, and their launches.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "runtime/cuda/context.h"

namespace wt::cuda {

// What `const Function*` points at on this device.
struct KernelFunction {
  FunctionHandle handle = nullptr;
  std::string name;
  const char* lasting_name = nullptr;  // the same, outliving the module, for faults that come to light late
  int64_t param_bytes = -1;            // of the one by-value argument; -1: this driver cannot say
  int64_t static_shared_bytes = 0;
};

inline const KernelFunction& unwrap(const Function& function) {
  return reinterpret_cast<const KernelFunction&>(function);
}

class CubinModule final : public LoadedModule {
 public:
  static Result<std::shared_ptr<LoadedModule>> load(std::shared_ptr<const Context> context,
                                                    const compile::Module& module);
  ~CubinModule() override;

  // Sets everything up that a launch needs, so that a launch sets nothing.
  Result<const Function*> find(const std::string& name) override;

 private:
  CubinModule(std::shared_ptr<const Context> context, ModuleHandle handle, std::string name)
      : context_(std::move(context)), handle_(handle), name_(std::move(name)) {}

  std::shared_ptr<const Context> context_;
  ModuleHandle handle_;
  std::string name_;
  std::mutex mutex_;  // of functions_
  std::map<std::string, KernelFunction> functions_;
};

Status launch_kernel(const Context& context, const KernelFunction& function, const LaunchShape& shape,
                     std::span<const std::byte> params, Stream stream);
Result<int64_t> resident_blocks(const Context& context, const KernelFunction& function, const LaunchShape& shape);

}  // namespace wt::cuda
