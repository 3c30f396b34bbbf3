// SPDX-License-Identifier: Apache-2.0
// wavetile/device.hpp - devices, their memory and their events.
#pragma once

#include <wavetile/enums.hpp>
#include <wavetile/status.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace wavetile {

// A device and its memory. Copies share the device.
class Device {
 public:
  // "auto" (the first GPU, else the CPU), "cpu", "gpu:0", "sim:sm_90a".
  static Result<Device> open(const std::string& id = "auto") {
    wavetile_device* handle = nullptr;
    if (Status status = Status::of(wavetile_device_open(id.c_str(), &handle)); !status) return status;
    return Device(handle);
  }

  static Result<std::vector<DeviceInfo>> list() {
    size_t count = 0;
    if (Status status = Status::of(wavetile_device_list(nullptr, 0, &count)); !status) return status;
    std::vector<DeviceInfo> infos(count, detail::sized<DeviceInfo>());
    if (Status status = Status::of(wavetile_device_list(infos.data(), infos.size(), &count)); !status) return status;
    if (count < infos.size()) infos.resize(count);
    return infos;
  }

  DeviceInfo info() const {
    auto info = detail::sized<DeviceInfo>();
    wavetile_device_get_info(get(), &info);
    return info;
  }

  Status copy_in(void* device, const void* host, size_t bytes) const {
    return Status::of(wavetile_device_copy_in(get(), device, host, bytes));
  }
  Status copy_out(void* host, const void* device, size_t bytes) const {
    return Status::of(wavetile_device_copy_out(get(), host, device, bytes));
  }
  Status fill(void* device, uint8_t value, size_t bytes, Stream stream = nullptr) const {
    return Status::of(wavetile_device_fill(get(), device, value, bytes, stream));
  }
  Result<Stream> make_stream() const {
    Stream stream = nullptr;
    if (Status status = Status::of(wavetile_stream_create(get(), &stream)); !status) return status;
    return stream;
  }
  Status destroy_stream(Stream stream) const { return Status::of(wavetile_stream_destroy(get(), stream)); }
  Status synchronize(Stream stream = nullptr) const { return Status::of(wavetile_stream_synchronize(get(), stream)); }

  wavetile_device* get() const { return handle_.get(); }

 private:
  explicit Device(wavetile_device* handle) : handle_(handle, wavetile_device_close) {}
  std::shared_ptr<wavetile_device> handle_;
};

// Device memory with an owner.
class Buffer {
 public:
  Buffer() = default;

  static Result<Buffer> allocate(const Device& device, size_t bytes) {
    void* memory = nullptr;
    if (Status status = Status::of(wavetile_device_allocate(device.get(), bytes, &memory)); !status) return status;
    return Buffer(device, memory, bytes);
  }
  // Allocates and copies in.
  static Result<Buffer> from(const Device& device, const void* host, size_t bytes) {
    Result<Buffer> buffer = allocate(device, bytes);
    if (!buffer) return buffer;
    if (Status status = device.copy_in(buffer->data(), host, bytes); !status) return status;
    return buffer;
  }

  Buffer(Buffer&& other) noexcept
      : device_(std::move(other.device_)),
        memory_(std::exchange(other.memory_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    if (this != &other) {
      release();
      device_ = std::move(other.device_);
      memory_ = std::exchange(other.memory_, nullptr);
      bytes_ = std::exchange(other.bytes_, 0);
    }
    return *this;
  }
  ~Buffer() { release(); }

  void* data() const { return memory_; }
  size_t size() const { return bytes_; }
  Status copy_in(const void* host) const { return bytes_ ? device_->copy_in(memory_, host, bytes_) : Status(); }
  Status copy_out(void* host) const { return bytes_ ? device_->copy_out(host, memory_, bytes_) : Status(); }

 private:
  Buffer(Device device, void* memory, size_t bytes) : device_(std::move(device)), memory_(memory), bytes_(bytes) {}
  void release() {
    if (memory_) wavetile_device_free(device_->get(), memory_);
  }

  std::optional<Device> device_;
  void* memory_ = nullptr;
  size_t bytes_ = 0;
};

// A point in a stream; two of them time what lies between.
class Event {
 public:
  static Result<Event> create(const Device& device) {
    wavetile_event* handle = nullptr;
    if (Status status = Status::of(wavetile_event_create(device.get(), &handle)); !status) return status;
    return Event(handle);
  }
  Status record(Stream stream = nullptr) { return Status::of(wavetile_event_record(handle_.get(), stream)); }
  Status wait() { return Status::of(wavetile_event_wait(handle_.get())); }
  // Microseconds since `start`; waits for this event.
  Result<double> since(const Event& start) {
    double microseconds = 0;
    if (Status status = Status::of(wavetile_event_elapsed(start.handle_.get(), handle_.get(), &microseconds));
        !status) {
      return status;
    }
    return microseconds;
  }

 private:
  explicit Event(wavetile_event* handle) : handle_(handle) {}
  std::unique_ptr<wavetile_event, detail::End<wavetile_event, wavetile_event_destroy>> handle_;
};

}  // namespace wavetile
