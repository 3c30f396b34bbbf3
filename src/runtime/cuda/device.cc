// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/device.cc - the Device interface over one CUDA context.
#include "runtime/cuda/device.h"

#include <algorithm>

#include "runtime/cuda/context.h"
#include "runtime/cuda/graph.h"
#include "runtime/cuda/module.h"
#include "runtime/cuda/tensor_map.h"

namespace wt {
namespace cuda {
namespace {

DevicePointer address(const void* memory) { return reinterpret_cast<uintptr_t>(memory); }
StreamHandle handle(Stream stream) { return static_cast<StreamHandle>(stream); }
double gibibytes(size_t bytes) { return static_cast<double>(bytes) / (1 << 30); }

class TimedEvent final : public Event {
 public:
  TimedEvent(std::shared_ptr<const Context> context, EventHandle event) : context_(std::move(context)), event_(event) {}
  ~TimedEvent() override {
    Scope scope(*context_);
    if (scope.status().ok()) context_->driver().event_destroy(event_);
  }
  EventHandle event() const { return event_; }

  Status record(Stream stream) override {
    Scope scope(*context_);
    WT_TRY(scope.status());
    return context_->check(context_->driver().event_record(event_, handle(stream)), "cuEventRecord");
  }
  Status wait() override {
    Scope scope(*context_);
    WT_TRY(scope.status());
    return context_->check(context_->driver().event_synchronize(event_), "cuEventSynchronize");
  }

 private:
  std::shared_ptr<const Context> context_;
  EventHandle event_;
};

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(std::shared_ptr<const Context> context) : context_(std::move(context)) {}
  const Context& context() const { return *context_; }
  const DeviceInfo& info() const override { return context_->info(); }

  Result<void*> allocate(size_t bytes) override {
    Scope scope(*context_);
    WT_TRY(scope.status());
    DevicePointer memory = 0;
    const int code = driver().mem_alloc(&memory, std::max<size_t>(bytes, 1));
    if (code == kOutOfMemory) {
      size_t free = 0, total = 0;
      WT_TRY(context_->check(driver().mem_get_info(&free, &total), "cuMemGetInfo_v2"));
      return context_->failed(code, "cuMemAlloc_v2",
                              fmt::format("asked for {} bytes ({:.2f} GiB) with {:.2f} of {:.2f} GiB free; use a "
                                          "smaller problem or workspace, or free memory of this or another process",
                                          bytes, gibibytes(bytes), gibibytes(free), gibibytes(total)));
    }
    WT_TRY(context_->check(code, "cuMemAlloc_v2"));
    return reinterpret_cast<void*>(static_cast<uintptr_t>(memory));
  }

  Status free(void* memory) override {
    if (!memory) return {};
    Scope scope(*context_);
    WT_TRY(scope.status());
    return context_->check(driver().mem_free(address(memory)), "cuMemFree_v2");
  }

  Status copy_in(void* device, const void* host, size_t bytes) override {
    if (bytes == 0) return {};
    Scope scope(*context_);
    WT_TRY(scope.status());
    WT_TRY(context_->check(driver().memcpy_htod(address(device), host, bytes), "cuMemcpyHtoD_v2"));
    // WHY: from pageable memory the call above may return before the data is there, and a stream that does not order
    // itself with the default stream (PyTorch's) could then read it too early.
    return context_->check(driver().stream_synchronize(nullptr), "cuStreamSynchronize");
  }

  Status copy_out(void* host, const void* device, size_t bytes) override {
    if (bytes == 0) return {};
    Scope scope(*context_);
    WT_TRY(scope.status());
    return context_->check(driver().memcpy_dtoh(host, address(device), bytes), "cuMemcpyDtoH_v2");
  }

  Status fill(void* device, uint8_t value, size_t bytes, Stream stream) override {
    if (bytes == 0) return {};
    Scope scope(*context_);
    WT_TRY(scope.status());
    return context_->check(driver().memset_d8_async(address(device), value, bytes, handle(stream)), "cuMemsetD8Async");
  }

  Result<Stream> make_stream() override {
    Scope scope(*context_);
    WT_TRY(scope.status());
    StreamHandle stream = nullptr;
    WT_TRY(context_->check(driver().stream_create(&stream, kStreamDefault), "cuStreamCreate"));
    return static_cast<Stream>(stream);
  }

  Status destroy_stream(Stream stream) override {
    if (!stream) return {};
    Scope scope(*context_);
    WT_TRY(scope.status());
    return context_->check(driver().stream_destroy(handle(stream)), "cuStreamDestroy_v2");
  }

  Status synchronize(Stream stream) override {
    Scope scope(*context_);
    WT_TRY(scope.status());
    return context_->check(driver().stream_synchronize(handle(stream)), "cuStreamSynchronize");
  }

