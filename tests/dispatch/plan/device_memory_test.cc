// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/plan/device_memory_test.cc - a plan refuses tensors that its device cannot hold, with their sizes.
#include <gmock/gmock.h>

#include "dispatch/plan/plan.h"
#include "tests/fake_driver/fake_gpu.h"

namespace wt {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using DeviceMemory = FakeGpu;

TEST_F(DeviceMemory, APlanWhoseTensorsExceedItSaysSo) {
  const std::shared_ptr<Device> device = open();
  const auto made = make_plan(device, *parse_problem("fwd bf16 n4096 c1024 k512 i1024x1024 f3x3 p1"), {});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.status().code(), Code::kDevice);
  EXPECT_THAT(made.status().message(), AllOf(HasSubstr("has x of 8192.00 GiB"), HasSubstr("y of 4096.00 GiB"),
                                             HasSubstr("GiB of memory; use a smaller batch")));
}

}  // namespace
}  // namespace wt
