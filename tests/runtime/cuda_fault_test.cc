// SPDX-License-Identifier: Apache-2.0
// tests/runtime/cuda_fault_test.cc - what a user reads when the driver, the GPU or a kernel fails, and what still
// works.
#include <gmock/gmock.h>

#include "tests/fake_driver/fake_gpu.h"

namespace wt {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kOutOfMemory = 2, kNoDevice = 100, kMismatch = 803, kStub = 34, kNoBinary = 209, kOutOfResources = 701,
              kIllegalAddress = 700, kIllegalInstruction = 715;

class CudaFault : public FakeGpu {
 protected:
  static std::string open_message(int index = 0) {
    auto device = open_cuda_device(index);
    EXPECT_FALSE(device.ok());
    EXPECT_NE(device.status().code(), Code::kOk);
    return device.status().message();
  }
};

TEST_F(CudaFault, NoDriver) {
  ::setenv("WAVETILE_CUDA_DRIVER", "/nonexistent/libcuda.so.1", 1);
  EXPECT_THAT(open_message(), AllOf(HasSubstr("no CUDA driver"), HasSubstr("/nonexistent/libcuda.so.1"),
                                    HasSubstr("check WAVETILE_CUDA_DRIVER")));
  std::vector<std::string> refused;
  EXPECT_TRUE(list_cuda_devices(&refused).empty());
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_THAT(refused[0], HasSubstr("no CUDA driver"));
}

TEST_F(CudaFault, ALibraryThatIsNoDriver) {
  ::setenv("WAVETILE_CUDA_DRIVER", "libm.so.6", 1);
  EXPECT_THAT(open_message(), AllOf(HasSubstr("is not a usable CUDA driver: it has no cuInit"),
                                    HasSubstr("cuLaunchKernelEx"), Not(HasSubstr("cuFuncGetParamInfo"))));
}

TEST_F(CudaFault, NoGpu) {
  fake_set_device(0, 9, 0);
  EXPECT_THAT(open_message(), AllOf(HasSubstr("no NVIDIA GPU"),
                                    HasSubstr("CUDA_ERROR_NO_DEVICE (100): no CUDA-capable"), HasSubstr("nvidia-smi")));
  fake_reset();
  fake_fail("cuInit", kNoDevice, 1);
  EXPECT_THAT(open_message(), HasSubstr("no NVIDIA GPU"));
  EXPECT_TRUE(open()) << "a later try asks again";
}

TEST_F(CudaFault, DriverTooOld) {
  fake_set_driver_version(11040);
  EXPECT_THAT(open_message(), AllOf(HasSubstr("supports CUDA 11.4 and is too old"), HasSubstr("CUDA 12.0 or newer"),
                                    HasSubstr("update the NVIDIA driver")));
}

TEST_F(CudaFault, OtherRefusalsOfTheDriver) {
  fake_fail("cuInit", kMismatch, 1);
  EXPECT_THAT(open_message(), AllOf(HasSubstr("does not fit the kernel module"), HasSubstr("reboot")));
  fake_fail("cuInit", kStub, 1);
  EXPECT_THAT(open_message(), HasSubstr("stub"));
  fake_fail("cuInit", 12345, 1);
  EXPECT_THAT(open_message(), HasSubstr("CUDA error 12345"));
  fake_fail("cuDevicePrimaryCtxRetain", kOutOfMemory, 1);
  EXPECT_THAT(open_message(),
              AllOf(HasSubstr("gpu:0"), HasSubstr("cuDevicePrimaryCtxRetain failed: CUDA_ERROR_OUT_OF_MEMORY")));
}

TEST_F(CudaFault, AGpuThatIsNotThere) {
  EXPECT_THAT(open_message(3), AllOf(HasSubstr("no gpu:3"), HasSubstr("shows 1 GPU;")));
  EXPECT_THAT(open_message(-1), HasSubstr("no gpu:-1"));
}

TEST_F(CudaFault, AGpuThatNoTargetCovers) {
  fake_set_device(1, 7, 5);
  EXPECT_THAT(open_message(), AllOf(HasSubstr("Fake H200"), HasSubstr("compute capability 7.5"), HasSubstr("sm_90a")));
  std::vector<std::string> refused;
  EXPECT_TRUE(list_cuda_devices(&refused).empty());
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_THAT(refused[0], HasSubstr("7.5"));
}

TEST_F(CudaFault, OutOfMemoryLeavesTheDeviceUsable) {
  fake_set_memory(1 << 20);
  auto device = open();
  auto kept = device->allocate(1 << 19);
  ASSERT_TRUE(kept.ok());
  auto refused = device->allocate(1 << 20);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), Code::kDevice);
  EXPECT_THAT(refused.status().message(),
              AllOf(HasSubstr("gpu:0"), HasSubstr("CUDA_ERROR_OUT_OF_MEMORY (2): out of memory"),
                    HasSubstr("asked for 1048576 bytes"), HasSubstr("GiB free")));
  EXPECT_TRUE(device->allocate(1 << 18).ok());
  EXPECT_TRUE(device->free(*kept).ok());
}