  Result<std::unique_ptr<Event>> make_event() override {
    Scope scope(*context_);
    WT_TRY(scope.status());
    EventHandle event = nullptr;
    WT_TRY(context_->check(driver().event_create(&event, kEventDefault), "cuEventCreate"));
    return std::unique_ptr<Event>(new TimedEvent(context_, event));
  }

  Result<double> elapsed_us(Event& start, Event& stop) override {
    Scope scope(*context_);
    WT_TRY(scope.status());
    float milliseconds = 0;
    const int code = driver().event_elapsed_time(&milliseconds, static_cast<TimedEvent&>(start).event(),
                                                 static_cast<TimedEvent&>(stop).event());
    if (code == kNotReady)
      return context_->failed(code, "cuEventElapsedTime", "the stop event has not happened yet: wait() for it first");
    WT_TRY(context_->check(code, "cuEventElapsedTime"));
    return static_cast<double>(milliseconds) * 1000;
  }

  Result<std::shared_ptr<LoadedModule>> load(const compile::Module& module) override {
    Scope scope(*context_);
    WT_TRY(scope.status());
    const std::shared_ptr<void> shield = shield_captures();  // a plan may be made while another stream captures
    return CubinModule::load(context_, module);
  }

  Status launch(const Function& function, const LaunchShape& shape, std::span<const std::byte> params,
                Stream stream) override {
    Scope scope(*context_);
    WT_TRY(scope.status());
    return launch_kernel(*context_, unwrap(function), shape, params, stream);
  }

  Result<int64_t> resident_blocks(const Function& function, const LaunchShape& shape) override {
    Scope scope(*context_);
    WT_TRY(scope.status());
    return cuda::resident_blocks(*context_, unwrap(function), shape);
  }

  Result<std::unique_ptr<Graph>> capture(Stream stream, const std::function<Status()>& body) override {
    Scope scope(*context_);
    WT_TRY(scope.status());
    return capture_graph(context_, stream, body);
  }

  Result<bool> is_capturing(Stream stream) override {
    Scope scope(*context_);
    WT_TRY(scope.status());
    // The default stream answers with an error of its own while a stream that orders itself with it captures.
    for (const StreamHandle asked : {handle(stream), StreamHandle{}}) {
      int status = kCaptureNone;
      const int code = driver().stream_is_capturing(asked, &status);
      if (code == kStreamCaptureImplicit) return true;
      WT_TRY(context_->check(code, "cuStreamIsCapturing"));
      if (status != kCaptureNone) return true;
    }
    return false;
  }

  std::shared_ptr<void> shield_captures() override {
    int mode = kCaptureRelaxed;
    if (driver().thread_exchange_capture_mode(&mode) != kSuccess) return nullptr;
    return std::shared_ptr<void>(
        nullptr, [context = context_, mode](void*) mutable { context->driver().thread_exchange_capture_mode(&mode); });
  }

  Status encode_map(const TensorMapSpec& spec, void* base, std::byte* map) override {
    Scope scope(*context_);
    WT_TRY(scope.status());
    return encode_tensor_map(*context_, spec, base, map);
  }

 private:
  const Driver& driver() const { return context_->driver(); }
  std::shared_ptr<const Context> context_;
};

}  // namespace
}  // namespace cuda

struct CurrentContext::Impl {
  explicit Impl(const cuda::Context& context) : scope(context) {}
  cuda::Scope scope;
};

CurrentContext::CurrentContext(const Device& device) {
  WT_CHECK(device.info().kind == DeviceKind::kCuda, "{} has no CUDA context", device.info().id);
  impl_ = std::make_unique<Impl>(static_cast<const cuda::CudaDevice&>(device).context());
  status_ = impl_->scope.status();
}

CurrentContext::~CurrentContext() = default;

Result<std::shared_ptr<Device>> open_cuda_device(int index) {
  WT_TRY_ASSIGN(std::shared_ptr<cuda::Context> context, cuda::Context::retain(index));
  return std::shared_ptr<Device>(new cuda::CudaDevice(std::move(context)));
}

std::vector<DeviceInfo> list_cuda_devices(std::vector<std::string>* refused) {
  std::vector<DeviceInfo> found;
  const auto refuse = [&](const Status& status) {
    if (refused) refused->push_back(status.message());
  };
  auto driver = cuda::load_driver();
  if (!driver.ok()) return refuse(driver.status()), found;
  if (Status status = driver.value()->initialize(); !status.ok()) return refuse(status), found;
  int count = 0;
  if (int code = driver.value()->device_get_count(&count))
    return refuse(failure(Code::kDevice, "cuDeviceGetCount failed: {}", driver.value()->describe(code))), found;
  for (int index = 0; index < count; ++index) {
    auto info = cuda::describe_device(*driver.value(), index);
    if (info.ok())
      found.push_back(std::move(info).value());
    else
      refuse(info.status());
  }
  return found;
}

}  // namespace wt
