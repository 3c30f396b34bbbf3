// SPDX-License-Identifier: Apache-2.0
// tests/fake_driver/machine.h - what a driver's calls do to the fake GPU, the same for CUDA and HIP. Every function
// returns a driver's code; handles are the addresses of state.h's objects.
#pragma once

#include "tests/fake_driver/state.h"

#pragma GCC visibility push(default)
namespace wt::fake {

int memory_info(size_t* free, size_t* total);
int allocate(void** memory, size_t bytes);
int release(void* memory);
int copy_in(void* to, const void* from, size_t bytes);
int copy_out(void* to, const void* from, size_t bytes);
// The host's memory is read or written at once, since the fake machine runs everything when it is enqueued.
int copy_in_async(void* to, const void* from, size_t bytes, void* stream);
int copy_out_async(void* to, const void* from, size_t bytes, void* stream);
int wait_event(void* stream, void* event);
int fill(void* memory, unsigned char value, size_t count, void* stream);

void* make_stream();
int destroy_stream(void* stream);
int synchronize_stream(void* stream);
void* make_event();
int destroy_event(void* event);
int record_event(void* event, void* stream);
int synchronize_event(void* event);
int elapsed(float* milliseconds, void* start, void* stop);

int load_module(void** module, const void* image);
int unload_module(void* module);
int find_kernel(void** function, void* module, const char* name);
// Keeps a copy of the launch, its name and its parameters, and enqueues or captures it.
int record_launch(const FakeLaunch& launch);

int begin_capture(void* stream);
int end_capture(void* stream, void** graph);
int capture_status(void* stream, int* status);
int exchange_capture_mode(int* mode);
int instantiate(void** exec, void* graph);
int launch_graph(void* exec);
int destroy_exec(void* exec);
int destroy_graph(void* graph);

// A driver's handle type over an object of ours.
template <class Handle>
Handle handle_as(void* object) {
  return static_cast<Handle>(object);
}
template <class Handle>
void** handle_slot(Handle* handle) {
  return reinterpret_cast<void**>(handle);
}

}  // namespace wt::fake
#pragma GCC visibility pop
