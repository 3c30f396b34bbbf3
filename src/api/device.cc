// SPDX-License-Identifier: Apache-2.0
// api/device.cc - devices, memory, streams and events of the C API.
#include "api/guard.h"
#include "api/handles.h"
#include "config/enum_names.h"

using namespace wt;
using namespace wt::api;

namespace {

constexpr size_t kInfoFirstSize = offsetof(wavetile_device_info, memory_bytes) + sizeof(int64_t);

template <size_t kSize>
void copy_text(const std::string& text, char (&out)[kSize]) {
  const size_t length = std::min(text.size(), kSize - 1);
  std::memcpy(out, text.data(), length);
  out[length] = '\0';
}

wavetile_device_kind kind_of(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::kCpu:
      return WAVETILE_DEVICE_CPU;
    case DeviceKind::kCuda:
      return WAVETILE_DEVICE_GPU;
    case DeviceKind::kSim:
      return WAVETILE_DEVICE_SIMULATOR;
    case DeviceKind::kHip:
      return WAVETILE_DEVICE_HIP;
  }
  return WAVETILE_DEVICE_CPU;
}

Status write_info(const DeviceInfo& info, wavetile_device_info* out) {
  wavetile_device_info value{};
  value.kind = kind_of(info.kind);
  copy_text(info.id, value.id);
  copy_text(info.name, value.name);
  if (info.kind != DeviceKind::kCpu) copy_text(std::string(text_of(info.target)), value.target);
  value.multiprocessors = info.multiprocessors;
  value.driver_version = info.driver_version;
  value.shared_bytes_per_block = info.shared_bytes_per_block;
  value.l2_bytes = info.l2_bytes;
  value.memory_bytes = info.memory_bytes;
  return write_struct(value, "wavetile_device_info", kInfoFirstSize, out);
}

}  // namespace