TEST_F(CudaFault, AModuleThatDoesNotFit) {
  auto device = open();
  fake_fail("cuModuleLoadData", kNoBinary, 1);
  auto module = device->load(module_with("kernel_a"));
  ASSERT_FALSE(module.ok());
  EXPECT_THAT(module.status().message(),
              AllOf(HasSubstr("test_module"), HasSubstr("CUDA_ERROR_NO_BINARY_FOR_GPU"), HasSubstr("Fake H200")));
  compile::Module other = module_with("kernel_a");
  other.backend = compile::Backend::kHost;
  auto simulated = device->load(other);
  ASSERT_FALSE(simulated.ok());
  EXPECT_THAT(simulated.status().message(), HasSubstr("not made for an NVIDIA GPU"));
}

TEST_F(CudaFault, AnEntryThatIsNotThere) {
  auto device = open();
  auto module = device->load(module_with("kernel_a"));
  auto function = (*module)->find("kernel_z");
  ASSERT_FALSE(function.ok());
  EXPECT_THAT(function.status().message(),
              AllOf(HasSubstr("CUDA_ERROR_NOT_FOUND"), HasSubstr("test_module"), HasSubstr("kernel_z")));
}

TEST_F(CudaFault, ALaunchThatFailsNamesKernelShapeAndReplay) {
  auto device = open();
  auto module = device->load(module_with("kernel_a"));
  auto function = (*module)->find("kernel_a");
  LaunchShape shape{.grid = {7, 1, 1}, .threads = 256, .shared_bytes = 1234};
  shape.replay = replay_text("wavetile run 'fwd bf16 c8 k8 i4x4 f3x3' --kernel kernel_a");
  fake_fail("cuLaunchKernelEx", kOutOfResources, 1);
  const Status status = device->launch(**function, shape, {}, nullptr);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.message(), AllOf(HasSubstr("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701)"),
                                      HasSubstr("kernel kernel_a: grid 7x1x1"), HasSubstr("256 threads"),
                                      HasSubstr("1234 + 1024 bytes"), HasSubstr("replay with: wavetile run 'fwd")));
  EXPECT_TRUE(device->launch(**function, shape, {}, nullptr).ok()) << "not sticky: the device goes on";

  shape.grid = {7, 1, 1}, shape.cluster = {2, 1, 1};
  const Status cluster = device->launch(**function, shape, {}, nullptr);
  ASSERT_FALSE(cluster.ok());
  EXPECT_THAT(cluster.message(), AllOf(HasSubstr("CUDA_ERROR_INVALID_CLUSTER_SIZE"), HasSubstr("cluster 2x1x1")));
}

TEST_F(CudaFault, AParameterBlockOfTheWrongSizeNeverReachesTheDriver) {
  fake_set_param_bytes(64);
  auto device = open();
  auto module = device->load(module_with("kernel_a"));
  auto function = (*module)->find("kernel_a");
  std::vector<std::byte> params(60);
  const Status status = device->launch(**function, {}, params, nullptr);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.message(), "kernel kernel_a takes 64 bytes of parameters and was given 60");
  EXPECT_EQ(fake_launch_count(), 0);
  params.resize(64);
  EXPECT_TRUE(device->launch(**function, {}, params, nullptr).ok());
}

