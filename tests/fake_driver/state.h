// SPDX-License-Identifier: Apache-2.0
// tests/fake_driver/state.h - what the fake driver remembers, and what its calls share.
//
// The driver's functions: device_calls.cc, kernel_calls.cc, tensor_map_calls.cc, graph_calls.cc. Control: control.cc.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "runtime/cuda/driver.h"
#include "tests/fake_driver/fake_driver.h"

#define EXPORT extern "C" __attribute__((visibility("default")))
#define SAME_TYPE(function, member) static_assert(std::is_same_v<decltype(&function), decltype(Driver::member)>)

namespace wt::fake {

using namespace wt::cuda;

constexpr int kNotSupported = 801;
constexpr double kFillBytesPerMicrosecond = 4e6;
constexpr size_t kLargestRealFill = 16 << 20;  // larger ones, such as cache flushes, take only emulated time
constexpr int kSharedLimit = 232448;           // of a block, opt-in

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
  std::vector<FakeFill> fills;
  std::vector<FakeTensorMap> maps;
  std::map<std::string, std::map<int, int>> attributes;
  FakeStream default_stream;
};

extern std::recursive_mutex mutex;
extern State state;
extern thread_local std::vector<int> context_stack;  // epochs
extern thread_local int capture_mode;                // how this thread's calls meet captures
extern int context_object;                           // its address is the context handle

void read_environment();
// Records the call; returns the code it must fail with, or 0.
int enter(const char* call);
// As enter, for calls that need the context: none current, or one lost to a fault, is an error.
int enter_context(const char* call);
// A synchronising call: the device catches up, and a waiting fault comes to light.
int synchronize();
double jittered(double microseconds);
FakeStream* stream_of(StreamHandle handle);
// The device starts when it is free and the host has asked.
void run_on_device(double microseconds);
// Enqueues or captures.
int submit(StreamHandle handle, double microseconds);
bool anything_captures();
// Calls that a capture of this thread forbids break it, as the real driver does.
int forbid_in_capture();
size_t live_bytes();
// Whether [address, address + bytes) lies in one allocation.
bool allocated(DevicePointer address, size_t bytes);
// A cubin says its own length; any other image is text.
std::string image_of(const void* image);

}  // namespace wt::fake

#define ENTER(call)            \
  std::lock_guard lock(mutex); \
  if (int fault = enter(call)) return fault
#define ENTER_CONTEXT(call)    \
  std::lock_guard lock(mutex); \
  if (int fault = enter_context(call)) return fault
