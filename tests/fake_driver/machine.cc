// SPDX-License-Identifier: Apache-2.0
#include "tests/fake_driver/machine.h"

#include <cstdlib>
#include <cstring>
#include <utility>

namespace wt::fake {

int memory_info(size_t* free, size_t* total) {
  *total = state.memory;
  *free = state.memory - live_bytes();
  return kSuccess;
}

int allocate(void** memory, size_t bytes) {
  if (bytes > state.memory - live_bytes()) return kOutOfMemory;
  auto* block = static_cast<unsigned char*>(std::aligned_alloc(512, (bytes + 511) / 512 * 512));
  if (!block) return kOutOfMemory;
  state.allocations[block] = bytes;
  *memory = block;
  return kSuccess;
}

int release(void* memory) {
  if (!state.allocations.erase(static_cast<unsigned char*>(memory))) return kInvalidValue;
  std::free(memory);
  return synchronize();
}

int copy_in(void* to, const void* from, size_t bytes) {
  if (int code = forbid_in_capture()) return code;
  if (!allocated(to, bytes)) return kInvalidValue;
  std::memcpy(to, from, bytes);
  return synchronize();
}

int copy_out(void* to, const void* from, size_t bytes) {
  if (int code = forbid_in_capture()) return code;
  if (!allocated(from, bytes)) return kInvalidValue;
  if (int code = synchronize()) return code;
  std::memcpy(to, from, bytes);
  return kSuccess;
}

int copy_in_async(void* to, const void* from, size_t bytes, void* stream) {
  if (!allocated(to, bytes)) return kInvalidValue;
  std::memcpy(to, from, bytes);
  return submit(stream, 2);
}

int copy_out_async(void* to, const void* from, size_t bytes, void* stream) {
  if (!allocated(from, bytes)) return kInvalidValue;
  std::memcpy(to, from, bytes);
  return submit(stream, 2);
}

int wait_event(void* stream, void* event) {
  if (!state.events.count(static_cast<FakeEvent*>(event))) return kInvalidHandle;
  return submit(stream, 0);
}

int fill(void* memory, unsigned char value, size_t count, void* stream) {
  if (!allocated(memory, count)) return kInvalidValue;
  state.fills.push_back({memory, value, count});
  if (count <= kLargestRealFill) std::memset(memory, value, count);
  return submit(stream, 2 + static_cast<double>(count) / kFillBytesPerMicrosecond);
}

void* make_stream() { return *state.streams.insert(new FakeStream).first; }

int destroy_stream(void* handle) {
  auto* stream = static_cast<FakeStream*>(handle);
  if (!state.streams.erase(stream)) return kInvalidHandle;
  delete stream;
  return kSuccess;
}

int synchronize_stream(void* handle) {
  if (!stream_of(handle)) return kInvalidHandle;
  if (int code = forbid_in_capture()) return code;
  return synchronize();
}

void* make_event() { return *state.events.insert(new FakeEvent).first; }

int destroy_event(void* handle) {
  auto* event = static_cast<FakeEvent*>(handle);
  if (!state.events.erase(event)) return kInvalidHandle;
  delete event;
  return kSuccess;
}

int record_event(void* handle, void* stream) {
  auto* event = static_cast<FakeEvent*>(handle);
  if (!state.events.count(event)) return kInvalidHandle;
  if (int code = submit(stream, 0)) return code;
  event->stamp_us = state.device_us;
  return kSuccess;
}

int synchronize_event(void* handle) {
  if (!state.events.count(static_cast<FakeEvent*>(handle))) return kInvalidHandle;
  if (int code = forbid_in_capture()) return code;
  return synchronize();
}

int elapsed(float* milliseconds, void* start, void* stop) {
  auto* first = static_cast<FakeEvent*>(start);
  auto* last = static_cast<FakeEvent*>(stop);
  if (!state.events.count(first) || !state.events.count(last)) return kInvalidHandle;
  if (first->stamp_us < 0 || last->stamp_us < 0) return kInvalidHandle;
  if (last->stamp_us > state.host_us) return kNotReady;
  *milliseconds = static_cast<float>((last->stamp_us - first->stamp_us) / 1000);
  return kSuccess;
}

int load_module(void** module, const void* image) {
  if (int code = forbid_in_capture()) return code;
  std::string text = image_of(image);
  if (text.empty()) return kInvalidImage;
  *module = *state.modules.insert(new FakeModule{std::move(text), {}}).first;
  return kSuccess;
}

int unload_module(void* handle) {
  auto* module = static_cast<FakeModule*>(handle);
  if (!state.modules.erase(module)) return kInvalidHandle;
  delete module;
  return kSuccess;
}

int find_kernel(void** function, void* handle, const char* name) {
  auto* module = static_cast<FakeModule*>(handle);
  if (!state.modules.count(module)) return kInvalidHandle;
  if (module->image.find(name) == std::string::npos) return kNotFound;
  *function = &module->kernels.try_emplace(name, Kernel{name, module, {}}).first->second;
  return kSuccess;
}

int record_launch(const FakeLaunch& launch) {
  state.launches.push_back({launch, launch.kernel, {launch.params, launch.params + launch.param_bytes}});
  RecordedLaunch& kept = state.launches.back();
  kept.launch.kernel = kept.kernel.c_str();
  kept.launch.params = kept.params.data();
  if (state.fault_after && --state.fault_after == 0) state.pending_fault = state.fault_code;
  if (state.hook && !kept.launch.captured) state.hook(&kept.launch, state.hook_user);
  return submit(launch.stream, jittered(state.kernel_us));
}

int begin_capture(void* handle) {
  FakeStream* stream = stream_of(handle);
  if (!stream || !handle) return kStreamCaptureUnsupported;
  stream->capturing = true;
  stream->invalidated = false;
  stream->graph = {};
  return kSuccess;
}

int end_capture(void* handle, void** graph) {
  FakeStream* stream = stream_of(handle);
  *graph = nullptr;
  if (!stream || !stream->capturing) return kInvalidValue;
  stream->capturing = false;
  if (stream->invalidated) return kStreamCaptureInvalidated;
  *graph = *state.graphs.insert(new FakeGraph(std::move(stream->graph))).first;
  return kSuccess;
}

int capture_status(void* handle, int* status) {
  FakeStream* stream = stream_of(handle);
  if (!stream) return kInvalidHandle;
  if (!handle && anything_captures()) return kStreamCaptureImplicit;
  *status = stream->invalidated ? 2 : stream->capturing ? 1 : kCaptureNone;
  return kSuccess;
}

int exchange_capture_mode(int* mode) {
  std::swap(*mode, capture_mode());
  return kSuccess;
}

int instantiate(void** exec, void* graph) {
  if (!state.graphs.count(static_cast<FakeGraph*>(graph))) return kInvalidValue;
  *exec = *state.execs.insert(new FakeGraph(*static_cast<FakeGraph*>(graph))).first;
  return kSuccess;
}

int launch_graph(void* handle) {
  auto* graph = static_cast<FakeGraph*>(handle);
  if (!state.execs.count(graph)) return kInvalidHandle;
  for (const Work& work : graph->work) run_on_device(work.device_us);
  return kSuccess;
}

int destroy_exec(void* handle) {
  auto* graph = static_cast<FakeGraph*>(handle);
  if (!state.execs.erase(graph)) return kInvalidHandle;
  delete graph;
  return kSuccess;
}

int destroy_graph(void* handle) {
  auto* graph = static_cast<FakeGraph*>(handle);
  if (!state.graphs.erase(graph)) return kInvalidHandle;
  delete graph;
  return kSuccess;
}

}  // namespace wt::fake
