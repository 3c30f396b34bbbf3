// SPDX-License-Identifier: Apache-2.0
// tests/fake_driver/fake_driver.h - a GPU that is none, behind a fake CUDA driver and a fake HIP: it records what it is
// asked and runs no kernel.
//
//   WAVETILE_CUDA_DRIVER=libfake_cuda.so --> runtime/cuda --> records here --> assertions
//   WAVETILE_HIP_DRIVER=libfake_hip.so   --> runtime/hip
//
// Memory is host memory. Time is emulated: each call costs host time, each fill and kernel device time, and an event
// is stamped when the device gets to it, so a timer that leaves the device idle measures that. Tests link this library
// and call the functions below (fixture: fake_gpu.h). A program that cannot may set WAVETILE_FAKE_FAIL
// ("cuMemAlloc_v2=2,hipInit=100@3": the call fails each time, or the third time), WAVETILE_FAKE_ARCHITECTURE
// ("gfx1101", of the AMD GPU) and WAVETILE_FAKE_LOG (a file: one line a call).
#pragma once

#include <stddef.h>
#include <stdint.h>

extern "C" {

struct FakeLaunch {
  const char* kernel;
  unsigned grid[3], block[3], cluster[3];  // cluster 0, 0, 0: attribute absent
  unsigned shared_bytes;
  int programmatic;
  void* stream;
  const unsigned char* params;
  size_t param_bytes;
  int captured;  // into a graph instead of run
  int device;    // of CUDA's current context
};

struct FakeFill {
  void* address;
  unsigned char value;
  size_t bytes;
};

struct FakeTensorMap {
  int im2col, type;
  unsigned rank;
  void* base;
  uint64_t sizes[5], strides[4];
  uint32_t box[5], element_strides[5];
  int lower[3], upper[3];
  uint32_t channels, pixels;
  int interleave, swizzle, promotion, fill;
};

// Everything back to the start: an H200-like GPU for CUDA 13.0 and an MI300X-like one for HIP 6.4, 1 GiB of memory,
// nothing recorded, no faults.
void fake_reset(void);

// The `nth` next call of `call` (1: the next one) fails with `code`, once; nth 0: every call until fake_reset.
void fake_fail(const char* call, int code, int nth);
// From the `nth` next launch on, a fault of `code` waits on the context; it shows at the next call that synchronises,
// and then at every call, until the context is destroyed.
void fake_fault_kernel(int code, int nth);

void fake_set_device(int count, int major, int minor);
void fake_set_driver_version(int version);
void fake_set_hip_device(int count, const char* name, const char* architecture);
void fake_set_hip_version(int version);  // as HIP writes it: 60443484 for 6.4
int fake_current_device(void);           // of HIP, on this thread
void fake_set_memory(size_t total);
void fake_set_param_bytes(int64_t bytes);                       // what cuFuncGetParamInfo says; -1: NOT_SUPPORTED
void fake_set_kernel_time(double microseconds, double jitter);  // jitter: fraction, from a fixed sequence
void fake_set_call_time(double microseconds);                   // host time a call costs
// Runs in place of each kernel that is not captured.
void fake_on_launch(void (*function)(const FakeLaunch* launch, void* user), void* user);

// Work of another library on a stream of CUDA's current context: enqueued or captured like a kernel. Returns the
// driver's code.
int fake_submit(void* stream, double microseconds);

void fake_clear_calls(void);
int fake_calls(const char* call);  // since the last clear
int fake_total_calls(void);
const char* fake_call_log(void);  // names, one per line, valid until the next call

int fake_launch_count(void);
const FakeLaunch* fake_launch(int index);
int fake_launch_device(int index);  // its device, for callers without the struct
int fake_fill_count(void);
const FakeFill* fake_fill(int index);
int fake_map_count(void);
const FakeTensorMap* fake_map(int index);

int fake_live_allocations(void);
size_t fake_live_bytes(void);
int fake_live_modules(void);
int fake_live_events(void);
int fake_live_graphs(void);
int fake_context_references(void);
int fake_function_attribute(const char* kernel, int attribute);  // last value set; -1: never

}  // extern "C"
