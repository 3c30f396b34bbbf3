// SPDX-License-Identifier: Apache-2.0
// runtime/device.h - one device: its memory, modules, launches and events, whether NVIDIA, AMD, simulated or the CPU.
//
//   dispatch --Launch--> Device::launch --> cuda/, hip/, sim/
//
// The CPU has no kernels to launch; its convolutions come from runtime/cpu/provider.h. Implementations: runtime/cuda
// and runtime/hip over what they share (runtime/gpu), runtime/sim, runtime/cpu. Calls may come from several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "launch/device_info.h"
#include "launch/launch.h"

namespace wt {

namespace compile {
struct Module;
}

using Stream = void*;  // CUstream or hipStream_t on a GPU; ignored elsewhere, where calls are synchronous

// A function of a loaded module. Valid as long as its module.
struct Function;
class LoadedModule {
 public:
  virtual ~LoadedModule() = default;
  virtual Result<const Function*> find(const std::string& name) = 0;
};

class Event {
 public:
  virtual ~Event() = default;
  virtual Status record(Stream stream) = 0;
  virtual Status wait() = 0;  // blocks the host
};

// Launches, fills and event records captured once and sent again as one.
class Graph {
 public:
  virtual ~Graph() = default;
  virtual Status replay(Stream stream) = 0;
};

// Whoever gives device memory in the device's place; a null pointer is a refusal.
struct Allocator {
  void* user = nullptr;
  void* (*allocate)(void* user, size_t bytes) = nullptr;
  void (*free)(void* user, void* memory) = nullptr;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;

  Result<void*> allocate(size_t bytes);  // at least 256-byte aligned; by the allocator where there is one
  Status free(void* memory);
  // From now on; memory goes back to whoever gave it. Without functions: the device's own again.
  void set_allocator(const Allocator& allocator);

  virtual Status copy_in(void* device, const void* host, size_t bytes) = 0;
  virtual Status copy_out(void* host, const void* device, size_t bytes) = 0;
  virtual Status fill(void* device, uint8_t value, size_t bytes, Stream stream) = 0;
  // In the order of a stream; on a GPU they return before the data has arrived (from pageable host memory the driver
  // may wait). Elsewhere they are the copies above.
  virtual Status copy_in_async(void* device, const void* host, size_t bytes, Stream stream);
  virtual Status copy_out_async(void* host, const void* device, size_t bytes, Stream stream);

  virtual Result<Stream> make_stream() = 0;
  virtual Status destroy_stream(Stream stream) = 0;
  virtual Status synchronize(Stream stream) = 0;
  virtual Result<std::unique_ptr<Event>> make_event() = 0;
  virtual Result<double> elapsed_us(Event& start, Event& stop) = 0;
  // What is sent to the stream from now on starts after the event; the host does not wait.
  virtual Status wait_for(Stream stream, Event& event);

  virtual Result<std::shared_ptr<LoadedModule>> load(const compile::Module& module) = 0;
  // `params` is the kernel's one by-value argument. Enqueues and returns; allocates nothing and waits for nothing.
  virtual Status launch(const Function& function, const LaunchShape& shape, std::span<const std::byte> params,
                        Stream stream) = 0;
  // Blocks of `shape` that can run at once on the whole device, whole clusters only; for persistent grids.
  virtual Result<int64_t> resident_blocks(const Function& function, const LaunchShape& shape);
  // What `body` enqueues on `stream` as a graph; nothing runs. Only a GPU can.
  virtual Result<std::unique_ptr<Graph>> capture(Stream stream, const std::function<Status()>& body);
  // Whether `stream`, or any stream that orders itself with the default one, is being captured. Breaks no capture.
  virtual Result<bool> is_capturing(Stream stream);
  // While the object lives, what this thread allocates, loads and waits for breaks no capture, of whichever stream.
  virtual std::shared_ptr<void> shield_captures();
  // Writes the 128 bytes of a tensor map for `spec` over the tensor at `base`.
  virtual Status encode_map(const TensorMapSpec& spec, void* base, std::byte* map) = 0;

 protected:
  virtual Result<void*> allocate_own(size_t bytes) = 0;
  virtual Status free_own(void* memory) = 0;

 private:
  std::mutex allocator_mutex_;  // of what follows
  Allocator allocator_;
  std::unordered_map<void*, Allocator> borrowed_;  // memory of an allocator, with the one that gave it
};

// "cpu", "gpu", "gpu:1" (NVIDIA), "hip", "hip:1" (AMD), "sim:sm_90a", or "auto": the first GPU, else the CPU.
Result<std::shared_ptr<Device>> open_device(const std::string& id);
std::vector<DeviceInfo> list_devices();

}  // namespace wt
