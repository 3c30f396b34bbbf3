// SPDX-License-Identifier: Apache-2.0
// runtime/device.h - one device: its memory, modules, launches and events, whether CUDA, simulated or the CPU.
//
//   dispatch --Launch--> Device::launch --> cuda/, sim/
//
// The CPU has no kernels to launch; its convolutions come from runtime/cpu/provider.h. Implementations: runtime/cuda,
// runtime/sim, runtime/cpu. Calls may come from several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "config/kernel_config.h"
#include "runtime/launch.h"

namespace wt {

namespace compile {
struct Module;
}

enum class DeviceKind { kCpu, kCuda, kSim };

struct DeviceInfo {
  DeviceKind kind = DeviceKind::kCpu;
  std::string id;                 // as a user writes it: cpu, gpu:0, sim:sm_90a
  std::string name;               // as the maker calls it
  Target target = Target::kSm80;  // meaningless for the CPU
  int multiprocessors = 1;
  int64_t shared_bytes_per_block = 0;
  int64_t l2_bytes = 0;
  int64_t memory_bytes = 0;
  int driver_version = 0;  // 13000 for 13.0; 0: none
};

using Stream = void*;  // CUstream on a GPU; ignored elsewhere, where calls are synchronous

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

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;

  virtual Result<void*> allocate(size_t bytes) = 0;  // at least 256-byte aligned
  virtual Status free(void* memory) = 0;
  virtual Status copy_in(void* device, const void* host, size_t bytes) = 0;
  virtual Status copy_out(void* host, const void* device, size_t bytes) = 0;
  virtual Status fill(void* device, uint8_t value, size_t bytes, Stream stream) = 0;

  virtual Result<Stream> make_stream() = 0;
  virtual Status destroy_stream(Stream stream) = 0;
  virtual Status synchronize(Stream stream) = 0;
  virtual Result<std::unique_ptr<Event>> make_event() = 0;
  virtual Result<double> elapsed_us(Event& start, Event& stop) = 0;

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
};

// "cpu", "gpu", "gpu:1", "sim:sm_90a", or "auto": the first GPU, else the CPU.
Result<std::shared_ptr<Device>> open_device(const std::string& id);
std::vector<DeviceInfo> list_devices();

}  // namespace wt
