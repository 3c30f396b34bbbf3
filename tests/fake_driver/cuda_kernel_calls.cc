// SPDX-License-Identifier: Apache-2.0
// tests/fake_driver/cuda_kernel_calls.cc - CUDA's modules, functions, launches and occupancy.
#include <algorithm>

#include "tests/fake_driver/cuda_calls.h"

using namespace wt::fake;

EXPORT int cuModuleLoadData(ModuleHandle* module, const void* image) {
  ENTER_CONTEXT("cuModuleLoadData");
  return load_module(handle_slot(module), image);
}
EXPORT int cuModuleUnload(ModuleHandle module) {
  ENTER_CONTEXT("cuModuleUnload");
  return unload_module(module);
}
EXPORT int cuModuleGetFunction(FunctionHandle* function, ModuleHandle module, const char* name) {
  ENTER_CONTEXT("cuModuleGetFunction");
  return find_kernel(handle_slot(function), module, name);
}
EXPORT int cuFuncGetAttribute(int* value, int attribute, FunctionHandle) {
  ENTER_CONTEXT("cuFuncGetAttribute");
  *value = attribute == kSharedSizeBytes ? 1024 : 0;
  return kSuccess;
}
EXPORT int cuFuncSetAttribute(FunctionHandle function, int attribute, int value) {
  ENTER_CONTEXT("cuFuncSetAttribute");
  auto* kernel = reinterpret_cast<Kernel*>(function);
  if (attribute == kMaxDynamicSharedSizeBytes && value > kSharedLimit - 1024) return kInvalidValue;
  kernel->attributes[attribute] = value;
  state.attributes[kernel->name][attribute] = value;
  return kSuccess;
}
EXPORT int cuFuncGetParamInfo(FunctionHandle, size_t index, size_t* offset, size_t* size) {
  ENTER_CONTEXT("cuFuncGetParamInfo");
  if (state.param_bytes < 0) return kNotSupported;
  if (index > 0) return kInvalidValue;
  *offset = 0;
  *size = static_cast<size_t>(state.param_bytes);
  return kSuccess;
}
EXPORT int cuLaunchKernelEx(const LaunchConfig* config, FunctionHandle function, void** parameters, void** extra) {
  ENTER_CONTEXT("cuLaunchKernelEx");
  if (!parameters || extra) return kInvalidValue;
  FakeStream* stream = stream_of(config->stream);
  if (!stream) return kInvalidHandle;
  auto* kernel = reinterpret_cast<Kernel*>(function);
  const unsigned threads = config->block_x * config->block_y * config->block_z;
  if (threads == 0 || threads > 1024 || config->grid_x == 0 || config->grid_y == 0 || config->grid_z == 0 ||
      config->grid_y > 65535 || config->grid_z > 65535)
    return kInvalidValue;
  auto limit = kernel->attributes.find(kMaxDynamicSharedSizeBytes);
  const int allowed = limit == kernel->attributes.end() ? 48 * 1024 - 1024 : limit->second;
  if (static_cast<int>(config->shared_bytes) > allowed) return kInvalidValue;

  // A driver reads the parameters' size in the image; the fake is told it (fake_set_param_bytes) or records none.
  const size_t param_bytes = state.param_bytes > 0 ? static_cast<size_t>(state.param_bytes) : 0;
  FakeLaunch launch{.kernel = kernel->name.c_str(),
                    .grid = {config->grid_x, config->grid_y, config->grid_z},
                    .block = {config->block_x, config->block_y, config->block_z},
                    .cluster = {0, 0, 0},
                    .shared_bytes = config->shared_bytes,
                    .programmatic = 0,
                    .stream = config->stream,
                    .params = static_cast<const unsigned char*>(parameters[0]),
                    .param_bytes = param_bytes,
                    .captured = stream->capturing,
                    .device = context_device()};
  for (unsigned i = 0; i < config->attribute_count; ++i) {
    const LaunchAttribute& attribute = config->attributes[i];
    if (attribute.id == kClusterDimension) {
      const auto& cluster = attribute.value.cluster;
      const unsigned size = cluster.x * cluster.y * cluster.z;
      if (state.major < 9 || size == 0 ||
          size > (kernel->attributes.count(kNonPortableClusterSizeAllowed) ? 16u : 8u) || config->grid_x % cluster.x ||
          config->grid_y % cluster.y || config->grid_z % cluster.z)
        return kInvalidClusterSize;
      launch.cluster[0] = cluster.x, launch.cluster[1] = cluster.y, launch.cluster[2] = cluster.z;
    } else if (attribute.id == kProgrammaticStreamSerialization) {
      launch.programmatic = attribute.value.programmatic;
    } else {
      return kInvalidValue;
    }
  }
  return record_launch(launch);
}
EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, FunctionHandle, int threads, size_t shared) {
  ENTER_CONTEXT("cuOccupancyMaxActiveBlocksPerMultiprocessor");
  *blocks = std::min(2048 / threads, static_cast<int>(kSharedLimit / (shared + 1024)));
  return kSuccess;
}
EXPORT int cuOccupancyMaxActiveClusters(int* clusters, FunctionHandle, const LaunchConfig* config) {
  ENTER_CONTEXT("cuOccupancyMaxActiveClusters");
  unsigned size = 1;
  for (unsigned i = 0; i < config->attribute_count; ++i)
    if (config->attributes[i].id == kClusterDimension) {
      const auto& cluster = config->attributes[i].value.cluster;
      size = cluster.x * cluster.y * cluster.z;
    }
  *clusters = static_cast<int>(132 / size);
  return kSuccess;
}

// A function whose type differs from the table's does not compile here.
SAME_TYPE(cuModuleLoadData, module_load_data);
SAME_TYPE(cuModuleUnload, module_unload);
SAME_TYPE(cuModuleGetFunction, module_get_function);
SAME_TYPE(cuFuncGetAttribute, func_get_attribute);
SAME_TYPE(cuFuncSetAttribute, func_set_attribute);
SAME_TYPE(cuFuncGetParamInfo, func_get_param_info);
SAME_TYPE(cuLaunchKernelEx, launch_kernel_ex);
SAME_TYPE(cuOccupancyMaxActiveBlocksPerMultiprocessor, occupancy_max_active_blocks);
SAME_TYPE(cuOccupancyMaxActiveClusters, occupancy_max_active_clusters);
