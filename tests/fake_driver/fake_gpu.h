// SPDX-License-Identifier: Apache-2.0
// tests/fake_driver/fake_gpu.h - test fixtures whose gpu:0 or hip:0 is the fake GPU.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include "compile/compiler.h"
#include "runtime/cuda/device.h"
#include "runtime/hip/device.h"
#include "tests/fake_driver/fake_driver.h"
#include "tests/places.h"

namespace wt {

class FakeGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("WAVETILE_CUDA_DRIVER", places::kFakeCuda, 1);
    fake_reset();
  }
  void TearDown() override {
    ::unsetenv("WAVETILE_CUDA_DRIVER");
    fake_reset();
  }

  static std::shared_ptr<Device> open() {
    auto device = open_cuda_device(0);
    EXPECT_TRUE(device.ok()) << device.status().message();
    return device.ok() ? *device : nullptr;
  }

  // A module whose text names its kernels, which is all that the fake driver reads of it.
  static compile::Module module_with(const std::string& kernels) {
    return {.backend = compile::Backend::kNvrtc, .target = Target::kSm90a, .name = "test_module", .image = kernels};
  }
};

class FakeAmdGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("WAVETILE_HIP_DRIVER", places::kFakeHip, 1);
    fake_reset();
  }
  void TearDown() override {
    ::unsetenv("WAVETILE_HIP_DRIVER");
    fake_reset();
  }

  static std::shared_ptr<Device> open() {
    auto device = open_hip_device(0);
    EXPECT_TRUE(device.ok()) << device.status().message();
    return device.ok() ? *device : nullptr;
  }

  static compile::Module module_with(const std::string& kernels) {
    return {.backend = compile::Backend::kClang, .target = Target::kGfx942, .name = "test_module", .image = kernels};
  }
};

}  // namespace wt
