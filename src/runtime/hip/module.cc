// SPDX-License-Identifier: Apache-2.0
// runtime/hip/module.cc - loads code objects and launches their kernels.
#include "runtime/hip/module.h"

#include "compile/clang.h"
#include "config/targets.h"

namespace wt::hip {
namespace {

// Why HIP may have refused an image.
std::string misfit(const Context& context, const compile::Module& module) {
  const DeviceInfo& info = context.info();
  const std::string made_for = compile::architecture_of(module.target);
  if (is_generic(info_of(module.target)))
    return fmt::format(
        "it was made for {}, and the HIP {}.{} of this machine may be too old to know generic targets: update ROCm",
        made_for, info.driver_version / 1000, info.driver_version % 1000 / 10);
  return fmt::format("it was made for {}, and {} ({}) is a {}: compile it again", made_for, info.id, info.name,
                     info.architecture);
}

}  // namespace

Result<std::shared_ptr<LoadedModule>> CodeObjectModule::load(std::shared_ptr<const Context> context,
                                                             const compile::Module& module) {
  WT_TRY_ASSIGN(const ModuleHandle handle, gpu::load_image(*context, module, compile::Backend::kClang, "AMD",
                                                           [&] { return misfit(*context, module); }));
  return std::shared_ptr<LoadedModule>(
      new CodeObjectModule(std::move(context), handle, module.name, compile::code_object_arguments(module.image)));
}

Status CodeObjectModule::prepare(KernelFunction& kernel) {
  // WHY no attribute is set: HIP has no limit on dynamic LDS below the hardware's, and no way to set one.
  if (auto it = argument_bytes_.find(kernel.name); it != argument_bytes_.end()) kernel.param_bytes = it->second;
  return {};
}

Status launch_kernel(const Context& context, const KernelFunction& function, const LaunchShape& shape,
                     std::span<const std::byte> params, Stream stream) {
  WT_TRY(gpu::check_params(function, params.size()));
  if (shape.cluster[0] * shape.cluster[1] * shape.cluster[2] > 1) [[unlikely]]
    return unsupported("an AMD GPU has no clusters, so it cannot run {}",
                       gpu::describe(function, shape, params.size()));
  // `shape.programmatic` is a permission to start early, which HIP has no use for.
  size_t bytes = params.size();
  void* extra[] = {kParamBufferPointer, const_cast<std::byte*>(params.data()), kParamBufferSize, &bytes, kParamEnd};
  const auto& [x, y, z] = shape.grid;
  const int code = context.driver().launch_kernel(function.handle, x, y, z, shape.threads, 1, 1, shape.shared_bytes,
                                                  static_cast<StreamHandle>(stream), nullptr, extra);
  if (code != kSuccess) [[unlikely]]
    return context.failed(code, context.driver().launch_kernel, gpu::describe(function, shape, params.size()));
  context.note_launch(function.lasting_name, shape.replay);
  return {};
}

Result<int64_t> resident_blocks(const Context& context, const KernelFunction& function, const LaunchShape& shape) {
  int blocks = 0;
  if (int code = context.driver().occupancy_max_active_blocks(&blocks, function.handle, static_cast<int>(shape.threads),
                                                              shape.shared_bytes))
    return context.failed(code, context.driver().occupancy_max_active_blocks, gpu::describe(function, shape, 0));
  return int64_t{blocks} * context.info().multiprocessors;
}

}  // namespace wt::hip
