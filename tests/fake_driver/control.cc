// SPDX-License-Identifier: Apache-2.0
// tests/fake_driver/control.cc - the functions that tests steer the fake GPU by (fake_driver.h).
#include <cstdlib>

#include "tests/fake_driver/state.h"

using namespace wt::fake;

EXPORT void fake_reset() {
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
  context_stack().clear();
  current_device() = 0;
  read_environment();
}
EXPORT void fake_fail(const char* call, int code, int nth) {
  std::lock_guard lock(mutex);
  state.faults[call] = {code, nth};
}
EXPORT void fake_fault_kernel(int code, int nth) {
  std::lock_guard lock(mutex);
  state.fault_code = code;
  state.fault_after = nth;
}
EXPORT void fake_set_device(int count, int major, int minor) {
  std::lock_guard lock(mutex);
  state.device_count = count, state.major = major, state.minor = minor;
}
EXPORT void fake_set_hip_device(int count, const char* name, const char* architecture) {
  std::lock_guard lock(mutex);
  state.hip_count = count, state.hip_name = name, state.architecture = architecture;
}
EXPORT void fake_set_hip_version(int version) { state.hip_version = version; }
EXPORT int fake_current_device() { return current_device(); }
EXPORT void fake_set_driver_version(int version) { state.version = version; }
EXPORT void fake_set_memory(size_t total) { state.memory = total; }
EXPORT void fake_set_param_bytes(int64_t bytes) { state.param_bytes = bytes; }
EXPORT void fake_set_kernel_time(double microseconds, double jitter) {
  state.kernel_us = microseconds, state.jitter = jitter;
}
EXPORT void fake_set_call_time(double microseconds) { state.call_us = microseconds; }
EXPORT void fake_on_launch(void (*function)(const FakeLaunch*, void*), void* user) {
  state.hook = function, state.hook_user = user;
}
EXPORT int fake_submit(void* stream, double microseconds) {
  std::lock_guard lock(mutex);
  if (context_stack().empty() || context_stack().back() != state.epoch) return kInvalidContext;
  return submit(stream, microseconds);
}
EXPORT void fake_clear_calls() {
  std::lock_guard lock(mutex);
  state.calls.clear();
  state.log.clear();
  state.launches.clear();
  state.fills.clear();
  state.maps.clear();
}
EXPORT int fake_calls(const char* call) {
  std::lock_guard lock(mutex);
  auto it = state.calls.find(call);
  return it == state.calls.end() ? 0 : it->second;
}
EXPORT int fake_total_calls() {
  std::lock_guard lock(mutex);
  int sum = 0;
  for (const auto& [name, count] : state.calls) sum += count;
  return sum;
}
EXPORT const char* fake_call_log() { return state.log.c_str(); }
EXPORT int fake_launch_count() { return static_cast<int>(state.launches.size()); }
EXPORT int fake_launch_device(int index) { return fake_launch(index)->device; }
EXPORT const FakeLaunch* fake_launch(int index) { return &state.launches.at(static_cast<size_t>(index)).launch; }
EXPORT int fake_fill_count() { return static_cast<int>(state.fills.size()); }
EXPORT const FakeFill* fake_fill(int index) { return &state.fills.at(static_cast<size_t>(index)); }
EXPORT int fake_map_count() { return static_cast<int>(state.maps.size()); }
EXPORT const FakeTensorMap* fake_map(int index) { return &state.maps.at(static_cast<size_t>(index)); }
EXPORT int fake_live_allocations() { return static_cast<int>(state.allocations.size()); }
EXPORT size_t fake_live_bytes() { return live_bytes(); }
EXPORT int fake_live_modules() { return static_cast<int>(state.modules.size()); }
EXPORT int fake_live_events() { return static_cast<int>(state.events.size()); }
EXPORT int fake_live_graphs() { return static_cast<int>(state.graphs.size() + state.execs.size()); }
EXPORT int fake_context_references() { return state.references; }
EXPORT int fake_function_attribute(const char* kernel, int attribute) {
  std::lock_guard lock(mutex);
  auto it = state.attributes.find(kernel);
  if (it == state.attributes.end() || !it->second.count(attribute)) return -1;
  return it->second[attribute];
}
