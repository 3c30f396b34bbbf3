// SPDX-License-Identifier: Apache-2.0
// tests/fake_driver/fake_driver.cc - the driver's exported functions over one recorded state.
#include "tests/fake_driver/fake_driver.h"

#include <elf.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/cuda/driver.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

using namespace wt::cuda;

namespace {

constexpr int kNotSupported = 801;
constexpr double kFillBytesPerMicrosecond = 4e6;
constexpr size_t kLargestRealFill = 16 << 20;  // larger ones, such as cache flushes, take only emulated time
constexpr int kSharedLimit = 232448;  // of a block, opt-in

struct FakeModule;
struct Kernel {
  std::string name;
  FakeModule* module;
  std::map<int, int> attributes;
};
struct FakeModule {
  std::string image;
  std::map<std::string, Kernel> kernels;
};
struct Work {
  double device_us = 0;
};
struct FakeGraph {
  std::vector<Work> work;
};
struct FakeStream {
  bool capturing = false;
  bool invalidated = false;
  FakeGraph graph;
};
struct FakeEvent {
  double stamp_us = -1;
};
struct RecordedLaunch {
  FakeLaunch launch;
  std::string kernel;
  std::vector<unsigned char> params;
};

struct State {
  int device_count = 1, major = 9, minor = 0;
  int version = 13000;
  size_t memory = size_t{1} << 30;
  int64_t param_bytes = -1;
  double kernel_us = 10, jitter = 0, call_us = 2;
  unsigned jitter_state = 1;
  void (*hook)(const FakeLaunch*, void*) = nullptr;
  void* hook_user = nullptr;

  int references = 0;
  int epoch = 0;  // of the context; a new one when the last reference goes
  int sticky = 0, pending_fault = 0;
  int fault_code = 0, fault_after = 0;
  double host_us = 0, device_us = 0;

