// SPDX-License-Identifier: Apache-2.0
// tests/runtime/hip_fault_test.cc - what a user reads when HIP, the GPU or a kernel fails, and what still works.
#include <gmock/gmock.h>

#include "tests/fake_driver/fake_gpu.h"
#include "tests/places.h"

namespace wt {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kOutOfMemory = 2, kNoDevice = 100, kNoBinary = 209, kOutOfResources = 701, kIllegalAddress = 700;

class HipFault : public FakeAmdGpu {
 protected:
  static std::string open_message(int index = 0) {
    auto device = open_hip_device(index);
    EXPECT_FALSE(device.ok());
    EXPECT_NE(device.status().code(), Code::kOk);
    return device.status().message();
  }
};

TEST_F(HipFault, NoHip) {
  ::setenv("WAVETILE_HIP_DRIVER", "/nonexistent/libamdhip64.so.6", 1);
  EXPECT_THAT(open_message(), AllOf(HasSubstr("no HIP"), HasSubstr("/nonexistent/libamdhip64.so.6"),
                                    HasSubstr("check WAVETILE_HIP_DRIVER")));
  std::vector<std::string> refused;
  EXPECT_TRUE(list_hip_devices(&refused).empty());
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_THAT(refused[0], HasSubstr("no HIP"));
}

TEST_F(HipFault, ALibraryThatIsNoHip) {
  ::setenv("WAVETILE_HIP_DRIVER", "libm.so.6", 1);
  EXPECT_THAT(open_message(), AllOf(HasSubstr("is not a usable HIP: it has no hipInit"),
                                    HasSubstr("hipModuleLaunchKernel"), HasSubstr("hipGetDevicePropertiesR0600")));
}

TEST_F(HipFault, NoGpu) {
  fake_set_hip_device(0, "", "");
  EXPECT_THAT(open_message(), AllOf(HasSubstr("no AMD GPU"), HasSubstr("hipErrorNoDevice (100): no ROCm-capable"),
                                    HasSubstr("/dev/kfd"), HasSubstr("HIP_VISIBLE_DEVICES")));
  ::setenv("WAVETILE_HIP_DRIVER", places::kFakeHip5, 1);
  EXPECT_THAT(open_message(), AllOf(HasSubstr("no AMD GPU"), HasSubstr("hipErrorInvalidDevice (101);")))
      << "HIP 5 has another code for it, and repeats its name as its text";
  ::setenv("WAVETILE_HIP_DRIVER", places::kFakeHip, 1);
  fake_reset();
  fake_fail("hipInit", kNoDevice, 1);
  EXPECT_THAT(open_message(), HasSubstr("no AMD GPU"));
  EXPECT_TRUE(open()) << "a later try asks again";
}

TEST_F(HipFault, HipTooOld) {
  fake_set_hip_version(40421401);
  EXPECT_THAT(open_message(),
              AllOf(HasSubstr("is HIP 4.4 and too old"), HasSubstr("HIP 5.0 or newer"), HasSubstr("update ROCm")));
}

TEST_F(HipFault, OtherRefusalsOfHip) {
  fake_fail("hipInit", 719, 1);
  EXPECT_THAT(open_message(), HasSubstr("failed: hipErrorLaunchFailure (719)"));
  fake_fail("hipGetDevicePropertiesR0600", 1, 1);
  EXPECT_THAT(open_message(), HasSubstr("hipGetDevicePropertiesR0600 failed: hipErrorInvalidValue (1)"));
  fake_fail("hipMemGetInfo", kOutOfMemory, 1);
  EXPECT_THAT(open_message(), AllOf(HasSubstr("hip:0"), HasSubstr("hipMemGetInfo failed: hipErrorOutOfMemory")));
}

TEST_F(HipFault, AGpuThatIsNotThere) {
  EXPECT_THAT(open_message(3), AllOf(HasSubstr("no hip:3"), HasSubstr("shows 1 AMD GPU;")));
  EXPECT_THAT(open_message(-1), HasSubstr("no hip:-1"));
}

TEST_F(HipFault, AGpuThatNoTargetCovers) {
  fake_set_hip_device(1, "Radeon VII", "gfx906:sramecc-:xnack-");
  EXPECT_THAT(open_message(), AllOf(HasSubstr("hip:0 (Radeon VII) is a gfx906,"), HasSubstr("gfx942"),
                                    HasSubstr("gfx1200 and gfx1201 by gfx12-generic"), Not(HasSubstr("sm_90a"))));
  std::vector<std::string> refused;
  EXPECT_TRUE(list_hip_devices(&refused).empty());
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_THAT(refused[0], HasSubstr("gfx906"));
}

TEST_F(HipFault, PropertiesOfAnotherLayout) {
  fake_set_hip_device(1, "GPU", "what a later struct has there");
  EXPECT_THAT(open_message(), AllOf(HasSubstr("hipGetDevicePropertiesR0600"), HasSubstr("another layout"),
                                    HasSubstr("HIP 6.4"), HasSubstr("ROCm 5, 6 or 7")));
}

TEST_F(HipFault, OutOfMemoryLeavesTheDeviceUsable) {
  fake_set_memory(1 << 20);
  auto device = open();
  auto kept = device->allocate(1 << 19);
  ASSERT_TRUE(kept.ok());
  auto refused = device->allocate(1 << 20);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), Code::kDevice);
  EXPECT_THAT(refused.status().message(),
              AllOf(HasSubstr("hip:0: hipMalloc failed: hipErrorOutOfMemory (2): out of memory"),
                    HasSubstr("asked for 1048576 bytes"), HasSubstr("GiB free")));
  EXPECT_TRUE(device->allocate(1 << 18).ok());
  EXPECT_TRUE(device->free(*kept).ok());
}

