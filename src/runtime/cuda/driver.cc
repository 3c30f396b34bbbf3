// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/driver.cc - finds the driver library and its functions.
#include "runtime/cuda/driver.h"

#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

namespace wt::cuda {
namespace {

// The oldest driver with tensor maps and cuLaunchKernelEx in their present form.
constexpr int kOldestVersion = 12000;

template <class Function>
void** slot(Function*& function) {
  static_assert(sizeof(Function*) == sizeof(void*));
  return reinterpret_cast<void**>(&function);
}

struct Entry {
  void** slot;
  const char* symbol;
  bool optional = false;
};

std::vector<Entry> entries_of(Driver& d) {
  return {
      {slot(d.init), "cuInit"},
      {slot(d.driver_get_version), "cuDriverGetVersion"},
      {slot(d.get_error_name), "cuGetErrorName"},
      {slot(d.get_error_string), "cuGetErrorString"},
      {slot(d.device_get_count), "cuDeviceGetCount"},
      {slot(d.device_get), "cuDeviceGet"},
      {slot(d.device_get_name), "cuDeviceGetName"},
      {slot(d.device_get_attribute), "cuDeviceGetAttribute"},
      {slot(d.device_total_mem), "cuDeviceTotalMem_v2"},
      {slot(d.primary_ctx_retain), "cuDevicePrimaryCtxRetain"},
      {slot(d.primary_ctx_release), "cuDevicePrimaryCtxRelease_v2"},
      {slot(d.ctx_get_current), "cuCtxGetCurrent"},
      {slot(d.ctx_push_current), "cuCtxPushCurrent_v2"},
      {slot(d.ctx_pop_current), "cuCtxPopCurrent_v2"},
      {slot(d.ctx_synchronize), "cuCtxSynchronize"},
      {slot(d.mem_get_info), "cuMemGetInfo_v2"},
      {slot(d.mem_alloc), "cuMemAlloc_v2"},
      {slot(d.mem_free), "cuMemFree_v2"},
      {slot(d.memcpy_htod), "cuMemcpyHtoD_v2"},
      {slot(d.memcpy_dtoh), "cuMemcpyDtoH_v2"},
      {slot(d.memset_d8_async), "cuMemsetD8Async"},
      {slot(d.stream_create), "cuStreamCreate"},
      {slot(d.stream_destroy), "cuStreamDestroy_v2"},
      {slot(d.stream_synchronize), "cuStreamSynchronize"},
      {slot(d.event_create), "cuEventCreate"},
      {slot(d.event_destroy), "cuEventDestroy_v2"},
      {slot(d.event_record), "cuEventRecord"},
      {slot(d.event_synchronize), "cuEventSynchronize"},
      {slot(d.event_elapsed_time), "cuEventElapsedTime"},
      {slot(d.module_load_data), "cuModuleLoadData"},
      {slot(d.module_unload), "cuModuleUnload"},
      {slot(d.module_get_function), "cuModuleGetFunction"},
      {slot(d.func_get_attribute), "cuFuncGetAttribute"},
      {slot(d.func_set_attribute), "cuFuncSetAttribute"},
      {slot(d.func_get_param_info), "cuFuncGetParamInfo", true},
      {slot(d.launch_kernel_ex), "cuLaunchKernelEx"},
      {slot(d.occupancy_max_active_blocks), "cuOccupancyMaxActiveBlocksPerMultiprocessor"},
      {slot(d.occupancy_max_active_clusters), "cuOccupancyMaxActiveClusters"},
      {slot(d.tensor_map_encode_tiled), "cuTensorMapEncodeTiled"},
      {slot(d.tensor_map_encode_im2col), "cuTensorMapEncodeIm2col"},
      {slot(d.stream_begin_capture), "cuStreamBeginCapture_v2"},
      {slot(d.stream_end_capture), "cuStreamEndCapture"},
      {slot(d.stream_is_capturing), "cuStreamIsCapturing"},
      {slot(d.thread_exchange_capture_mode), "cuThreadExchangeStreamCaptureMode"},
      {slot(d.graph_instantiate), "cuGraphInstantiateWithFlags"},
      {slot(d.graph_launch), "cuGraphLaunch"},
      {slot(d.graph_exec_destroy), "cuGraphExecDestroy"},
      {slot(d.graph_destroy), "cuGraphDestroy"},
  };
}

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

Status too_old(const Driver& driver, int version, const std::string& detail) {
  return failure(Code::kDevice,
                 "the CUDA driver {} supports CUDA {} and is too old{}; Wavetile needs one for CUDA {} or newer "
                 "(Linux driver 525 or newer): update the NVIDIA driver",
                 driver.path, version_text(version), detail, version_text(kOldestVersion));
}

Result<std::unique_ptr<Driver>> load_from(const std::vector<std::string>& names, bool named_by_user) {
  auto library = DynamicLibrary::open(names);
  if (!library.ok())
    return failure(
        Code::kDevice, "no CUDA driver: {}; {}", library.status().message(),
        named_by_user ? "check WAVETILE_CUDA_DRIVER" : "install the NVIDIA driver, or use device cpu or sim:sm_90a");
  auto driver = std::make_unique<Driver>(std::move(library).value());
  std::string missing;
  for (const Entry& entry : entries_of(*driver)) {
    *entry.slot = driver->find(entry.symbol);
    if (!*entry.slot && !entry.optional) missing += (missing.empty() ? "" : ", ") + std::string(entry.symbol);
  }
  if (missing.empty()) return driver;
  int version = 0;
  if (driver->driver_get_version && driver->driver_get_version(&version) == kSuccess && version < kOldestVersion)
    return too_old(*driver, version, fmt::format(" (it has no {})", missing));
  return failure(Code::kDevice, "{} is not a usable CUDA driver: it has no {}", driver->path, missing);
}

}  // namespace

bool is_sticky(int code) {
  switch (code) {
    case kEccUncorrectable:
    case kIllegalAddress:
    case kLaunchTimeout:
    case kContextIsDestroyed:
    case kAssert:
    case kHardwareStackError:
    case kIllegalInstruction:
    case kMisalignedAddress:
    case kInvalidAddressSpace:
    case kInvalidPc:
    case kLaunchFailed:
      return true;
    default:
      return false;
  }
}

std::string Driver::describe(int code) const {
  const char* name = nullptr;
  const char* text = nullptr;
  get_error_name(code, &name);
  get_error_string(code, &text);
  if (!name) return fmt::format("CUDA error {}", code);
  return fmt::format("{} ({}): {}", name, code, text ? text : "no text");
}

Status Driver::initialize() {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  int found = 0;
  if (int code = driver_get_version(&found); code == kSuccess && found < kOldestVersion)
    return too_old(*this, found, "");
  const int code = init(0);
  version = found;
  switch (code) {
    case kSuccess:
      return {};
    case kNoDevice:
      return failure(Code::kDevice,
                     "no NVIDIA GPU: cuInit says {}; check nvidia-smi and CUDA_VISIBLE_DEVICES, or use device cpu or "
                     "sim:sm_90a",
                     describe(code));
    case kStubLibrary:
      return failure(Code::kDevice,
                     "{} is the toolkit's stub, not a driver: cuInit says {}; take the stubs folder out of "
                     "LD_LIBRARY_PATH",
                     path, describe(code));
    case kSystemDriverMismatch:
    case kCompatNotSupported:
      return failure(Code::kDevice,
                     "the CUDA driver library {} does not fit the kernel module: cuInit says {}; reboot after a driver "
                     "update, or remove the CUDA compatibility package",
                     path, describe(code));
    default:
      return failure(Code::kDevice, "cuInit of {} failed: {}", path, describe(code));
  }
}

Result<Driver*> load_driver() {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<Driver>> loaded;
  const char* named = std::getenv("WAVETILE_CUDA_DRIVER");
  const std::string key = named ? named : "";
  std::lock_guard lock(mutex);
  if (auto it = loaded.find(key); it != loaded.end()) return it->second.get();
  const std::vector<std::string> names = key.empty() ? std::vector<std::string>{"libcuda.so.1"} : std::vector{key};
  WT_TRY_ASSIGN(auto driver, load_from(names, !key.empty()));
  return (loaded[key] = std::move(driver)).get();
}

}  // namespace wt::cuda