  std::map<std::string, int> calls;
  std::string log;
  struct Fault {
    int code, nth;
  };
  std::map<std::string, Fault> faults;
  std::map<unsigned char*, size_t> allocations;
  std::set<FakeModule*> modules;
  std::set<FakeStream*> streams;
  std::set<FakeEvent*> events;
  std::set<FakeGraph*> graphs, execs;
  std::deque<RecordedLaunch> launches;
  std::vector<FakeTensorMap> maps;
  std::map<std::string, std::map<int, int>> attributes;
  FakeStream default_stream;
};

std::recursive_mutex mutex;
State state;
thread_local std::vector<int> context_stack;  // epochs
int context_object;                           // its address is the context handle

void read_environment() {
  const char* faults = std::getenv("WAVETILE_FAKE_FAIL");
  for (std::string rest = faults ? faults : ""; !rest.empty();) {
    const size_t comma = rest.find(',');
    const std::string item = rest.substr(0, comma);
    rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
    const size_t equals = item.find('=');
    if (equals != std::string::npos) state.faults[item.substr(0, equals)] = {std::atoi(item.c_str() + equals + 1), 0};
  }
}

// Records the call; returns the code it must fail with, or 0.
int enter(const char* call) {
  static const bool read = (read_environment(), true);
  static const char* log_path = std::getenv("WAVETILE_FAKE_LOG");
  (void)read;
  ++state.calls[call];
  state.log += call;
  state.log += '\n';
  if (std::strncmp(call, "cuCtx", 5) != 0) state.host_us += state.call_us;  // those cost next to nothing
  if (log_path) {
    if (FILE* file = std::fopen(log_path, "a")) {
      std::fprintf(file, "%s\n", call);
      std::fclose(file);
    }
  }
  auto it = state.faults.find(call);
  if (it == state.faults.end()) return 0;
  if (it->second.nth == 0) return it->second.code;
  if (--it->second.nth > 0) return 0;
  const int code = it->second.code;
  state.faults.erase(it);
  return code;
}

// As enter, for calls that need the context: none current, or one lost to a fault, is an error.
int enter_context(const char* call) {
  if (int code = enter(call)) return code;
  if (context_stack.empty() || context_stack.back() != state.epoch) return kInvalidContext;
  return state.sticky;
}

// A synchronising call: the device catches up, and a waiting fault comes to light.
int synchronize() {
  state.host_us = std::max(state.host_us, state.device_us);
  if (state.pending_fault) state.sticky = std::exchange(state.pending_fault, 0);
  return state.sticky;
}

double jittered(double microseconds) {
  state.jitter_state = state.jitter_state * 1664525u + 1013904223u;
  const double uniform = static_cast<double>(state.jitter_state >> 8) / (1 << 24);
  return microseconds * (1 + state.jitter * (2 * uniform - 1));
}

FakeStream* stream_of(StreamHandle handle) {
  if (!handle) return &state.default_stream;
  auto* stream = reinterpret_cast<FakeStream*>(handle);
  return state.streams.count(stream) ? stream : nullptr;
}

// The device starts when it is free and the host has asked.
void run_on_device(double microseconds) { state.device_us = std::max(state.device_us, state.host_us) + microseconds; }

// Enqueues or captures.
int submit(StreamHandle handle, double microseconds) {
  FakeStream* stream = stream_of(handle);
  if (!stream) return 400;  // CUDA_ERROR_INVALID_HANDLE
  if (stream->capturing)
    stream->graph.work.push_back({microseconds});
  else
    run_on_device(microseconds);
  return kSuccess;
}

bool anything_captures() {
  return std::any_of(state.streams.begin(), state.streams.end(), [](FakeStream* s) { return s->capturing; });
}

// Calls that a capture of this thread forbids break it, as the real driver does.
int forbid_in_capture() {
  if (!anything_captures()) return kSuccess;
  for (FakeStream* stream : state.streams)
    if (stream->capturing) stream->invalidated = true;
  return kStreamCaptureUnsupported;
}

size_t live_bytes() {
  size_t sum = 0;
  for (const auto& [memory, bytes] : state.allocations) sum += bytes;
  return sum;
}

// Whether [address, address + bytes) lies in one allocation.
bool allocated(DevicePointer address, size_t bytes) {
  auto* memory = reinterpret_cast<unsigned char*>(static_cast<uintptr_t>(address));
  auto it = state.allocations.upper_bound(memory);
  if (it == state.allocations.begin()) return false;
  --it;
  return memory + bytes <= it->first + it->second;
}

// A cubin says its own length; any other image is text.
std::string image_of(const void* image) {
  const auto* bytes = static_cast<const char*>(image);
  if (std::memcmp(bytes, ELFMAG, SELFMAG) != 0) return bytes;
  Elf64_Ehdr header;
  std::memcpy(&header, bytes, sizeof header);
  return std::string(bytes, header.e_shoff + size_t{header.e_shnum} * header.e_shentsize);
}

struct ErrorText {
  int code;
  const char *name, *text;
};
const ErrorText kErrors[] = {
    {kSuccess, "CUDA_SUCCESS", "no error"},
    {kInvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {kStubLibrary, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
    {kNoDevice, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {kInvalidImage, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {kInvalidContext, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {kNoBinaryForGpu, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
    {kEccUncorrectable, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"},
    {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {kNotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {kNotReady, "CUDA_ERROR_NOT_READY", "device not ready"},
    {kIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {kLaunchOutOfResources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {kIllegalInstruction, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered"},
    {kMisalignedAddress, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {kLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {kNotSupported, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {kSystemDriverMismatch, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
     "system has unsupported display driver / cuda driver combination"},
    {kStreamCaptureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {kStreamCaptureInvalidated, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {kInvalidClusterSize, "CUDA_ERROR_INVALID_CLUSTER_SIZE", "cluster misconfiguration"},
    {kUnknown, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

const ErrorText* find_error(int code) {
  for (const ErrorText& error : kErrors)
    if (error.code == code) return &error;
  return nullptr;
}

}  // namespace

#define ENTER(call)            \
  std::lock_guard lock(mutex); \
  if (int fault = enter(call)) return fault
#define ENTER_CONTEXT(call)    \
  std::lock_guard lock(mutex); \
  if (int fault = enter_context(call)) return fault

EXPORT int cuInit(unsigned) {
  ENTER("cuInit");
  return state.device_count ? kSuccess : kNoDevice;
}
EXPORT int cuDriverGetVersion(int* version) {
  ENTER("cuDriverGetVersion");
  *version = state.version;
  return kSuccess;
}
EXPORT int cuGetErrorName(int code, const char** name) {
  const ErrorText* error = find_error(code);
  *name = error ? error->name : nullptr;
  return error ? kSuccess : kInvalidValue;
}
EXPORT int cuGetErrorString(int code, const char** text) {
  const ErrorText* error = find_error(code);
  *text = error ? error->text : nullptr;
  return error ? kSuccess : kInvalidValue;
}
EXPORT int cuDeviceGetCount(int* count) {
  ENTER("cuDeviceGetCount");
  *count = state.device_count;
  return kSuccess;
}
EXPORT int cuDeviceGet(DeviceOrdinal* device, int index) {
  ENTER("cuDeviceGet");
  *device = index;
  return index >= 0 && index < state.device_count ? kSuccess : kInvalidDevice;
}
EXPORT int cuDeviceGetName(char* name, int length, DeviceOrdinal) {
  ENTER("cuDeviceGetName");
  std::snprintf(name, static_cast<size_t>(length), "Fake H200");
  return kSuccess;
}
EXPORT int cuDeviceGetAttribute(int* value, int attribute, DeviceOrdinal) {
  ENTER("cuDeviceGetAttribute");
  switch (attribute) {
    case kMultiprocessorCount:
      *value = 132;
      return kSuccess;
    case kL2CacheSize:
      *value = 60 << 20;
      return kSuccess;
    case kComputeCapabilityMajor:
      *value = state.major;
      return kSuccess;
    case kComputeCapabilityMinor:
      *value = state.minor;
      return kSuccess;
    case kMaxSharedMemoryPerBlockOptin:
      *value = kSharedLimit;
      return kSuccess;
  }
  return kInvalidValue;
}
EXPORT int cuDeviceTotalMem_v2(size_t* bytes, DeviceOrdinal) {
  ENTER("cuDeviceTotalMem_v2");
  *bytes = state.memory;
  return kSuccess;
}

EXPORT int cuDevicePrimaryCtxRetain(ContextHandle* context, DeviceOrdinal) {
  ENTER("cuDevicePrimaryCtxRetain");
  ++state.references;
  *context = reinterpret_cast<ContextHandle>(&context_object);
  return kSuccess;
}
EXPORT int cuDevicePrimaryCtxRelease_v2(DeviceOrdinal) {
  ENTER("cuDevicePrimaryCtxRelease_v2");
  if (state.references == 0) return kInvalidContext;
  if (--state.references == 0) {  // a fresh context next time
    ++state.epoch;
    state.sticky = state.pending_fault = 0;
  }
  return kSuccess;
}
EXPORT int cuCtxGetCurrent(ContextHandle* context) {
  ENTER("cuCtxGetCurrent");
  const bool current = !context_stack.empty() && context_stack.back() == state.epoch;
  *context = current ? reinterpret_cast<ContextHandle>(&context_object) : nullptr;
  return kSuccess;
}
EXPORT int cuCtxPushCurrent_v2(ContextHandle context) {
  ENTER("cuCtxPushCurrent_v2");
  if (context != reinterpret_cast<ContextHandle>(&context_object) || state.references == 0) return kInvalidContext;
  context_stack.push_back(state.epoch);
  return kSuccess;
}
EXPORT int cuCtxPopCurrent_v2(ContextHandle* context) {
  ENTER("cuCtxPopCurrent_v2");
  if (context_stack.empty()) return kInvalidContext;
  context_stack.pop_back();
  *context = reinterpret_cast<ContextHandle>(&context_object);
  return kSuccess;
}
EXPORT int cuCtxSynchronize() {
  ENTER_CONTEXT("cuCtxSynchronize");
  if (int code = forbid_in_capture()) return code;
  return synchronize();
}

EXPORT int cuMemGetInfo_v2(size_t* free, size_t* total) {
  ENTER_CONTEXT("cuMemGetInfo_v2");
  *total = state.memory;
  *free = state.memory - live_bytes();
  return kSuccess;
}
EXPORT int cuMemAlloc_v2(DevicePointer* memory, size_t bytes) {
  ENTER_CONTEXT("cuMemAlloc_v2");
  if (bytes == 0) return kInvalidValue;
  if (bytes > state.memory - live_bytes()) return kOutOfMemory;
  auto* block = static_cast<unsigned char*>(std::aligned_alloc(512, (bytes + 511) / 512 * 512));
  if (!block) return kOutOfMemory;
  state.allocations[block] = bytes;
  *memory = reinterpret_cast<uintptr_t>(block);
  return kSuccess;
}
EXPORT int cuMemFree_v2(DevicePointer memory) {
  ENTER_CONTEXT("cuMemFree_v2");
  auto* block = reinterpret_cast<unsigned char*>(static_cast<uintptr_t>(memory));
  if (!state.allocations.erase(block)) return kInvalidValue;
  std::free(block);
  return synchronize();
}
EXPORT int cuMemcpyHtoD_v2(DevicePointer to, const void* from, size_t bytes) {
  ENTER_CONTEXT("cuMemcpyHtoD_v2");
  if (int code = forbid_in_capture()) return code;
  if (!allocated(to, bytes)) return kInvalidValue;
  std::memcpy(reinterpret_cast<void*>(static_cast<uintptr_t>(to)), from, bytes);
  return synchronize();
}
EXPORT int cuMemcpyDtoH_v2(void* to, DevicePointer from, size_t bytes) {
  ENTER_CONTEXT("cuMemcpyDtoH_v2");
  if (int code = forbid_in_capture()) return code;
  if (!allocated(from, bytes)) return kInvalidValue;
  if (int code = synchronize()) return code;
  std::memcpy(to, reinterpret_cast<void*>(static_cast<uintptr_t>(from)), bytes);
  return kSuccess;
}
EXPORT int cuMemsetD8Async(DevicePointer memory, unsigned char value, size_t count, StreamHandle stream) {
  ENTER_CONTEXT("cuMemsetD8Async");
  if (!allocated(memory, count)) return kInvalidValue;
  if (count <= kLargestRealFill) std::memset(reinterpret_cast<void*>(static_cast<uintptr_t>(memory)), value, count);
  return submit(stream, 2 + static_cast<double>(count) / kFillBytesPerMicrosecond);
}

EXPORT int cuStreamCreate(StreamHandle* stream, unsigned) {
  ENTER_CONTEXT("cuStreamCreate");
  auto* made = new FakeStream;
  state.streams.insert(made);
  *stream = reinterpret_cast<StreamHandle>(made);
  return kSuccess;
}
EXPORT int cuStreamDestroy_v2(StreamHandle stream) {
  ENTER_CONTEXT("cuStreamDestroy_v2");
  auto* made = reinterpret_cast<FakeStream*>(stream);
  if (!state.streams.erase(made)) return 400;
  delete made;
  return kSuccess;
}
EXPORT int cuStreamSynchronize(StreamHandle handle) {
  ENTER_CONTEXT("cuStreamSynchronize");
  FakeStream* stream = stream_of(handle);
  if (!stream) return 400;
  if (int code = forbid_in_capture()) return code;
  return synchronize();
}
EXPORT int cuEventCreate(EventHandle* event, unsigned) {
  ENTER_CONTEXT("cuEventCreate");
  auto* made = new FakeEvent;
  state.events.insert(made);
  *event = reinterpret_cast<EventHandle>(made);
  return kSuccess;
}
EXPORT int cuEventDestroy_v2(EventHandle event) {
  ENTER_CONTEXT("cuEventDestroy_v2");
  auto* made = reinterpret_cast<FakeEvent*>(event);
  if (!state.events.erase(made)) return 400;
  delete made;
  return kSuccess;
}
EXPORT int cuEventRecord(EventHandle event, StreamHandle stream) {
  ENTER_CONTEXT("cuEventRecord");
  auto* made = reinterpret_cast<FakeEvent*>(event);
  if (!state.events.count(made)) return 400;
  if (int code = submit(stream, 0)) return code;
  made->stamp_us = state.device_us;
  return kSuccess;
}
EXPORT int cuEventSynchronize(EventHandle event) {
  ENTER_CONTEXT("cuEventSynchronize");
  if (!state.events.count(reinterpret_cast<FakeEvent*>(event))) return 400;
  if (int code = forbid_in_capture()) return code;
  return synchronize();
}
EXPORT int cuEventElapsedTime(float* milliseconds, EventHandle start, EventHandle stop) {
  ENTER_CONTEXT("cuEventElapsedTime");
  auto* first = reinterpret_cast<FakeEvent*>(start);
  auto* last = reinterpret_cast<FakeEvent*>(stop);
  if (!state.events.count(first) || !state.events.count(last)) return 400;
  if (first->stamp_us < 0 || last->stamp_us < 0) return 400;
  if (last->stamp_us > state.host_us) return kNotReady;
  *milliseconds = static_cast<float>((last->stamp_us - first->stamp_us) / 1000);
  return kSuccess;
}

EXPORT int cuModuleLoadData(ModuleHandle* module, const void* image) {
  ENTER_CONTEXT("cuModuleLoadData");
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
  if (parameters || !extra || extra[0] != kLaunchParamBufferPointer || extra[2] != kLaunchParamBufferSize ||
      extra[4] != kLaunchParamEnd)
    return kInvalidValue;
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
  const auto* bytes = static_cast<const unsigned char*>(extra[1]);
  recorded.params.assign(bytes, bytes + *static_cast<size_t*>(extra[3]));
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

namespace {

// The limits that the manual gives for both kinds of tensor map.
bool within_limits(const FakeTensorMap& map) {
  if (map.rank < 1 || map.rank > 5 || reinterpret_cast<uintptr_t>(map.base) % 16) return false;
  for (unsigned d = 0; d < map.rank; ++d) {
    if (map.sizes[d] == 0 || map.sizes[d] > (1ull << 32)) return false;
    if (map.element_strides[d] == 0 || map.element_strides[d] > 8) return false;
    if (d + 1 < map.rank && (map.strides[d] % 16 || map.strides[d] >= (1ull << 40))) return false;
  }
  const int widths[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4};
  if (map.type < 0 || map.type > 11) return false;
  const uint64_t inner = uint64_t{map.im2col ? map.channels : map.box[0]} * static_cast<unsigned>(widths[map.type]);
  const uint64_t spans[] = {0, 32, 64, 128};
  if (map.swizzle < 0 || map.swizzle > 3 || (map.swizzle && inner > spans[map.swizzle]) || inner % 16) return false;
  if (!map.im2col) {
    for (unsigned d = 0; d < map.rank; ++d)
      if (map.box[d] == 0 || map.box[d] > 256) return false;
    return true;
  }
  if (map.rank < 3 || map.channels == 0 || map.channels > 256 || map.pixels == 0 || map.pixels > 1024) return false;
  const int reach = map.rank == 3 ? 1 << 15 : map.rank == 4 ? 1 << 7 : 1 << 4;
  for (unsigned d = 0; d + 2 < map.rank; ++d)
    for (int corner : {map.lower[d], map.upper[d]})
      if (corner < -reach || corner >= reach) return false;
  return true;
}

int encode(TensorMapBytes* out, FakeTensorMap map) {
  if (reinterpret_cast<uintptr_t>(out) % 128 || !within_limits(map)) return kInvalidValue;
  state.maps.push_back(map);
  // Recognisable bytes: the number of the map, then the address.
  *out = {};
  out->opaque[0] = 0x7e4501d000000000ull | state.maps.size();
  out->opaque[1] = reinterpret_cast<uintptr_t>(map.base);
  return kSuccess;
}

}  // namespace

EXPORT int cuTensorMapEncodeTiled(TensorMapBytes* out, int type, unsigned rank, void* base, const uint64_t* sizes,
                                  const uint64_t* strides, const uint32_t* box, const uint32_t* element_strides,
                                  int interleave, int swizzle, int promotion, int fill) {
  ENTER("cuTensorMapEncodeTiled");
  FakeTensorMap map{.type = type, .rank = rank, .base = base};
  if (rank < 1 || rank > 5) return kInvalidValue;
  std::copy_n(sizes, rank, map.sizes);
  std::copy_n(strides, rank - 1, map.strides);
  std::copy_n(box, rank, map.box);
  std::copy_n(element_strides, rank, map.element_strides);
  map.interleave = interleave, map.swizzle = swizzle, map.promotion = promotion, map.fill = fill;
  return encode(out, map);
}
EXPORT int cuTensorMapEncodeIm2col(TensorMapBytes* out, int type, unsigned rank, void* base, const uint64_t* sizes,
                                   const uint64_t* strides, const int* lower, const int* upper, uint32_t channels,
                                   uint32_t pixels, const uint32_t* element_strides, int interleave, int swizzle,
                                   int promotion, int fill) {
  ENTER("cuTensorMapEncodeIm2col");
  FakeTensorMap map{.im2col = 1, .type = type, .rank = rank, .base = base};
  if (rank < 3 || rank > 5) return kInvalidValue;
  std::copy_n(sizes, rank, map.sizes);
  std::copy_n(strides, rank - 1, map.strides);
  std::copy_n(lower, rank - 2, map.lower);
  std::copy_n(upper, rank - 2, map.upper);
  map.channels = channels, map.pixels = pixels;
  std::copy_n(element_strides, rank, map.element_strides);
  map.interleave = interleave, map.swizzle = swizzle, map.promotion = promotion, map.fill = fill;
  return encode(out, map);
}

EXPORT int cuStreamBeginCapture_v2(StreamHandle handle, int) {
  ENTER_CONTEXT("cuStreamBeginCapture_v2");
  FakeStream* stream = stream_of(handle);
  if (!stream || !handle) return kStreamCaptureUnsupported;
  stream->capturing = true;
  stream->invalidated = false;
  stream->graph = {};
  return kSuccess;
}
EXPORT int cuStreamEndCapture(StreamHandle handle, GraphHandle* graph) {
  ENTER_CONTEXT("cuStreamEndCapture");
  FakeStream* stream = stream_of(handle);
  *graph = nullptr;
  if (!stream || !stream->capturing) return kInvalidValue;
  stream->capturing = false;
  if (stream->invalidated) return kStreamCaptureInvalidated;
  auto* made = new FakeGraph(std::move(stream->graph));
  state.graphs.insert(made);
  *graph = reinterpret_cast<GraphHandle>(made);
  return kSuccess;
}
EXPORT int cuGraphInstantiateWithFlags(GraphExecHandle* exec, GraphHandle graph, unsigned long long) {
  ENTER_CONTEXT("cuGraphInstantiateWithFlags");
  auto* made = new FakeGraph(*reinterpret_cast<FakeGraph*>(graph));
  state.execs.insert(made);
  *exec = reinterpret_cast<GraphExecHandle>(made);
  return kSuccess;
}
EXPORT int cuGraphLaunch(GraphExecHandle exec, StreamHandle) {
  ENTER_CONTEXT("cuGraphLaunch");
  auto* graph = reinterpret_cast<FakeGraph*>(exec);
  if (!state.execs.count(graph)) return 400;
  for (const Work& work : graph->work) run_on_device(work.device_us);
  return kSuccess;
}
EXPORT int cuGraphExecDestroy(GraphExecHandle exec) {
  ENTER_CONTEXT("cuGraphExecDestroy");
  auto* graph = reinterpret_cast<FakeGraph*>(exec);
  if (!state.execs.erase(graph)) return 400;
  delete graph;
  return kSuccess;
}
EXPORT int cuGraphDestroy(GraphHandle handle) {
  ENTER_CONTEXT("cuGraphDestroy");
  auto* graph = reinterpret_cast<FakeGraph*>(handle);
  if (!state.graphs.erase(graph)) return 400;
  delete graph;
  return kSuccess;
}

// A function whose type differs from the table's does not compile here.
#define SAME_TYPE(function, member) static_assert(std::is_same_v<decltype(&function), decltype(Driver::member)>)
SAME_TYPE(cuInit, init);
SAME_TYPE(cuDriverGetVersion, driver_get_version);
SAME_TYPE(cuGetErrorName, get_error_name);
SAME_TYPE(cuGetErrorString, get_error_string);
SAME_TYPE(cuDeviceGetCount, device_get_count);
SAME_TYPE(cuDeviceGet, device_get);
SAME_TYPE(cuDeviceGetName, device_get_name);
SAME_TYPE(cuDeviceGetAttribute, device_get_attribute);
SAME_TYPE(cuDeviceTotalMem_v2, device_total_mem);
SAME_TYPE(cuDevicePrimaryCtxRetain, primary_ctx_retain);
SAME_TYPE(cuDevicePrimaryCtxRelease_v2, primary_ctx_release);
SAME_TYPE(cuCtxGetCurrent, ctx_get_current);
SAME_TYPE(cuCtxPushCurrent_v2, ctx_push_current);
SAME_TYPE(cuCtxPopCurrent_v2, ctx_pop_current);
SAME_TYPE(cuCtxSynchronize, ctx_synchronize);
SAME_TYPE(cuMemGetInfo_v2, mem_get_info);
SAME_TYPE(cuMemAlloc_v2, mem_alloc);
SAME_TYPE(cuMemFree_v2, mem_free);
SAME_TYPE(cuMemcpyHtoD_v2, memcpy_htod);
SAME_TYPE(cuMemcpyDtoH_v2, memcpy_dtoh);
SAME_TYPE(cuMemsetD8Async, memset_d8_async);
SAME_TYPE(cuStreamCreate, stream_create);
SAME_TYPE(cuStreamDestroy_v2, stream_destroy);
SAME_TYPE(cuStreamSynchronize, stream_synchronize);
SAME_TYPE(cuEventCreate, event_create);
SAME_TYPE(cuEventDestroy_v2, event_destroy);
SAME_TYPE(cuEventRecord, event_record);
SAME_TYPE(cuEventSynchronize, event_synchronize);
SAME_TYPE(cuEventElapsedTime, event_elapsed_time);
SAME_TYPE(cuModuleLoadData, module_load_data);
SAME_TYPE(cuModuleUnload, module_unload);
SAME_TYPE(cuModuleGetFunction, module_get_function);
SAME_TYPE(cuFuncGetAttribute, func_get_attribute);
SAME_TYPE(cuFuncSetAttribute, func_set_attribute);
SAME_TYPE(cuFuncGetParamInfo, func_get_param_info);
SAME_TYPE(cuLaunchKernelEx, launch_kernel_ex);
SAME_TYPE(cuOccupancyMaxActiveBlocksPerMultiprocessor, occupancy_max_active_blocks);
SAME_TYPE(cuOccupancyMaxActiveClusters, occupancy_max_active_clusters);
SAME_TYPE(cuTensorMapEncodeTiled, tensor_map_encode_tiled);
SAME_TYPE(cuTensorMapEncodeIm2col, tensor_map_encode_im2col);
SAME_TYPE(cuStreamBeginCapture_v2, stream_begin_capture);
SAME_TYPE(cuStreamEndCapture, stream_end_capture);
SAME_TYPE(cuGraphInstantiateWithFlags, graph_instantiate);
SAME_TYPE(cuGraphLaunch, graph_launch);
SAME_TYPE(cuGraphExecDestroy, graph_exec_destroy);
SAME_TYPE(cuGraphDestroy, graph_destroy);

#define CONTROL extern "C" __attribute__((visibility("default")))

CONTROL void fake_reset() {
  std::lock_guard lock(mutex);
  for (const auto& [memory, bytes] : state.allocations) std::free(memory);
  for (FakeModule* module : state.modules) delete module;
  for (FakeStream* stream : state.streams) delete stream;
  for (FakeEvent* event : state.events) delete event;
  for (FakeGraph* graph : state.graphs) delete graph;
  for (FakeGraph* graph : state.execs) delete graph;
  const int epoch = state.epoch + 1;
  state = State{};
  state.epoch = epoch;
  context_stack.clear();
  read_environment();
}
CONTROL void fake_fail(const char* call, int code, int nth) {
  std::lock_guard lock(mutex);
  state.faults[call] = {code, nth};
}
CONTROL void fake_fault_kernel(int code, int nth) {
  std::lock_guard lock(mutex);
  state.fault_code = code;
  state.fault_after = nth;
}
CONTROL void fake_set_device(int count, int major, int minor) {
  std::lock_guard lock(mutex);
  state.device_count = count, state.major = major, state.minor = minor;
}
CONTROL void fake_set_driver_version(int version) { state.version = version; }
CONTROL void fake_set_memory(size_t total) { state.memory = total; }
CONTROL void fake_set_param_bytes(int64_t bytes) { state.param_bytes = bytes; }
CONTROL void fake_set_kernel_time(double microseconds, double jitter) {
  state.kernel_us = microseconds, state.jitter = jitter;
}
CONTROL void fake_set_call_time(double microseconds) { state.call_us = microseconds; }
CONTROL void fake_on_launch(void (*function)(const FakeLaunch*, void*), void* user) {
  state.hook = function, state.hook_user = user;
}
CONTROL void fake_clear_calls() {
  std::lock_guard lock(mutex);
  state.calls.clear();
  state.log.clear();
  state.launches.clear();
  state.maps.clear();
}
CONTROL int fake_calls(const char* call) {
  std::lock_guard lock(mutex);
  auto it = state.calls.find(call);
  return it == state.calls.end() ? 0 : it->second;
}
CONTROL int fake_total_calls() {
  std::lock_guard lock(mutex);
  int sum = 0;
  for (const auto& [name, count] : state.calls) sum += count;
  return sum;
}
CONTROL const char* fake_call_log() { return state.log.c_str(); }
CONTROL int fake_launch_count() { return static_cast<int>(state.launches.size()); }
CONTROL const FakeLaunch* fake_launch(int index) { return &state.launches.at(static_cast<size_t>(index)).launch; }
CONTROL int fake_map_count() { return static_cast<int>(state.maps.size()); }
CONTROL const FakeTensorMap* fake_map(int index) { return &state.maps.at(static_cast<size_t>(index)); }
CONTROL int fake_live_allocations() { return static_cast<int>(state.allocations.size()); }
CONTROL size_t fake_live_bytes() { return live_bytes(); }
CONTROL int fake_live_modules() { return static_cast<int>(state.modules.size()); }
CONTROL int fake_live_events() { return static_cast<int>(state.events.size()); }
CONTROL int fake_live_graphs() { return static_cast<int>(state.graphs.size() + state.execs.size()); }
CONTROL int fake_context_references() { return state.references; }
CONTROL int fake_function_attribute(const char* kernel, int attribute) {
  std::lock_guard lock(mutex);
  auto it = state.attributes.find(kernel);
  if (it == state.attributes.end() || !it->second.count(attribute)) return -1;
  return it->second[attribute];
}
