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

class Device;
class Event;

// A stream that belongs to somebody: a Stream of ours, or a CUstream or hipStream_t of the caller's. Empty: the default
// stream. WHY a type of its own: a stream and a workspace are both pointers, and must not be taken for each other.
class StreamRef {
 public:
  StreamRef() = default;
  StreamRef(std::nullptr_t) {}
  explicit StreamRef(wavetile_stream handle) : handle_(handle) {}
  wavetile_stream get() const { return handle_; }

 private:
  wavetile_stream handle_ = nullptr;
};

// A device and its memory. Copies share the device.
class Device {
 public:
  // "auto" (the first GPU, else the CPU), "cpu", "gpu:0" (NVIDIA), "hip:0" (AMD), "sim:sm_90a".
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
  // In the order of the stream; the host's memory must stay until it got there.
  Status copy_in(void* device, const void* host, size_t bytes, StreamRef stream) const {
    return Status::of(wavetile_device_copy_in_async(get(), device, host, bytes, stream.get()));
  }
  Status copy_out(void* host, const void* device, size_t bytes, StreamRef stream) const {
    return Status::of(wavetile_device_copy_out_async(get(), host, device, bytes, stream.get()));
  }
  Status fill(void* device, uint8_t value, size_t bytes, StreamRef stream = {}) const {
    return Status::of(wavetile_device_fill(get(), device, value, bytes, stream.get()));
  }
  Status synchronize(StreamRef stream = {}) const {
    return Status::of(wavetile_stream_synchronize(get(), stream.get()));
  }

  wavetile_device* get() const { return handle_.get(); }

 private:
  explicit Device(wavetile_device* handle) : handle_(handle, wavetile_device_close) {}
  std::shared_ptr<wavetile_device> handle_;
};

// A stream with an owner, which keeps its device open.
class Stream {
 public:
  static Result<Stream> create(const Device& device) {
    wavetile_stream handle = nullptr;
    if (Status status = Status::of(wavetile_stream_create(device.get(), &handle)); !status) return status;
    return Stream(device, handle);
  }
  Stream(Stream&& other) noexcept : device_(other.device_), handle_(std::exchange(other.handle_, nullptr)) {}
  Stream& operator=(Stream&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Stream() {
    if (handle_) wavetile_stream_destroy(device_.get(), handle_);
  }

  operator StreamRef() const { return StreamRef(handle_); }
  wavetile_stream get() const { return handle_; }
  Status synchronize() const { return device_.synchronize(*this); }
  // What is sent here from now on starts when the event has been reached.
  inline Status wait(const Event& event) const;

 private:
  Stream(Device device, wavetile_stream handle) : device_(std::move(device)), handle_(handle) {}
  Device device_;
  wavetile_stream handle_ = nullptr;
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
  Status copy_in(const void* host, StreamRef stream) const {
    return bytes_ ? device_->copy_in(memory_, host, bytes_, stream) : Status();
  }
  Status copy_out(void* host, StreamRef stream) const {
    return bytes_ ? device_->copy_out(host, memory_, bytes_, stream) : Status();
  }
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
  Status record(StreamRef stream = {}) { return Status::of(wavetile_event_record(handle_.get(), stream.get())); }
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
  wavetile_event* get() const { return handle_.get(); }

 private:
  explicit Event(wavetile_event* handle) : handle_(handle) {}
  std::unique_ptr<wavetile_event, detail::End<wavetile_event, wavetile_event_destroy>> handle_;
};

inline Status Stream::wait(const Event& event) const {
  return Status::of(wavetile_stream_wait(device_.get(), handle_, event.get()));
}

}  // namespace wavetile
