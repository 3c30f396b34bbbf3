// SPDX-License-Identifier: Apache-2.0
// runtime/gpu/device.h - the Device interface over a driver's context, as far as CUDA and HIP agree: memory, streams,
// events, graphs and captures.
//
//   CudaDevice (cuda/device.cc), HipDevice (hip/device.cc) add modules, launches and tensor maps
#pragma once

#include <algorithm>

#include "runtime/gpu/context.h"
#include "runtime/gpu/graph.h"

namespace wt::gpu {

template <class Context>
class TimedEvent final : public Event {
 public:
  using Driver = typename Context::Driver;
  TimedEvent(std::shared_ptr<const Context> context, typename Driver::EventHandle event)
      : context_(std::move(context)), event_(event) {}
  ~TimedEvent() override {
    const typename Context::Scope scope(*context_);
    if (scope.status().ok()) context_->driver().event_destroy(event_);
  }
  typename Driver::EventHandle event() const { return event_; }

  Status record(Stream stream) override {
    const typename Context::Scope scope(*context_);
    WT_TRY(scope.status());
    return context_->call(context_->driver().event_record, event_, static_cast<typename Driver::StreamHandle>(stream));
  }
  Status wait() override {
    const typename Context::Scope scope(*context_);
    WT_TRY(scope.status());
    return context_->call(context_->driver().event_synchronize, event_);
  }

 private:
  std::shared_ptr<const Context> context_;
  typename Driver::EventHandle event_;
};

// ContextType: a gpu::Context with a Scope that makes it current on this thread.
template <class ContextType>
class DriverDevice : public Device {
 public:
  using Context = ContextType;
  using Driver = typename Context::Driver;
  using Scope = typename Context::Scope;

  const Context& context() const { return *context_; }
  const DeviceInfo& info() const final { return context_->info(); }

  Result<void*> allocate_own(size_t bytes) final {
    const Scope scope(*context_);
    WT_TRY(scope.status());
    typename Driver::DevicePointer memory{};
    const int code = driver().mem_alloc(&memory, std::max<size_t>(bytes, 1));
    if (code == kOutOfMemory) return out_of_memory(bytes);
    WT_TRY(context_->check(code, driver().mem_alloc));
    return Driver::memory_at(memory);
  }

  Status free_own(void* memory) final {
    if (!memory) return {};
    const Scope scope(*context_);
    WT_TRY(scope.status());
    return context_->call(driver().mem_free, Driver::address_of(memory));
  }

  Status copy_in(void* device, const void* host, size_t bytes) final {
    if (bytes == 0) return {};
    const Scope scope(*context_);
    WT_TRY(scope.status());
    WT_TRY(context_->call(driver().memcpy_htod, Driver::address_of(device), host, bytes));
    // WHY: from pageable memory the call above may return before the data is there, and a stream that does not order
    // itself with the default stream (PyTorch's) could then read it too early.
    return context_->call(driver().stream_synchronize, nullptr);
  }

  Status copy_out(void* host, const void* device, size_t bytes) final {
    if (bytes == 0) return {};
    const Scope scope(*context_);
    WT_TRY(scope.status());
    return context_->call(driver().memcpy_dtoh, host, Driver::address_of(device), bytes);
  }

  Status copy_in_async(void* device, const void* host, size_t bytes, Stream stream) final {
    if (bytes == 0) return {};
    const Scope scope(*context_);
    WT_TRY(scope.status());
    return context_->call(driver().memcpy_htod_async, Driver::address_of(device), host, bytes, handle(stream));
  }

  Status copy_out_async(void* host, const void* device, size_t bytes, Stream stream) final {
    if (bytes == 0) return {};
    const Scope scope(*context_);
    WT_TRY(scope.status());
    return context_->call(driver().memcpy_dtoh_async, host, Driver::address_of(device), bytes, handle(stream));
  }

  Status wait_for(Stream stream, Event& event) final {
    const Scope scope(*context_);
    WT_TRY(scope.status());
    return context_->call(driver().stream_wait_event, handle(stream), static_cast<TimedEvent<Context>&>(event).event(),
                          0u);
  }