extern "C" {

wavetile_status wavetile_device_open(const char* id, wavetile_device** device) {
  WT_API_REQUIRE(device);
  return guard_making([&]() -> Status {
    WT_TRY_ASSIGN(std::shared_ptr<Device> opened, open_device(id ? id : "auto"));
    *device = new wavetile_device{.device = std::move(opened)};
    return {};
  });
}

void wavetile_device_close(wavetile_device* device) { delete device; }

wavetile_status wavetile_device_list(wavetile_device_info* infos, size_t capacity, size_t* count) {
  WT_API_REQUIRE(count);
  if (capacity > 0) WT_API_REQUIRE(infos);
  return guard_making([&]() -> Status {
    const std::vector<DeviceInfo> devices = list_devices();
    for (size_t i = 0; i < std::min(capacity, devices.size()); ++i) WT_TRY(write_info(devices[i], &infos[i]));
    *count = devices.size();
    return {};
  });
}

wavetile_status wavetile_device_get_info(const wavetile_device* device, wavetile_device_info* info) {
  WT_API_REQUIRE(device);
  WT_API_REQUIRE(info);
  return guard([&] { return write_info(device->device->info(), info); });
}

wavetile_status wavetile_device_allocate(wavetile_device* device, size_t bytes, void** memory) {
  WT_API_REQUIRE(device);
  WT_API_REQUIRE(memory);
  return guard_making([&]() -> Status {
    void* allocated = nullptr;
    if (bytes > 0) {
      WT_TRY_ASSIGN(allocated, device->device->allocate(bytes));
    }
    *memory = allocated;
    return {};
  });
}

wavetile_status wavetile_device_free(wavetile_device* device, void* memory) {
  WT_API_REQUIRE(device);
  return guard_making([&]() -> Status { return memory ? device->device->free(memory) : Status(); });
}

wavetile_status wavetile_device_copy_in(wavetile_device* device, void* device_memory, const void* host, size_t bytes) {
  WT_API_REQUIRE(device);
  if (bytes == 0) return WAVETILE_OK;
  WT_API_REQUIRE(device_memory);
  WT_API_REQUIRE(host);
  return guard([&] { return device->device->copy_in(device_memory, host, bytes); });
}

wavetile_status wavetile_device_copy_out(wavetile_device* device, void* host, const void* device_memory, size_t bytes) {
  WT_API_REQUIRE(device);
  if (bytes == 0) return WAVETILE_OK;
  WT_API_REQUIRE(host);
  WT_API_REQUIRE(device_memory);
  return guard([&] { return device->device->copy_out(host, device_memory, bytes); });
}

wavetile_status wavetile_device_copy_in_async(wavetile_device* device, void* device_memory, const void* host,
                                              size_t bytes, wavetile_stream stream) {
  WT_API_REQUIRE(device);
  if (bytes == 0) return WAVETILE_OK;
  WT_API_REQUIRE(device_memory);
  WT_API_REQUIRE(host);
  return guard([&] { return device->device->copy_in_async(device_memory, host, bytes, stream); });
}

wavetile_status wavetile_device_copy_out_async(wavetile_device* device, void* host, const void* device_memory,
                                               size_t bytes, wavetile_stream stream) {
  WT_API_REQUIRE(device);
  if (bytes == 0) return WAVETILE_OK;
  WT_API_REQUIRE(host);
  WT_API_REQUIRE(device_memory);
  return guard([&] { return device->device->copy_out_async(host, device_memory, bytes, stream); });
}

wavetile_status wavetile_stream_wait(wavetile_device* device, wavetile_stream stream, wavetile_event* event) {
  WT_API_REQUIRE(device);
  WT_API_REQUIRE(event);
  return guard([&]() -> Status {
    if (event->device != device->device && event->device->info().id != device->device->info().id)
      return bad_input("the event belongs to {} and the stream to {}", event->device->info().id,
                       device->device->info().id);
    return device->device->wait_for(stream, *event->event);
  });
}

wavetile_status wavetile_device_fill(wavetile_device* device, void* device_memory, uint8_t value, size_t bytes,
                                     wavetile_stream stream) {
  WT_API_REQUIRE(device);
  if (bytes == 0) return WAVETILE_OK;
  WT_API_REQUIRE(device_memory);
  return guard([&] { return device->device->fill(device_memory, value, bytes, stream); });
}

wavetile_status wavetile_stream_create(wavetile_device* device, wavetile_stream* stream) {
  WT_API_REQUIRE(device);
  WT_API_REQUIRE(stream);
  return guard([&]() -> Status {
    WT_TRY_ASSIGN(*stream, device->device->make_stream());
    return {};
  });
}

wavetile_status wavetile_stream_destroy(wavetile_device* device, wavetile_stream stream) {
  WT_API_REQUIRE(device);
  return guard([&]() -> Status { return stream ? device->device->destroy_stream(stream) : Status(); });
}

wavetile_status wavetile_stream_synchronize(wavetile_device* device, wavetile_stream stream) {
  WT_API_REQUIRE(device);
  return guard([&] { return device->device->synchronize(stream); });
}

wavetile_status wavetile_event_create(wavetile_device* device, wavetile_event** event) {
  WT_API_REQUIRE(device);
  WT_API_REQUIRE(event);
  return guard([&]() -> Status {
    WT_TRY_ASSIGN(std::unique_ptr<Event> made, device->device->make_event());
    *event = new wavetile_event{device->device, std::move(made)};
    return {};
  });
}

void wavetile_event_destroy(wavetile_event* event) { delete event; }

wavetile_status wavetile_event_record(wavetile_event* event, wavetile_stream stream) {
  WT_API_REQUIRE(event);
  return guard([&] { return event->event->record(stream); });
}

wavetile_status wavetile_event_wait(wavetile_event* event) {
  WT_API_REQUIRE(event);
  return guard([&] { return event->event->wait(); });
}

wavetile_status wavetile_event_elapsed(wavetile_event* start, wavetile_event* stop, double* microseconds) {
  WT_API_REQUIRE(start);
  WT_API_REQUIRE(stop);
  WT_API_REQUIRE(microseconds);
  return guard([&]() -> Status {
    if (start->device != stop->device) return bad_input("the two events belong to different devices");
    WT_TRY(stop->event->wait());
    WT_TRY_ASSIGN(*microseconds, start->device->elapsed_us(*start->event, *stop->event));
    return {};
  });
}

}  // extern "C"
