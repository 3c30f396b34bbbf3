// SPDX-License-Identifier: Apache-2.0
// tests/runtime/hip_device_test.cc - what the HIP device asks of HIP.
#include <gmock/gmock.h>

#include <array>
#include <cstring>

#include "config/targets.h"
#include "tests/fake_driver/fake_gpu.h"
#include "tests/places.h"

namespace wt {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using HipDevice = FakeAmdGpu;

TEST_F(HipDevice, InfoComesFromHip) {
  auto device = open();
  ASSERT_TRUE(device);
  const DeviceInfo& info = device->info();
  EXPECT_EQ(info.kind, DeviceKind::kHip);
  EXPECT_EQ(info.id, "hip:0");
  EXPECT_EQ(info.name, "Fake MI300X");
  EXPECT_EQ(info.architecture, "gfx942") << "without the features that follow it";
  EXPECT_EQ(info.target, Target::kGfx942);
  EXPECT_EQ(info.multiprocessors, 304);
  EXPECT_EQ(info.l2_bytes, 8 * (4 << 20)) << "of eight chiplets";
  EXPECT_EQ(info.shared_bytes_per_block, 65536);
  EXPECT_EQ(info.memory_bytes, 1 << 30);
  EXPECT_EQ(info.driver_version, 6040);
}

TEST_F(HipDevice, TheArchitecturePicksTheTarget) {
  const std::pair<const char*, Target> cases[] = {{"gfx90a:sramecc+:xnack-", Target::kGfx90a},
                                                  {"gfx942:sramecc+:xnack+", Target::kGfx942},
                                                  {"gfx950:sramecc+:xnack-", Target::kGfx950},
                                                  {"gfx1100", Target::kGfx1100},
                                                  {"gfx1101", Target::kGfx11Generic},
                                                  {"gfx1102", Target::kGfx11Generic},
                                                  {"gfx1151", Target::kGfx11Generic},
                                                  {"gfx1200", Target::kGfx12Generic},
                                                  {"gfx1201", Target::kGfx1201}};
  for (const auto& [architecture, target] : cases) {
    fake_set_hip_device(1, "GPU", architecture);
    auto device = open();
    ASSERT_TRUE(device);
    EXPECT_EQ(device->info().target, target) << architecture;
  }
}

// HIP 5 has another hipDeviceProp_t, whose text lies elsewhere, and only the old name of the call.
TEST_F(HipDevice, BothLayoutsOfThePropertiesAreRead) {
  fake_set_hip_device(1, "GPU", "gfx90a:sramecc+:xnack-");
  auto newer = open();
  ASSERT_TRUE(newer);
  EXPECT_EQ(fake_calls("hipGetDevicePropertiesR0600"), 1);
  EXPECT_EQ(fake_calls("hipGetDeviceProperties"), 0);
  ::setenv("WAVETILE_HIP_DRIVER", places::kFakeHip5, 1);
  auto older = open();
  ASSERT_TRUE(older);
  EXPECT_EQ(fake_calls("hipGetDeviceProperties"), 1);
  EXPECT_EQ(older->info().target, Target::kGfx90a);
  EXPECT_EQ(older->info().driver_version, 5020);
}

TEST_F(HipDevice, AGpuWithoutANameIsCalledByItsArchitecture) {
  fake_set_hip_device(1, "", "gfx1103");
  auto device = open();
  ASSERT_TRUE(device);
  EXPECT_EQ(device->info().name, "AMD gfx1103");
}

TEST_F(HipDevice, IdsAndAuto) {
  ::setenv("WAVETILE_CUDA_DRIVER", places::kFakeCuda, 1);
  fake_set_device(0, 9, 0);
  fake_set_hip_device(2, "Fake MI300X", "gfx942");
  for (const auto& [written, id] :
       {std::pair("auto", "hip:0"), {"hip", "hip:0"}, {"hip:0", "hip:0"}, {"hip:1", "hip:1"}}) {
    auto device = open_device(written);
    ASSERT_TRUE(device.ok()) << written << ": " << device.status().message();
    EXPECT_EQ((*device)->info().id, id);
  }
  fake_set_device(1, 9, 0);
  EXPECT_EQ((*open_device("auto"))->info().id, "gpu:0") << "the first GPU of NVIDIA comes before those of AMD";
  std::vector<std::string> ids;
  for (const DeviceInfo& info : list_devices()) ids.push_back(info.id);
  EXPECT_EQ(std::vector(ids.begin(), ids.begin() + 4), (std::vector<std::string>{"cpu", "gpu:0", "hip:0", "hip:1"}));
  const Result<std::shared_ptr<Device>> odd = open_device("hip:x");
  ASSERT_FALSE(odd.ok());
  EXPECT_THAT(odd.status().message(), AllOf(HasSubstr("'x' is not the index"), HasSubstr("use hip:0, hip:1")));
  EXPECT_FALSE(open_device("hip:").ok());
  EXPECT_FALSE(open_device("hipster").ok());
  ::unsetenv("WAVETILE_CUDA_DRIVER");
}

TEST_F(HipDevice, CopiesAndFills) {
  auto device = open();
  auto memory = device->allocate(1000);
  ASSERT_TRUE(memory.ok());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(*memory) % 256, 0u);
  std::array<unsigned char, 1000> in, out{};
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<unsigned char>(i * 7);
  ASSERT_TRUE(device->copy_in(*memory, in.data(), in.size()).ok());
  ASSERT_TRUE(device->copy_out(out.data(), *memory, out.size()).ok());
  EXPECT_EQ(in, out);
  ASSERT_TRUE(device->fill(*memory, 0xab, 500, nullptr).ok());
  ASSERT_TRUE(device->copy_out(out.data(), *memory, out.size()).ok());
  EXPECT_EQ(out[499], 0xab);
  EXPECT_EQ(out[500], in[500]);
  EXPECT_TRUE(device->free(*memory).ok());
  auto empty = device->allocate(0);
  ASSERT_TRUE(empty.ok());
  EXPECT_NE(*empty, nullptr) << "hipMalloc of nothing gives nothing";
  EXPECT_TRUE(device->free(*empty).ok());
  EXPECT_EQ(fake_live_allocations(), 0);
}

