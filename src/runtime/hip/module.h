// SPDX-License-Identifier: Apache-2.0
// runtime/hip/module.h - a code object on an AMD GPU, its functions, and their launches.
#pragma once

#include <memory>
#include <span>

#include "runtime/gpu/module.h"
#include "runtime/hip/context.h"

namespace wt::hip {

using KernelFunction = gpu::KernelFunction<Context>;

class CodeObjectModule final : public gpu::DriverModule<Context> {
 public:
  static Result<std::shared_ptr<LoadedModule>> load(std::shared_ptr<const Context> context,
                                                    const compile::Module& module);

 private:
  CodeObjectModule(std::shared_ptr<const Context> context, ModuleHandle handle, std::string name,
                   std::map<std::string, int64_t> argument_bytes)
      : DriverModule(std::move(context), handle, std::move(name)), argument_bytes_(std::move(argument_bytes)) {}
  Status prepare(KernelFunction& kernel) override;

  std::map<std::string, int64_t> argument_bytes_;  // by kernel
};

Status launch_kernel(const Context& context, const KernelFunction& function, const LaunchShape& shape,
                     std::span<const std::byte> params, Stream stream);
Result<int64_t> resident_blocks(const Context& context, const KernelFunction& function, const LaunchShape& shape);

}  // namespace wt::hip
