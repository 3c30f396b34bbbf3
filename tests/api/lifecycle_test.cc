// SPDX-License-Identifier: Apache-2.0
// Devices, memory, streams, events, versions, and handles that end in any order.
#include <cstring>
#include <vector>

#include "handles.h"

using namespace wavetile_test;

TEST(Version, HeaderAndLibraryAgree) {
  EXPECT_EQ(wavetile_version(), WAVETILE_VERSION);
  const std::string expected = std::to_string(WAVETILE_VERSION_MAJOR) + "." + std::to_string(WAVETILE_VERSION_MINOR) +
                               "." + std::to_string(WAVETILE_VERSION_PATCH);
  EXPECT_EQ(wavetile_version_string(), expected);
}

TEST(Status, EveryNumberHasItsOwnName) {
  std::vector<std::string> names;
  for (int i = WAVETILE_OK; i <= WAVETILE_INTERNAL_ERROR; ++i) {
    names.emplace_back(wavetile_status_name(static_cast<wavetile_status>(i)));
  }
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_NE(names[i], "unknown status");
    for (size_t j = 0; j < i; ++j) EXPECT_NE(names[i], names[j]);
  }
  EXPECT_STREQ(wavetile_status_name(static_cast<wavetile_status>(9)), "unknown status");
}

TEST(Device, ListHoldsTheCpuAndEveryListedIdOpens) {
  size_t count = 0;
  ASSERT_TRUE(succeeded(wavetile_device_list(nullptr, 0, &count)));
  ASSERT_GE(count, 1u);
  std::vector<wavetile_device_info> infos(count, sized<wavetile_device_info>());
  ASSERT_TRUE(succeeded(wavetile_device_list(infos.data(), infos.size(), &count)));
  bool cpu = false;
  for (const wavetile_device_info& info : infos) {
    cpu = cpu || (info.kind == WAVETILE_DEVICE_CPU && std::strcmp(info.id, "cpu") == 0);
    EXPECT_NE(info.name[0], '\0');
    EXPECT_EQ(info.target[0] == '\0', info.kind == WAVETILE_DEVICE_CPU) << info.id;
    const Device device = open_device(info.id);
    ASSERT_TRUE(device);
    auto opened = sized<wavetile_device_info>();
    ASSERT_TRUE(succeeded(wavetile_device_get_info(device.get(), &opened)));
    EXPECT_STREQ(opened.id, info.id);
  }
  EXPECT_TRUE(cpu);
}

TEST(Device, NullIdMeansAuto) {
  wavetile_device* device = nullptr;
  ASSERT_TRUE(succeeded(wavetile_device_open(nullptr, &device)));
  auto info = sized<wavetile_device_info>();
  EXPECT_TRUE(succeeded(wavetile_device_get_info(device, &info)));
  EXPECT_TRUE(info.kind == WAVETILE_DEVICE_CPU || info.kind == WAVETILE_DEVICE_GPU);
  wavetile_device_close(device);
}

TEST(Device, MemoryCopiesAndFills) {
  const Device device = open_device();
  std::vector<uint8_t> in(1000), out(1000);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint8_t>(i * 7);
  void* memory = nullptr;
  ASSERT_TRUE(succeeded(wavetile_device_allocate(device.get(), in.size(), &memory)));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 256, 0u);
  ASSERT_TRUE(succeeded(wavetile_device_copy_in(device.get(), memory, in.data(), in.size())));
  ASSERT_TRUE(succeeded(wavetile_device_fill(device.get(), static_cast<uint8_t*>(memory) + 10, 0xab, 5, nullptr)));
  ASSERT_TRUE(succeeded(wavetile_stream_synchronize(device.get(), nullptr)));
  ASSERT_TRUE(succeeded(wavetile_device_copy_out(device.get(), out.data(), memory, out.size())));
  std::fill_n(in.begin() + 10, 5, 0xab);
  EXPECT_EQ(in, out);
  EXPECT_TRUE(succeeded(wavetile_device_free(device.get(), memory)));
}

TEST(Device, NothingIsAValidAmountOfMemory) {
  const Device device = open_device();
  void* memory = &memory;
  ASSERT_TRUE(succeeded(wavetile_device_allocate(device.get(), 0, &memory)));
  EXPECT_TRUE(succeeded(wavetile_device_copy_in(device.get(), memory, nullptr, 0)));
  EXPECT_TRUE(succeeded(wavetile_device_free(device.get(), memory)));
  EXPECT_TRUE(succeeded(wavetile_device_free(device.get(), nullptr)));
}

TEST(Device, StreamsAndEventsMeasureTime) {
  const Device device = open_device();
  wavetile_stream stream = nullptr;
  ASSERT_TRUE(succeeded(wavetile_stream_create(device.get(), &stream)));
  wavetile_event* start = nullptr;
  wavetile_event* stop = nullptr;
  ASSERT_TRUE(succeeded(wavetile_event_create(device.get(), &start)));
  ASSERT_TRUE(succeeded(wavetile_event_create(device.get(), &stop)));
  ASSERT_TRUE(succeeded(wavetile_event_record(start, stream)));
  ASSERT_TRUE(succeeded(wavetile_event_record(stop, stream)));
  ASSERT_TRUE(succeeded(wavetile_event_wait(stop)));
  double microseconds = -1;
  ASSERT_TRUE(succeeded(wavetile_event_elapsed(start, stop, &microseconds)));
  EXPECT_GE(microseconds, 0);
  wavetile_event_destroy(start);
  wavetile_event_destroy(stop);
  EXPECT_TRUE(succeeded(wavetile_stream_destroy(device.get(), stream)));
}

TEST(Handles, EndingNullDoesNothing) {
  wavetile_device_close(nullptr);
  wavetile_problem_destroy(nullptr);
  wavetile_plan_destroy(nullptr);
  wavetile_event_destroy(nullptr);
  wavetile_string_free(nullptr);
  wavetile_problem_desc_init(nullptr);
  wavetile_plan_options_init(nullptr);
  wavetile_tensors_init(nullptr);
  wavetile_verify_options_init(nullptr);
}

TEST(Handles, APlanOutlivesItsDeviceAndProblem) {
  Device device = open_device();
  Problem problem = parse("fwd fp32 n1 c4 k8 i5x5 f3x3 p1");
  const Plan plan = make_plan(device, problem);
  ASSERT_TRUE(plan);
  device.reset();
  problem.reset();
  EXPECT_TRUE(succeeded(wavetile_plan_verify(plan.get(), 3, nullptr, nullptr)));
}

TEST(Handles, AnEventOutlivesItsDevice) {
  Device device = open_device();
  wavetile_event* event = nullptr;
  ASSERT_TRUE(succeeded(wavetile_event_create(device.get(), &event)));
  device.reset();
  EXPECT_TRUE(succeeded(wavetile_event_record(event, nullptr)));
  EXPECT_TRUE(succeeded(wavetile_event_wait(event)));
  wavetile_event_destroy(event);
}