TEST_F(HipDevice, EverythingIsGivenBack) {
  {
    auto device = open();
    auto module = device->load(module_with("kernel_a"));
    auto event = device->make_event();
    ASSERT_TRUE(module.ok() && event.ok());
    device.reset();  // modules and events outlive the device that made them
    EXPECT_TRUE((*module)->find("kernel_a").ok());
  }
  EXPECT_EQ(fake_live_modules(), 0);
  EXPECT_EQ(fake_live_events(), 0);
}

TEST_F(HipDevice, LaunchCarriesShapeAndParameters) {
  auto device = open();
  auto module = device->load(module_with("kernel_a kernel_b"));
  auto function = (*module)->find("kernel_b");
  ASSERT_TRUE(function.ok());
  std::vector<std::byte> params(200);
  for (size_t i = 0; i < params.size(); ++i) params[i] = static_cast<std::byte>(i);
  Stream stream = *device->make_stream();
  const LaunchShape shape{.grid = {8, 4, 3}, .threads = 256, .shared_bytes = 60000, .programmatic = true};
  ASSERT_TRUE(device->launch(**function, shape, params, stream).ok());

  ASSERT_EQ(fake_launch_count(), 1);
  const FakeLaunch& launch = *fake_launch(0);
  EXPECT_STREQ(launch.kernel, "kernel_b");
  EXPECT_THAT(launch.grid, ElementsAre(8, 4, 3));
  EXPECT_THAT(launch.block, ElementsAre(256, 1, 1));
  EXPECT_EQ(launch.shared_bytes, 60000u);
  EXPECT_EQ(launch.stream, stream);
  ASSERT_EQ(launch.param_bytes, params.size()) << "the block as it is, with its size";
  EXPECT_EQ(std::memcmp(launch.params, params.data(), params.size()), 0);
  EXPECT_TRUE(device->destroy_stream(stream).ok());
}

TEST_F(HipDevice, LaunchingAllocatesNothingAndWaitsForNothing) {
  auto device = open();
  auto module = device->load(module_with("kernel_a"));
  auto function = (*module)->find("kernel_a");
  Stream stream = *device->make_stream();
  std::vector<std::byte> params(512);
  fake_clear_calls();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(device->launch(**function, {.shared_bytes = 1000}, params, stream).ok());
  EXPECT_EQ(fake_calls("hipModuleLaunchKernel"), 10);
  EXPECT_EQ(fake_total_calls(), 10 + fake_calls("hipGetDevice")) << fake_call_log();
  fake_clear_calls();
  ASSERT_TRUE((*module)->find("kernel_a").ok());
  EXPECT_EQ(fake_total_calls(), 0) << "the second look is answered without HIP";
}