TEST_F(HipFault, AModuleThatDoesNotFit) {
  auto device = open();
  fake_fail("hipModuleLoadData", kNoBinary, 1);
  auto module = device->load(module_with("kernel_a"));
  ASSERT_FALSE(module.ok());
  EXPECT_THAT(module.status().message(), AllOf(HasSubstr("test_module"), HasSubstr("hipErrorNoBinaryForGpu"),
                                               HasSubstr("Fake MI300X"), HasSubstr("is a gfx942: compile it again")));
  compile::Module generic = module_with("kernel_a");
  generic.target = Target::kGfx11Generic;
  fake_fail("hipModuleLoadData", kNoBinary, 1);
  EXPECT_THAT(device->load(generic).status().message(),
              AllOf(HasSubstr("made for gfx11-generic"), HasSubstr("HIP 6.4"), HasSubstr("update ROCm")));
  compile::Module cubin = module_with("kernel_a");
  cubin.backend = compile::Backend::kNvrtc;
  EXPECT_THAT(device->load(cubin).status().message(), HasSubstr("not made for an AMD GPU, so hip:0 cannot load it"));
}

TEST_F(HipFault, AnEntryThatIsNotThere) {
  auto device = open();
  auto module = device->load(module_with("kernel_a"));
  auto function = (*module)->find("kernel_z");
  ASSERT_FALSE(function.ok());
  EXPECT_THAT(function.status().message(),
              AllOf(HasSubstr("hipErrorNotFound"), HasSubstr("test_module"), HasSubstr("kernel_z")));
}

TEST_F(HipFault, ALaunchThatFailsNamesKernelShapeAndReplay) {
  auto device = open();
  auto module = device->load(module_with("kernel_a"));
  auto function = (*module)->find("kernel_a");
  LaunchShape shape{.grid = {7, 1, 1}, .threads = 256, .shared_bytes = 1234};
  shape.replay = replay_text("wavetile run 'fwd bf16 c8 k8 i4x4 f3x3' --kernel kernel_a");
  fake_fail("hipModuleLaunchKernel", kOutOfResources, 1);
  const Status status = device->launch(**function, shape, {}, nullptr);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("hipErrorLaunchOutOfResources (701)"), HasSubstr("kernel_a: grid 7x1x1, 256 threads"),
                    HasSubstr("1234 + 512 bytes"), HasSubstr("replay with: wavetile run 'fwd")));
  EXPECT_TRUE(device->launch(**function, shape, {}, nullptr).ok()) << "not sticky: the device goes on";
}

TEST_F(HipFault, AStreamThatDoesNotExistIsNoLostGpu) {
  auto device = open();
  int none = 0;
  const Status status = device->synchronize(&none);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.message(), AllOf(HasSubstr("hipErrorContextIsDestroyed"), Not(HasSubstr("restart"))));
  EXPECT_TRUE(device->synchronize(nullptr).ok());
}

