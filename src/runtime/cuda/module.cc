// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/module.cc - loads cubins and launches their kernels.
#include "runtime/cuda/module.h"

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
  WT_TRY_ASSIGN(const ModuleHandle handle, gpu::load_image(*context, module, compile::Backend::kNvrtc, "NVIDIA",
                                                           [&] { return misfit(*context); }));
  return std::shared_ptr<LoadedModule>(new CubinModule(std::move(context), handle, module.name));
}

Status CubinModule::prepare(KernelFunction& kernel) {
  const Driver& driver = context().driver();
  // WHY: both are permissions, not reservations, so the widest ones are given here once and a launch asks for nothing.
  const int room = static_cast<int>(context().info().shared_bytes_per_block - kernel.static_shared_bytes);
  WT_TRY(context().call(driver.func_set_attribute, kernel.handle, kMaxDynamicSharedSizeBytes, room));
  if (context().info().target != Target::kSm80)
    WT_TRY(context().call(driver.func_set_attribute, kernel.handle, kNonPortableClusterSizeAllowed, 1));
  if (driver.func_get_param_info) {
    size_t offset = 0, size = 0;
    if (driver.func_get_param_info(kernel.handle, 0, &offset, &size) == kSuccess)
      kernel.param_bytes = static_cast<int64_t>(size);
  }
  return {};
}

Status launch_kernel(const Context& context, const KernelFunction& function, const LaunchShape& shape,
                     std::span<const std::byte> params, Stream stream) {
  WT_TRY(gpu::check_params(function, params.size()));
  PreparedLaunch launch(shape, stream);
  // WHY by pointer and not as one buffer: the compiler moves a 64-byte aligned block to an offset of its own in the
  // parameter space, which only the driver knows.
  void* parameters[] = {const_cast<std::byte*>(params.data())};
  const int code = context.driver().launch_kernel_ex(&launch.config, function.handle, parameters, nullptr);
  if (code != kSuccess) [[unlikely]]
    return context.failed(code, context.driver().launch_kernel_ex, gpu::describe(function, shape, params.size()));
  context.note_launch(function.lasting_name, shape.replay);
  return {};
}

Result<int64_t> resident_blocks(const Context& context, const KernelFunction& function, const LaunchShape& shape) {
  const int64_t cluster = int64_t{shape.cluster[0]} * shape.cluster[1] * shape.cluster[2];
  if (cluster > 1) {
    PreparedLaunch launch(shape, nullptr);
    int clusters = 0;
    if (int code = context.driver().occupancy_max_active_clusters(&clusters, function.handle, &launch.config))
      return context.failed(code, context.driver().occupancy_max_active_clusters, gpu::describe(function, shape, 0));
    return clusters * cluster;
  }
  int blocks = 0;
  if (int code = context.driver().occupancy_max_active_blocks(&blocks, function.handle, static_cast<int>(shape.threads),
                                                              shape.shared_bytes))
    return context.failed(code, context.driver().occupancy_max_active_blocks, gpu::describe(function, shape, 0));
  return int64_t{blocks} * context.info().multiprocessors;
}

}  // namespace wt::cuda
