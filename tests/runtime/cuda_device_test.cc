// SPDX-License-Identifier: Apache-2.0
// tests/runtime/cuda_device_test.cc - what the CUDA device asks of the driver.
#include <gmock/gmock.h>

#include <array>
#include <cstring>

#include "tests/fake_driver/fake_gpu.h"

namespace wt {
namespace {

using ::testing::HasSubstr;

using CudaDevice = FakeGpu;

TEST_F(CudaDevice, InfoComesFromTheDriver) {
  auto device = open();
  ASSERT_TRUE(device);
  const DeviceInfo& info = device->info();
  EXPECT_EQ(info.kind, DeviceKind::kCuda);
  EXPECT_EQ(info.id, "gpu:0");
  EXPECT_EQ(info.name, "Fake H200");
  EXPECT_EQ(info.target, Target::kSm90a);
  EXPECT_EQ(info.multiprocessors, 132);
  EXPECT_EQ(info.l2_bytes, 60 << 20);
  EXPECT_DOUBLE_EQ(info.clock_mhz, 1980);
  EXPECT_NEAR(info.memory_peak, 4.917e6, 1e3) << "bytes per us";
  EXPECT_EQ(info.shared_bytes_per_block, 232448);
  EXPECT_EQ(info.memory_bytes, 1 << 30);
  EXPECT_EQ(info.driver_version, 13000);
}

TEST_F(CudaDevice, ComputeCapabilityPicksTheTarget) {
  const std::tuple<int, int, Target> cases[] = {
      {8, 0, Target::kSm80},    {8, 6, Target::kSm80},    {8, 9, Target::kSm80},
      {9, 0, Target::kSm90a},   {10, 0, Target::kSm100a}, {10, 3, Target::kSm103a},
      {11, 0, Target::kSm110a}, {12, 0, Target::kSm120a}, {12, 1, Target::kSm121a}};
  for (auto [major, minor, target] : cases) {
    fake_set_device(1, major, minor);
    auto device = open();
    ASSERT_TRUE(device);
    EXPECT_EQ(device->info().target, target) << major << "." << minor;
  }
}

TEST_F(CudaDevice, CopiesAndFills) {
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
  EXPECT_EQ(fake_live_allocations(), 0);
}

TEST_F(CudaDevice, AnEmptyAllocationIsStillAPointer) {
  auto device = open();
  auto memory = device->allocate(0);
  ASSERT_TRUE(memory.ok()) << memory.status().message();
  EXPECT_NE(*memory, nullptr);
  EXPECT_TRUE(device->free(*memory).ok());
  EXPECT_TRUE(device->free(nullptr).ok());
}

TEST_F(CudaDevice, EverythingIsGivenBack) {
  {
    auto device = open();
    auto module = device->load(module_with("kernel_a"));
    auto event = device->make_event();
    ASSERT_TRUE(module.ok() && event.ok());
    EXPECT_EQ(fake_context_references(), 1);
    device.reset();  // modules and events outlive the device that made them
    EXPECT_EQ(fake_context_references(), 1);
    EXPECT_TRUE((*module)->find("kernel_a").ok());
  }
  EXPECT_EQ(fake_live_modules(), 0);
  EXPECT_EQ(fake_live_events(), 0);
  EXPECT_EQ(fake_context_references(), 0);
}

TEST_F(CudaDevice, LaunchCarriesShapeAttributesAndParameters) {
  fake_set_param_bytes(200);
  auto device = open();
  auto module = device->load(module_with("kernel_a kernel_b"));
  ASSERT_TRUE(module.ok());
  auto function = (*module)->find("kernel_b");
  ASSERT_TRUE(function.ok());
  std::vector<std::byte> params(200);
  for (size_t i = 0; i < params.size(); ++i) params[i] = static_cast<std::byte>(i);
  Stream stream = *device->make_stream();
  const LaunchShape shape{
      .grid = {8, 4, 3}, .threads = 384, .cluster = {2, 1, 1}, .shared_bytes = 200000, .programmatic = true};
  ASSERT_TRUE(device->launch(**function, shape, params, stream).ok());

  ASSERT_EQ(fake_launch_count(), 1);
  const FakeLaunch& launch = *fake_launch(0);
  EXPECT_STREQ(launch.kernel, "kernel_b");
  EXPECT_THAT(launch.grid, ::testing::ElementsAre(8, 4, 3));
  EXPECT_THAT(launch.block, ::testing::ElementsAre(384, 1, 1));
  EXPECT_THAT(launch.cluster, ::testing::ElementsAre(2, 1, 1));
  EXPECT_EQ(launch.shared_bytes, 200000u);
  EXPECT_EQ(launch.programmatic, 1);
  EXPECT_EQ(launch.stream, stream);
  ASSERT_EQ(launch.param_bytes, params.size());
  EXPECT_EQ(std::memcmp(launch.params, params.data(), params.size()), 0);

  ASSERT_TRUE(device->launch(**function, {}, params, stream).ok());
  EXPECT_THAT(fake_launch(1)->cluster, ::testing::ElementsAre(0, 0, 0)) << "no attribute for a cluster of one";
  EXPECT_EQ(fake_launch(1)->programmatic, 0);
  EXPECT_TRUE(device->destroy_stream(stream).ok());
}

TEST_F(CudaDevice, FunctionsAreReadyBeforeTheirFirstLaunch) {
  auto device = open();
  auto module = device->load(module_with("kernel_a"));
  ASSERT_TRUE((*module)->find("kernel_a").ok());
  EXPECT_EQ(fake_function_attribute("kernel_a", 8), 232448 - 1024) << "all shared memory that the static part leaves";
  EXPECT_EQ(fake_function_attribute("kernel_a", 14), 1) << "clusters of 16";
  const LaunchShape shape{.grid = {16, 1, 1}, .threads = 128, .cluster = {16, 1, 1}};
  EXPECT_TRUE(device->launch(**(*module)->find("kernel_a"), shape, {}, nullptr).ok());
  fake_clear_calls();
  ASSERT_TRUE((*module)->find("kernel_a").ok());
  EXPECT_EQ(fake_total_calls(), 0) << "the second look is answered without the driver";
}

TEST_F(CudaDevice, LaunchingAllocatesNothingAndWaitsForNothing) {
  auto device = open();
  auto module = device->load(module_with("kernel_a"));
  auto function = (*module)->find("kernel_a");
  auto memory = device->allocate(1 << 20);
  Stream stream = *device->make_stream();
  std::vector<std::byte> params(512);
  const TensorMapSpec spec{.rank = 2, .size = {64, 128}, .stride = {2, 128}, .box = {64, 64}, .swizzle = 128};
  fake_clear_calls();
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(device->encode_map(spec, *memory, params.data() + 128).ok());
    ASSERT_TRUE(device->launch(**function, {.shared_bytes = 100000}, params, stream).ok());
  }
  EXPECT_EQ(fake_calls("cuTensorMapEncodeTiled"), 10);
  EXPECT_EQ(fake_calls("cuLaunchKernelEx"), 10);
  const int bookkeeping =
      fake_calls("cuCtxGetCurrent") + fake_calls("cuCtxPushCurrent_v2") + fake_calls("cuCtxPopCurrent_v2");
  EXPECT_EQ(fake_total_calls(), 20 + bookkeeping) << fake_call_log();
}

TEST_F(CudaDevice, ResidentBlocksCountWholeClusters) {
  auto device = open();
  auto module = device->load(module_with("kernel_a"));
  auto function = (*module)->find("kernel_a");
  auto pairs = device->resident_blocks(**function, {.threads = 384, .cluster = {2, 1, 1}, .shared_bytes = 200000});
  ASSERT_TRUE(pairs.ok());
  EXPECT_EQ(*pairs, 132);
  auto triples = device->resident_blocks(**function, {.threads = 384, .cluster = {5, 1, 1}, .shared_bytes = 200000});
  EXPECT_EQ(*triples, 130) << "132 / 5 clusters of 5";
  auto single = device->resident_blocks(**function, {.threads = 512, .shared_bytes = 50000});
  EXPECT_EQ(*single, 4 * 132);
}

TEST_F(CudaDevice, TheCallersContextIsLeftAsItWas) {
  auto device = open();
  fake_clear_calls();
  ASSERT_TRUE(device->synchronize(nullptr).ok());
  EXPECT_EQ(fake_calls("cuCtxPushCurrent_v2"), fake_calls("cuCtxPopCurrent_v2"));
  EXPECT_EQ(fake_calls("cuCtxPushCurrent_v2"), 1);
}

TEST_F(CudaDevice, EventsMeasureTheDevicesTime) {
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
  EXPECT_THAT(early.status().message(), HasSubstr("wait() for it first"));
  ASSERT_TRUE((*stop)->wait().ok());
  auto elapsed = device->elapsed_us(**start, **stop);
  ASSERT_TRUE(elapsed.ok());
  EXPECT_NEAR(*elapsed, 402, 1) << "ten kernels, and one launch that the device waited for";
}

TEST_F(CudaDevice, GraphsCaptureAndReplay) {
  auto device = open();
  auto module = device->load(module_with("kernel_a"));
  auto function = (*module)->find("kernel_a");
  Stream stream = *device->make_stream();
  auto graph = device->capture(stream, [&]() -> Status {
    for (int i = 0; i < 3; ++i) WT_TRY(device->launch(**function, {}, {}, stream));
    return {};
  });
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(fake_launch_count(), 3);
  EXPECT_TRUE(fake_launch(0)->captured);
  EXPECT_TRUE((*graph)->replay(stream).ok());
  EXPECT_TRUE((*graph)->replay(stream).ok());
  EXPECT_EQ(fake_calls("cuGraphLaunch"), 2);
  graph->reset();
  EXPECT_EQ(fake_live_graphs(), 0);
}

TEST_F(CudaDevice, ACaptureThatSynchronisesIsReported) {
  auto device = open();
  Stream stream = *device->make_stream();
  auto graph = device->capture(stream, [&]() -> Status {
    (void)device->synchronize(stream);
    return {};
  });
  ASSERT_FALSE(graph.ok());
  EXPECT_THAT(graph.status().message(), HasSubstr("CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"));
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