  Status fill(void* device, uint8_t value, size_t bytes, Stream stream) final {
    if (bytes == 0) return {};
    const Scope scope(*context_);
    WT_TRY(scope.status());
    return context_->call(driver().memset_d8_async, Driver::address_of(device), value, bytes, handle(stream));
  }

  Result<Stream> make_stream() final {
    const Scope scope(*context_);
    WT_TRY(scope.status());
    typename Driver::StreamHandle stream = nullptr;
    WT_TRY(context_->call(driver().stream_create, &stream, kStreamDefault));
    return static_cast<Stream>(stream);
  }

  Status destroy_stream(Stream stream) final {
    if (!stream) return {};
    const Scope scope(*context_);
    WT_TRY(scope.status());
    return context_->call(driver().stream_destroy, handle(stream));
  }

  Status synchronize(Stream stream) final {
    const Scope scope(*context_);
    WT_TRY(scope.status());
    return context_->call(driver().stream_synchronize, handle(stream));
  }

  Result<std::unique_ptr<Event>> make_event() final {
    const Scope scope(*context_);
    WT_TRY(scope.status());
    typename Driver::EventHandle event = nullptr;
    WT_TRY(context_->call(driver().event_create, &event, kEventDefault));
    return std::unique_ptr<Event>(new TimedEvent<Context>(context_, event));
  }

  Result<double> elapsed_us(Event& start, Event& stop) final {
    const Scope scope(*context_);
    WT_TRY(scope.status());
    float milliseconds = 0;
    const int code = driver().event_elapsed_time(&milliseconds, static_cast<TimedEvent<Context>&>(start).event(),
                                                 static_cast<TimedEvent<Context>&>(stop).event());
    if (code == kNotReady)
      return context_->failed(code, driver().event_elapsed_time,
                              "the stop event has not happened yet: wait() for it first");
    WT_TRY(context_->check(code, driver().event_elapsed_time));
    return static_cast<double>(milliseconds) * 1000;
  }

  Result<std::unique_ptr<Graph>> capture(Stream stream, const std::function<Status()>& body) final {
    const Scope scope(*context_);
    WT_TRY(scope.status());
    return capture_graph(context_, stream, body);
  }

  Result<bool> is_capturing(Stream stream) final {
    const Scope scope(*context_);
    WT_TRY(scope.status());
    // The default stream answers with an error of its own while a stream that orders itself with it captures.
    for (const auto asked : {handle(stream), typename Driver::StreamHandle{}}) {
      int status = kCaptureNone;
      const int code = driver().stream_is_capturing(asked, &status);
      if (code == kStreamCaptureImplicit) return true;
      WT_TRY(context_->check(code, driver().stream_is_capturing));
      if (status != kCaptureNone) return true;
    }
    return false;
  }

  std::shared_ptr<void> shield_captures() final {
    int mode = kCaptureRelaxed;
    if (driver().thread_exchange_capture_mode(&mode) != kSuccess) return nullptr;
    return std::shared_ptr<void>(
        nullptr, [context = context_, mode](void*) mutable { context->driver().thread_exchange_capture_mode(&mode); });
  }

 protected:
  explicit DriverDevice(std::shared_ptr<const Context> context) : context_(std::move(context)) {}

  const Driver& driver() const { return context_->driver(); }
  static typename Driver::StreamHandle handle(Stream stream) {
    return static_cast<typename Driver::StreamHandle>(stream);
  }

  std::shared_ptr<const Context> context_;

 private:
  Status out_of_memory(size_t bytes) const {
    const auto gibibytes = [](size_t count) { return static_cast<double>(count) / (1 << 30); };
    size_t free = 0, total = 0;
    WT_TRY(context_->call(driver().mem_get_info, &free, &total));
    return context_->failed(kOutOfMemory, driver().mem_alloc,
                            fmt::format("asked for {} bytes ({:.2f} GiB) with {:.2f} of {:.2f} GiB free; use a "
                                        "smaller problem or workspace, or free memory of this or another process",
                                        bytes, gibibytes(bytes), gibibytes(free), gibibytes(total)));
  }
};

}  // namespace wt::gpu
