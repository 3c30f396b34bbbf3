// SPDX-License-Identifier: Apache-2.0
// tests/fake_driver/kernel_calls.cc - modules, functions, launches and occupancy.
#include <algorithm>

#include "tests/fake_driver/state.h"

using namespace wt::fake;

EXPORT int cuModuleLoadData(ModuleHandle* module, const void* image) {
  ENTER_CONTEXT("cuModuleLoadData");
  if (int code = forbid_in_capture()) return code;
  std::string text = image_of(image);
  if (text.empty()) return kInvalidImage;
  auto* made = new FakeModule{std::move(text), {}};
  state.modules.insert(made);
  *module = reinterpret_cast<ModuleHandle>(made);
  return kSuccess;
}
EXPORT int cuModuleUnload(ModuleHandle module) {
  ENTER_CONTEXT("cuModuleUnload");
  auto* made = reinterpret_cast<FakeModule*>(module);
  if (!state.modules.erase(made)) return 400;
  delete made;
  return kSuccess;
}
EXPORT int cuModuleGetFunction(FunctionHandle* function, ModuleHandle module, const char* name) {
  ENTER_CONTEXT("cuModuleGetFunction");
  auto* made = reinterpret_cast<FakeModule*>(module);
  if (!state.modules.count(made)) return 400;
  if (made->image.find(name) == std::string::npos) return kNotFound;
  Kernel& kernel = made->kernels.try_emplace(name, Kernel{name, made, {}}).first->second;
  *function = reinterpret_cast<FunctionHandle>(&kernel);
  return kSuccess;
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
  if (!stream) return 400;
  auto* kernel = reinterpret_cast<Kernel*>(function);
  const unsigned threads = config->block_x * config->block_y * config->block_z;
  if (threads == 0 || threads > 1024 || config->grid_x == 0 || config->grid_y == 0 || config->grid_z == 0 ||
      config->grid_y > 65535 || config->grid_z > 65535)
    return kInvalidValue;
  auto limit = kernel->attributes.find(kMaxDynamicSharedSizeBytes);
  const int allowed = limit == kernel->attributes.end() ? 48 * 1024 - 1024 : limit->second;
  if (static_cast<int>(config->shared_bytes) > allowed) return kInvalidValue;

  RecordedLaunch recorded;
  recorded.kernel = kernel->name;
  // A driver reads the parameters' size in the image; the fake is told it (fake_set_param_bytes) or records none.
  const auto* bytes = static_cast<const unsigned char*>(parameters[0]);
  if (state.param_bytes > 0) recorded.params.assign(bytes, bytes + state.param_bytes);
  FakeLaunch& launch = recorded.launch;
  launch = {.kernel = nullptr,
            .grid = {config->grid_x, config->grid_y, config->grid_z},
            .block = {config->block_x, config->block_y, config->block_z},
            .cluster = {},
            .shared_bytes = config->shared_bytes,
            .programmatic = 0,
            .stream = config->stream,
            .params = nullptr,
            .param_bytes = recorded.params.size(),
            .captured = stream->capturing};
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
  state.launches.push_back(std::move(recorded));
  RecordedLaunch& kept = state.launches.back();
  kept.launch.kernel = kept.kernel.c_str();
  kept.launch.params = kept.params.data();
  if (state.fault_after && --state.fault_after == 0) state.pending_fault = state.fault_code;
  if (state.hook && !kept.launch.captured) state.hook(&kept.launch, state.hook_user);
  return submit(config->stream, jittered(state.kernel_us));
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
