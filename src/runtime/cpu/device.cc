// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/device.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <unordered_set>

#include "base/parallel.h"

namespace wt {

namespace {

constexpr size_t kAlignment = 256;

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      if (const size_t colon = line.find(": "); colon != std::string::npos) return line.substr(colon + 2);
  return "CPU";
}

class ClockEvent final : public Event {
 public:
  Status record(Stream) override {
    time_ = std::chrono::steady_clock::now();
    return {};
  }
  Status wait() override { return {}; }
  std::chrono::steady_clock::time_point time() const { return time_; }

 private:
  std::chrono::steady_clock::time_point time_{};
};

class CpuDevice final : public Device {
 public:
  const DeviceInfo& info() const override { return info_; }

  Result<void*> allocate_own(size_t bytes) override {
    const size_t rounded = (std::max<size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
    void* memory = rounded >= bytes ? std::aligned_alloc(kAlignment, rounded) : nullptr;
    if (!memory)
      return failure(Code::kDevice, "{} bytes of memory could not be allocated; the machine has {}", bytes,
                     info_.memory_bytes);
    const std::lock_guard lock(mutex_);
    allocated_.insert(memory);
    return memory;
  }
  Status free_own(void* memory) override {
    if (!memory) return {};
    const std::lock_guard lock(mutex_);
    if (allocated_.erase(memory) == 0) {
      return bad_input("free of {}, which is not the start of memory of this device, or was freed before", memory);
    }
    std::free(memory);
    return {};
  }
  Status copy_in(void* device, const void* host, size_t bytes) override { return copy(device, host, bytes); }
  Status copy_out(void* host, const void* device, size_t bytes) override { return copy(host, device, bytes); }
  Status fill(void* device, uint8_t value, size_t bytes, Stream) override {
    if (bytes > 0) std::memset(device, value, bytes);
    return {};
  }

  Result<Stream> make_stream() override { return Stream{nullptr}; }
  Status destroy_stream(Stream) override { return {}; }
  Status synchronize(Stream) override { return {}; }
  Result<std::unique_ptr<Event>> make_event() override { return std::unique_ptr<Event>(new ClockEvent); }
  Result<double> elapsed_us(Event& start, Event& stop) override {
    const auto time = static_cast<ClockEvent&>(stop).time() - static_cast<ClockEvent&>(start).time();
    return std::chrono::duration<double, std::micro>(time).count();
  }

  Result<std::shared_ptr<LoadedModule>> load(const compile::Module&) override { return no_kernels("load a module"); }
  Status launch(const Function&, const LaunchShape&, std::span<const std::byte>, Stream) override {
    return no_kernels("launch a kernel");
  }
  Status encode_map(const TensorMapSpec&, void*, std::byte*) override { return no_kernels("encode a tensor map"); }

 private:
  static Status copy(void* to, const void* from, size_t bytes) {
    if (bytes > 0) std::memmove(to, from, bytes);
    return {};
  }
  static Status no_kernels(const char* what) {
    return unsupported(
        "the CPU device cannot {}: it runs convolutions through its provider; use device gpu or sim:TARGET", what);
  }

  DeviceInfo info_ = cpu_device_info();
  std::mutex mutex_;  // of allocated_
  std::unordered_set<void*> allocated_;
};

}  // namespace

DeviceInfo cpu_device_info() {
  DeviceInfo info;
  info.kind = DeviceKind::kCpu;
  info.id = "cpu";
  info.name = cpu_name();
  info.multiprocessors = hardware_threads();
  const long cache = sysconf(_SC_LEVEL2_CACHE_SIZE), pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  info.l2_bytes = cache > 0 ? cache : 0;
  info.memory_bytes = pages > 0 && page > 0 ? static_cast<int64_t>(pages) * page : 0;
  return info;
}

std::shared_ptr<Device> open_cpu_device() { return std::make_shared<CpuDevice>(); }

}  // namespace wt
