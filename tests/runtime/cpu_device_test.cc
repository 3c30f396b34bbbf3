// SPDX-License-Identifier: Apache-2.0
// tests/runtime/cpu_device_test.cc - the CPU as a device, and what open_device says to unknown names.
#include <gtest/gtest.h>

#include <cstring>

#include "compile/compiler.h"
#include "runtime/device.h"

namespace wt {
namespace {

std::shared_ptr<Device> cpu() { return *open_device("cpu"); }

TEST(CpuDevice, DescribesItself) {
  const std::shared_ptr<Device> device = cpu();
  EXPECT_EQ(device->info().kind, DeviceKind::kCpu);
  EXPECT_EQ(device->info().id, "cpu");
  EXPECT_GE(device->info().multiprocessors, 1);
  EXPECT_GT(device->info().memory_bytes, 0);
}

TEST(CpuDevice, MemoryIsAlignedAndCopies) {
  const std::shared_ptr<Device> device = cpu();
  const std::string text = "convolution";
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{257}, size_t{1} << 20}) {
    Result<void*> memory = device->allocate(bytes);
    ASSERT_TRUE(memory.ok());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(*memory) % 256, 0u);
    EXPECT_TRUE(device->free(*memory).ok());
  }
  Result<void*> memory = device->allocate(text.size());
  ASSERT_TRUE(memory.ok());
  ASSERT_TRUE(device->copy_in(*memory, text.data(), text.size()).ok());
  std::string back(text.size(), ' ');
  ASSERT_TRUE(device->copy_out(back.data(), *memory, back.size()).ok());
  EXPECT_EQ(back, text);
  ASSERT_TRUE(device->fill(*memory, 'x', text.size(), nullptr).ok());
  EXPECT_EQ(std::memcmp(*memory, "xxxxxxxxxxx", text.size()), 0);
  EXPECT_TRUE(device->free(*memory).ok());
}

TEST(CpuDevice, TooMuchMemoryIsAFailureWithTheSize) {
  const Result<void*> memory = cpu()->allocate(~size_t{0} - 10);
  ASSERT_FALSE(memory.ok());
  EXPECT_EQ(memory.status().code(), Code::kDevice);
  EXPECT_NE(memory.status().message().find("18446744073709551605 bytes"), std::string::npos);
}

TEST(CpuDevice, EventsFollowTheClock) {
  const std::shared_ptr<Device> device = cpu();
  auto start = std::move(*device->make_event()), stop = std::move(*device->make_event());
  ASSERT_TRUE(start->record(nullptr).ok());
  ASSERT_TRUE(stop->record(nullptr).ok());
  ASSERT_TRUE(stop->wait().ok());
  EXPECT_GE(*device->elapsed_us(*start, *stop), 0);
}

TEST(CpuDevice, HasNoKernels) {
  std::byte map[128];
  const Status status = cpu()->encode_map({}, nullptr, map);
  EXPECT_EQ(status.code(), Code::kUnsupported);
  EXPECT_NE(status.message().find("use device gpu or sim:TARGET"), std::string::npos);
}

TEST(OpenDevice, RefusesUnknownNames) {
  const std::pair<const char*, const char*> faults[] = {
      {"tpu", "device 'tpu' is unknown; use cpu, gpu"}, {"", "device '' is unknown"},
      {"gpu:x", "'x' is not the index of a GPU"},       {"gpu:-1", "'-1' is not the index of a GPU"},
      {"gpu:", "'' is not the index of a GPU"},
  };
  for (const auto& [id, message] : faults) {
    const auto device = open_device(id);
    ASSERT_FALSE(device.ok()) << id;
    EXPECT_EQ(device.status().code(), Code::kBadInput);
    EXPECT_NE(device.status().message().find(message), std::string::npos) << device.status().message();
  }
  EXPECT_FALSE(open_device("sim:sm_1").ok());
}

TEST(OpenDevice, ListsTheCpuFirst) {
  const std::vector<DeviceInfo> devices = list_devices();
  ASSERT_FALSE(devices.empty());
  EXPECT_EQ(devices[0].id, "cpu");
}

}  // namespace
}  // namespace wt
