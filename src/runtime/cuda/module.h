// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/module.h - a cubin on a context, its functions, and their launches.
#pragma once

#include <memory>
#include <span>

#include "runtime/cuda/context.h"
#include "runtime/gpu/module.h"

namespace wt::cuda {

using KernelFunction = gpu::KernelFunction<Context>;

class CubinModule final : public gpu::DriverModule<Context> {
 public:
  static Result<std::shared_ptr<LoadedModule>> load(std::shared_ptr<const Context> context,
                                                    const compile::Module& module);

 private:
  using DriverModule::DriverModule;
  Status prepare(KernelFunction& kernel) override;
};

Status launch_kernel(const Context& context, const KernelFunction& function, const LaunchShape& shape,
                     std::span<const std::byte> params, Stream stream);
Result<int64_t> resident_blocks(const Context& context, const KernelFunction& function, const LaunchShape& shape);

}  // namespace wt::cuda
