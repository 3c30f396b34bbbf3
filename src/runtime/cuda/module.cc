// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/module.cc - loads cubins and launches their kernels.
#include "runtime/cuda/module.h"

#include "compile/compiler.h"
#include "compile/nvrtc.h"

namespace wt::cuda {
namespace {

// A launch's configuration with its attributes beside it, on the caller's stack.
struct PreparedLaunch {
  LaunchAttribute attributes[2] = {};
  LaunchConfig config = {};

  PreparedLaunch(const LaunchShape& shape, Stream stream) {
    unsigned count = 0;
    if (shape.cluster[0] * shape.cluster[1] * shape.cluster[2] > 1) {
      attributes[count].id = kClusterDimension;
      attributes[count].value.cluster = {shape.cluster[0], shape.cluster[1], shape.cluster[2]};
      ++count;
    }
    if (shape.programmatic) {
      attributes[count].id = kProgrammaticStreamSerialization;
      attributes[count].value.programmatic = 1;
      ++count;
    }
    config = {.grid_x = shape.grid[0],
              .grid_y = shape.grid[1],
              .grid_z = shape.grid[2],
              .block_x = shape.threads,
              .block_y = 1,
              .block_z = 1,
              .shared_bytes = shape.shared_bytes,
              .stream = static_cast<StreamHandle>(stream),
              .attributes = attributes,
              .attribute_count = count};
  }
};

std::string describe(const KernelFunction& function, const LaunchShape& shape, size_t param_bytes) {
  std::string text = fmt::format(
      "kernel {}: grid {}x{}x{}, {} threads, cluster {}x{}x{}, {} + {} bytes of shared memory, {} bytes of parameters",
      function.name, shape.grid[0], shape.grid[1], shape.grid[2], shape.threads, shape.cluster[0], shape.cluster[1],
      shape.cluster[2], shape.shared_bytes, function.static_shared_bytes, param_bytes);
  if (shape.replay) text += fmt::format("; replay with: {}", shape.replay);
  return text;
}

// Why the driver may have refused an image.
std::string misfit(const Context& context) {
  const int driver = context.driver().version;
  if (auto nvrtc = compile::nvrtc_version(); nvrtc.ok())
    if (Status status = compile::check_driver_understands(*nvrtc, driver); !status.ok()) return status.message();
  return fmt::format(
      "it was not made for {} ({}), or by a compiler newer than the driver's CUDA {}.{}: compile it again",
      context.info().id, context.info().name, driver / 1000, driver % 1000 / 10);
}

}  // namespace

Result<std::shared_ptr<LoadedModule>> CubinModule::load(std::shared_ptr<const Context> context,
                                                        const compile::Module& module) {
  if (module.backend != compile::Backend::kNvrtc)
    return unsupported("module {} was not made for an NVIDIA GPU, so {} cannot load it", module.name,
                       context->info().id);
  ModuleHandle handle = nullptr;
  if (int code = context->driver().module_load_data(&handle, module.image.data())) {
    std::string detail = fmt::format("module {} of {} bytes", module.name, module.image.size());
    if (code == kNoBinaryForGpu || code == kInvalidImage) detail += "; " + misfit(*context);
    return context->failed(code, "cuModuleLoadData", detail);
  }
  return std::shared_ptr<LoadedModule>(new CubinModule(std::move(context), handle, module.name));
}

CubinModule::~CubinModule() {
  Scope scope(*context_);
  if (scope.status().ok()) context_->driver().module_unload(handle_);
}

Result<const Function*> CubinModule::find(const std::string& name) {
  std::lock_guard lock(mutex_);
  if (auto it = functions_.find(name); it != functions_.end()) return reinterpret_cast<const Function*>(&it->second);

  Scope scope(*context_);
  WT_TRY(scope.status());
  const Driver& driver = context_->driver();
  KernelFunction function{.name = name, .lasting_name = replay_text(name)};
  if (int code = driver.module_get_function(&function.handle, handle_, name.c_str()))
    return context_->failed(code, "cuModuleGetFunction", fmt::format("module {} and entry {}", name_, name));

  int static_shared = 0;
  WT_TRY(context_->check(driver.func_get_attribute(&static_shared, kSharedSizeBytes, function.handle),
                         "cuFuncGetAttribute"));
  function.static_shared_bytes = static_shared;
  // WHY: both are permissions, not reservations, so the widest ones are given here once and a launch asks for nothing.
  const int room = static_cast<int>(context_->info().shared_bytes_per_block) - static_shared;
  WT_TRY(context_->check(driver.func_set_attribute(function.handle, kMaxDynamicSharedSizeBytes, room),
                         "cuFuncSetAttribute"));
  if (context_->info().target != Target::kSm80)
    WT_TRY(context_->check(driver.func_set_attribute(function.handle, kNonPortableClusterSizeAllowed, 1),
                           "cuFuncSetAttribute"));
  if (driver.func_get_param_info) {
    size_t offset = 0, size = 0;
    if (driver.func_get_param_info(function.handle, 0, &offset, &size) == kSuccess)
      function.param_bytes = static_cast<int64_t>(size);
  }
  return reinterpret_cast<const Function*>(&functions_.emplace(name, std::move(function)).first->second);
}

Status launch_kernel(const Context& context, const KernelFunction& function, const LaunchShape& shape,
                     std::span<const std::byte> params, Stream stream) {
  if (function.param_bytes >= 0 && function.param_bytes != static_cast<int64_t>(params.size())) [[unlikely]]
    return failure(Code::kDevice, "kernel {} takes {} bytes of parameters and was given {}", function.name,
                   function.param_bytes, params.size());
  PreparedLaunch launch(shape, stream);
  // WHY by pointer and not as one buffer: the compiler moves a 64-byte aligned block to an offset of its own in the
  // parameter space, which only the driver knows.
  void* parameters[] = {const_cast<std::byte*>(params.data())};
  const int code = context.driver().launch_kernel_ex(&launch.config, function.handle, parameters, nullptr);
  if (code != kSuccess) [[unlikely]]
    return context.failed(code, "cuLaunchKernelEx", describe(function, shape, params.size()));
  context.note_launch(function.lasting_name, shape.replay);
  return {};
}

Result<int64_t> resident_blocks(const Context& context, const KernelFunction& function, const LaunchShape& shape) {
  const int64_t cluster = int64_t{shape.cluster[0]} * shape.cluster[1] * shape.cluster[2];
  if (cluster > 1) {
    PreparedLaunch launch(shape, nullptr);
    int clusters = 0;
    if (int code = context.driver().occupancy_max_active_clusters(&clusters, function.handle, &launch.config))
      return context.failed(code, "cuOccupancyMaxActiveClusters", describe(function, shape, 0));
    return clusters * cluster;
  }
  int blocks = 0;
  if (int code = context.driver().occupancy_max_active_blocks(&blocks, function.handle, static_cast<int>(shape.threads),
                                                              shape.shared_bytes))
    return context.failed(code, "cuOccupancyMaxActiveBlocksPerMultiprocessor", describe(function, shape, 0));
  return int64_t{blocks} * context.info().multiprocessors;
}

}  // namespace wt::cuda
