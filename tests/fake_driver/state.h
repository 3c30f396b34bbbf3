// SPDX-License-Identifier: Apache-2.0
// tests/fake_driver/state.h - what the fake GPU remembers, whichever driver speaks for it.
//
//   cuda_*_calls.cc, hip_*_calls.cc --> machine.h (what both drivers do) --> State <-- control.cc (tests)
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "runtime/gpu/codes.h"
#include "tests/fake_driver/fake_driver.h"

#define EXPORT extern "C" __attribute__((visibility("default")))
// A function whose type differs from the table's does not compile.
#define SAME_TYPE(function, member) \
  static_assert(std::is_same_v<decltype(&function), decltype(Driver::member)::Pointer>)

// WHY visible: both drivers' libraries share the one state of this one.
#pragma GCC visibility push(default)
namespace wt::fake {

using namespace wt::gpu;

constexpr double kFillBytesPerMicrosecond = 4e6;
constexpr size_t kLargestRealFill = 16 << 20;  // larger ones, such as cache flushes, take only emulated time

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
  int hip_count = 1, hip_version = 60443484;  // HIP's own number of 6.4
  std::string hip_name = "Fake MI300X", architecture = "gfx942:sramecc+:xnack-";
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
std::vector<int>& context_stack();  // CUDA's of this thread: epochs
int& current_device();              // HIP's of this thread
int& capture_mode();                // how this thread's calls meet captures

void read_environment();
// Records the call; returns the code it must fail with, or 0.
int enter(const char* call);
// A synchronising call: the device catches up, and a waiting fault comes to light.
int synchronize();
double jittered(double microseconds);
FakeStream* stream_of(void* handle);
// The device starts when it is free and the host has asked.
void run_on_device(double microseconds);
// Enqueues or captures.
int submit(void* stream, double microseconds);
bool anything_captures();
// Calls that a capture of this thread forbids break it, as the real drivers do.
int forbid_in_capture();
size_t live_bytes();
// Whether [memory, memory + bytes) lies in one allocation.
bool allocated(const void* memory, size_t bytes);
// A cubin or code object says its own length; any other image is text.
std::string image_of(const void* image);

}  // namespace wt::fake
#pragma GCC visibility pop

#define ENTER(call)            \
  std::lock_guard lock(mutex); \
  if (int fault = enter(call)) return fault