TEST_F(CudaFault, ATrapLosesTheContextUntilTheDeviceIsOpenedAgain) {
  auto device = open();
  auto module = device->load(module_with("kernel_a"));
  auto function = (*module)->find("kernel_a");
  LaunchShape shape;
  shape.replay = replay_text("wavetile run 'fwd bf16 c8 k8 i4x4 f3x3' --kernel kernel_a");
  fake_fault_kernel(kIllegalInstruction, 1);
  ASSERT_TRUE(device->launch(**function, shape, {}, nullptr).ok()) << "a launch only enqueues";
  const Status fault = device->synchronize(nullptr);
  ASSERT_FALSE(fault.ok());
  EXPECT_THAT(fault.message(),
              AllOf(HasSubstr("cuStreamSynchronize failed: CUDA_ERROR_ILLEGAL_INSTRUCTION (715)"),
                    HasSubstr("the last one launched was kernel_a"), HasSubstr("replay with: wavetile run 'fwd"),
                    HasSubstr("context of this process is lost"), HasSubstr("open the device again")));

  // Every later call says the same, without asking the driver.
  fake_clear_calls();
  const Status later = device->launch(**function, shape, {}, nullptr);
  EXPECT_EQ(later.message(), fault.message());
  EXPECT_EQ(device->allocate(16).status().message(), fault.message());
  EXPECT_EQ(fake_total_calls(), 0);

  auto too_early = open_cuda_device(0);
  ASSERT_FALSE(too_early.ok()) << "the old device still holds the lost context";
  EXPECT_THAT(too_early.status().message(), AllOf(HasSubstr("CUDA_ERROR_ILLEGAL_INSTRUCTION"), HasSubstr("lost")));
  module->reset();
  device.reset();
  auto fresh = open();
  ASSERT_TRUE(fresh);
  EXPECT_TRUE(fresh->allocate(16).ok());
}

TEST_F(CudaFault, AFaultSeenByACopyIsStickyToo) {
  auto device = open();
  auto module = device->load(module_with("kernel_a"));
  auto memory = device->allocate(64);
  fake_fault_kernel(kIllegalAddress, 2);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(device->launch(**(*module)->find("kernel_a"), {}, {}, nullptr).ok());
  char host[64];
  const Status fault = device->copy_out(host, *memory, sizeof host);
  ASSERT_FALSE(fault.ok());
  EXPECT_THAT(fault.message(), AllOf(HasSubstr("cuMemcpyDtoH_v2"), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS (700)"),
                                     HasSubstr("kernel_a"), Not(HasSubstr("replay with"))));
}

TEST_F(CudaFault, EveryCallPassesTheDriversErrorOn) {
  auto device = open();
  auto memory = device->allocate(64);
  Stream stream = *device->make_stream();
  auto event = device->make_event();
  auto module = device->load(module_with("kernel_a"));
  char host[8] = {};
  const std::pair<const char*, std::function<Status()>> calls[] = {
      {"cuMemAlloc_v2", [&] { return device->allocate(8).status(); }},
      {"cuMemFree_v2", [&] { return device->free(*memory); }},
      {"cuMemcpyHtoD_v2", [&] { return device->copy_in(*memory, host, 8); }},
      {"cuMemcpyDtoH_v2", [&] { return device->copy_out(host, *memory, 8); }},
      {"cuMemsetD8Async", [&] { return device->fill(*memory, 0, 8, stream); }},
      {"cuStreamCreate", [&] { return device->make_stream().status(); }},
      {"cuStreamDestroy_v2", [&] { return device->destroy_stream(stream); }},
      {"cuStreamSynchronize", [&] { return device->synchronize(stream); }},
      {"cuEventCreate", [&] { return device->make_event().status(); }},
      {"cuEventRecord", [&] { return (*event)->record(stream); }},
      {"cuEventSynchronize", [&] { return (*event)->wait(); }},
      {"cuEventElapsedTime", [&] { return device->elapsed_us(**event, **event).status(); }},
      {"cuFuncGetAttribute", [&] { return (*module)->find("kernel_a").status(); }},
      {"cuFuncSetAttribute", [&] { return (*module)->find("kernel_a").status(); }},
      {"cuStreamBeginCapture_v2", [&] { return device->capture(stream, [] { return Status{}; }).status(); }},
      {"cuGraphInstantiateWithFlags", [&] { return device->capture(stream, [] { return Status{}; }).status(); }},
      {"cuCtxPushCurrent_v2", [&] { return device->synchronize(stream); }},
  };
  for (const auto& [name, call] : calls) {
    fake_fail(name, 999, 1);
    const Status status = call();
    EXPECT_FALSE(status.ok()) << name;
    EXPECT_THAT(status.message(),
                AllOf(HasSubstr(std::string(name) + " failed: CUDA_ERROR_UNKNOWN (999)"), HasSubstr("gpu:0")));
  }
}

}  // namespace
}  // namespace wt
