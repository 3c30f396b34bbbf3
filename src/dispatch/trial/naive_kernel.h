// SPDX-License-Identifier: Apache-2.0
// dispatch/trial/naive_kernel.h - the slow, plain kernels that verification computes references with, on any device.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "base/log.h"
#include "compile/compiler.h"
#include "config/enum_names.h"
#include "kernels/naive/device/arguments.h"
#include "problem/enums.h"
#include "runtime/device.h"

namespace wt {

// kBf16, as device code spells it.
template <class Enum>
std::string_view enumerator(Enum value) {
  return enum_table<Enum>().names[static_cast<size_t>(value)].cpp;
}

// The source of `kernel`, a class of kernels/naive/device/`header`, as the entry `name`.
compile::Source naive_source(Target target, const std::string& name, const char* header, const std::string& kernel);

// One of the verification kernels on a device.
class NaiveKernel {
 public:
  static Result<NaiveKernel> make(Device& device, const compile::Source& source);

  // Threads stride over `jobs`; the grid is one that keeps a GPU busy.
  template <class Params>
  Status launch(Device& device, const Params& params, int64_t jobs) const {
    const int64_t blocks = (jobs + naive::kThreads - 1) / naive::kThreads;
    const int64_t most = std::max<int64_t>(1, int64_t{device.info().multiprocessors} * 32);
    const LaunchShape shape{.grid = {static_cast<uint32_t>(std::clamp<int64_t>(blocks, 1, most)), 1, 1},
                            .threads = naive::kThreads};
    return device.launch(*function_, shape, std::as_bytes(std::span(&params, 1)), nullptr);
  }

 private:
  std::shared_ptr<LoadedModule> module_;
  const Function* function_ = nullptr;
};

// Memory of a device that goes away with the object.
class DeviceBuffer {
 public:
  static Result<DeviceBuffer> make(std::shared_ptr<Device> device, size_t bytes) {
    DeviceBuffer buffer;
    WT_TRY_ASSIGN(buffer.memory_, device->allocate(std::max<size_t>(bytes, 1)));
    buffer.device_ = std::move(device);
    return buffer;
  }
  DeviceBuffer() = default;
  DeviceBuffer(DeviceBuffer&& other) noexcept { *this = std::move(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(device_, other.device_);
    return *this;
  }
  ~DeviceBuffer() {
    if (!memory_) return;
    if (const Status status = device_->free(memory_); !status.ok()) log::warn("{}", status.message());
  }
  template <class T>
  T* as() const {
    return static_cast<T*>(memory_);
  }

 private:
  std::shared_ptr<Device> device_;
  void* memory_ = nullptr;
};

}  // namespace wt
