// SPDX-License-Identifier: Apache-2.0
// tests/fake_driver/fake_gpu.h - a test fixture whose gpu:0 is the fake driver's.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include "compile/compiler.h"
#include "runtime/cuda/device.h"
#include "tests/fake_driver/fake_driver.h"

namespace wt {

class FakeGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("WAVETILE_CUDA_DRIVER", WT_FAKE_CUDA, 1);
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

}  // namespace wt