TEST_F(HipFault, AFaultLosesTheGpu) {
  auto device = open();
  auto module = device->load(module_with("kernel_a"));
  auto function = (*module)->find("kernel_a");
  LaunchShape shape;
  shape.replay = replay_text("wavetile run 'fwd bf16 c8 k8 i4x4 f3x3' --kernel kernel_a");
  fake_fault_kernel(kIllegalAddress, 1);
  ASSERT_TRUE(device->launch(**function, shape, {}, nullptr).ok()) << "a launch only enqueues";
  const Status fault = device->synchronize(nullptr);
  ASSERT_FALSE(fault.ok());
  EXPECT_THAT(fault.message(), AllOf(HasSubstr("hipStreamSynchronize failed: hipErrorIllegalAddress (700)"),
                                     HasSubstr("the last one launched was kernel_a"),
                                     HasSubstr("replay with: wavetile run 'fwd"), HasSubstr("restart the process")));

  // Every later call says the same, without asking HIP.
  fake_clear_calls();
  EXPECT_EQ(device->launch(**function, shape, {}, nullptr).message(), fault.message());
  EXPECT_EQ(device->allocate(16).status().message(), fault.message());
  EXPECT_EQ(fake_total_calls(), 0);
  EXPECT_THAT(open_message(), AllOf(HasSubstr("hipErrorIllegalAddress"), HasSubstr("restart the process")))
      << "opened again, it is still lost";
}

TEST_F(HipFault, EveryCallPassesHipsErrorOn) {
  fake_set_hip_device(2, "Fake MI300X", "gfx942");
  auto opened = open_hip_device(1);
  ASSERT_TRUE(opened.ok());
  const std::shared_ptr<Device> device = *opened;
  auto memory = device->allocate(64);
  Stream stream = *device->make_stream();
  auto event = device->make_event();
  auto module = device->load(module_with("kernel_a"));
  char host[8] = {};
  const std::pair<const char*, std::function<Status()>> calls[] = {
      {"hipMalloc", [&] { return device->allocate(8).status(); }},
      {"hipFree", [&] { return device->free(*memory); }},
      {"hipMemcpyHtoD", [&] { return device->copy_in(*memory, host, 8); }},
      {"hipMemcpyDtoH", [&] { return device->copy_out(host, *memory, 8); }},
      {"hipMemsetD8Async", [&] { return device->fill(*memory, 0, 8, stream); }},
      {"hipStreamCreateWithFlags", [&] { return device->make_stream().status(); }},
      {"hipStreamDestroy", [&] { return device->destroy_stream(stream); }},
      {"hipStreamSynchronize", [&] { return device->synchronize(stream); }},
      {"hipStreamIsCapturing", [&] { return device->is_capturing(stream).status(); }},
      {"hipEventCreateWithFlags", [&] { return device->make_event().status(); }},
      {"hipEventRecord", [&] { return (*event)->record(stream); }},
      {"hipEventSynchronize", [&] { return (*event)->wait(); }},
      {"hipEventElapsedTime", [&] { return device->elapsed_us(**event, **event).status(); }},
      {"hipFuncGetAttribute", [&] { return (*module)->find("kernel_a").status(); }},
      {"hipStreamBeginCapture", [&] { return device->capture(stream, [] { return Status{}; }).status(); }},
      {"hipGraphInstantiateWithFlags", [&] { return device->capture(stream, [] { return Status{}; }).status(); }},
      {"hipModuleOccupancyMaxActiveBlocksPerMultiprocessor",
       [&] { return device->resident_blocks(**(*module)->find("kernel_a"), {}).status(); }},
      {"hipGetDevice", [&] { return device->synchronize(stream); }},
      {"hipSetDevice", [&] { return device->synchronize(stream); }},
  };
  for (const auto& [name, call] : calls) {
    fake_fail(name, 999, 1);
    const Status status = call();
    EXPECT_FALSE(status.ok()) << name;
    EXPECT_THAT(status.message(), HasSubstr("hip:1: " + std::string(name) + " failed: hipErrorUnknown (999)"));
  }
}

}  // namespace
}  // namespace wt