TEST_F(HipDevice, WhatTheHardwareLacksIsRefused) {
  auto device = open();
  auto module = device->load(module_with("kernel_a"));
  const Status cluster = device->launch(**(*module)->find("kernel_a"), {.cluster = {2, 1, 1}}, {}, nullptr);
  ASSERT_FALSE(cluster.ok());
  EXPECT_THAT(cluster.message(), AllOf(HasSubstr("no clusters"), HasSubstr("kernel_a"), HasSubstr("2x1x1")));
  EXPECT_EQ(fake_launch_count(), 0);
  std::byte map[128];
  const Status encoded = device->encode_map({.rank = 1}, nullptr, map);
  ASSERT_FALSE(encoded.ok());
  EXPECT_THAT(encoded.message(), HasSubstr("hip:0 has no tensor maps"));
}

TEST_F(HipDevice, ResidentBlocksAreThoseOfAllComputeUnits) {
  auto device = open();
  auto module = device->load(module_with("kernel_a"));
  auto blocks = device->resident_blocks(**(*module)->find("kernel_a"), {.threads = 256, .shared_bytes = 20000});
  ASSERT_TRUE(blocks.ok());
  EXPECT_EQ(*blocks, 3 * 304);
}

TEST_F(HipDevice, TheCallersDeviceIsLeftAsItWas) {
  fake_set_hip_device(2, "Fake MI300X", "gfx942");
  auto second = open_hip_device(1);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(fake_current_device(), 0);
  fake_clear_calls();
  ASSERT_TRUE((*second)->synchronize(nullptr).ok());
  EXPECT_EQ(fake_calls("hipSetDevice"), 2) << "there and back";
  EXPECT_EQ(fake_current_device(), 0);
}

TEST_F(HipDevice, EventsMeasureTheDevicesTime) {
  auto device = open();
  fake_set_kernel_time(40, 0);
  auto module = device->load(module_with("kernel_a"));
  auto function = (*module)->find("kernel_a");
  auto start = device->make_event(), stop = device->make_event();
  ASSERT_TRUE((*start)->record(nullptr).ok());
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(device->launch(**function, {}, {}, nullptr).ok());
  ASSERT_TRUE((*stop)->record(nullptr).ok());
  auto early = device->elapsed_us(**start, **stop);
  ASSERT_FALSE(early.ok());
  EXPECT_THAT(early.status().message(), AllOf(HasSubstr("hipEventElapsedTime"), HasSubstr("wait() for it first")));
  ASSERT_TRUE((*stop)->wait().ok());
  auto elapsed = device->elapsed_us(**start, **stop);
  ASSERT_TRUE(elapsed.ok());
  EXPECT_NEAR(*elapsed, 402, 1) << "ten kernels, and one launch that the device waited for";
}

TEST_F(HipDevice, GraphsCaptureAndReplay) {
  auto device = open();
  auto module = device->load(module_with("kernel_a"));
  auto function = (*module)->find("kernel_a");
  Stream stream = *device->make_stream();
  EXPECT_FALSE(*device->is_capturing(stream));
  auto graph = device->capture(stream, [&]() -> Status {
    EXPECT_TRUE(*device->is_capturing(stream));
    EXPECT_TRUE(*device->is_capturing(nullptr)) << "the default stream orders itself with the one that captures";
    for (int i = 0; i < 3; ++i) WT_TRY(device->launch(**function, {}, {}, stream));
    // A plan may be made while a stream captures: loading breaks nothing.
    return device->load(module_with("kernel_b")).status();
  });
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(fake_launch_count(), 3);
  EXPECT_TRUE(fake_launch(0)->captured);
  EXPECT_TRUE((*graph)->replay(stream).ok());
  EXPECT_TRUE((*graph)->replay(stream).ok());
  EXPECT_EQ(fake_calls("hipGraphLaunch"), 2);
  graph->reset();
  EXPECT_EQ(fake_live_graphs(), 0);
}

TEST_F(HipDevice, ACaptureThatSynchronisesIsReported) {
  auto device = open();
  Stream stream = *device->make_stream();
  auto graph = device->capture(stream, [&]() -> Status {
    (void)device->synchronize(stream);
    return {};
  });
  ASSERT_FALSE(graph.ok());
  EXPECT_THAT(graph.status().message(), HasSubstr("hipErrorStreamCaptureInvalidated"));
  auto refused = device->capture(nullptr, [] { return Status{}; });
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.status().message(), HasSubstr("default stream cannot be captured"));
  auto failing = device->capture(stream, [] { return bad_input("the body's own reason"); });
  ASSERT_FALSE(failing.ok());
  EXPECT_EQ(failing.status().message(), "the body's own reason");
  EXPECT_EQ(fake_live_graphs(), 0);
}

}  // namespace
}  // namespace wt
