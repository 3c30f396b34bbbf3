// SPDX-License-Identifier: Apache-2.0
// tests/runtime/hip_library_test.cc - a real libamdhip64, as far as it goes without a GPU: its names and its words.
#include <gmock/gmock.h>
#include <stdlib.h>

#include "runtime/hip/device.h"
#include "runtime/hip/driver.h"
#include "tests/places.h"

namespace wt {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

#ifdef WT_HAVE_HIP
class RealHip : public ::testing::Test {
 protected:
  void SetUp() override { ::setenv("WAVETILE_HIP_DRIVER", places::kHip, 1); }
  void TearDown() override { ::unsetenv("WAVETILE_HIP_DRIVER"); }
};

// Loading fails where one name is missing, so this is a test of them all.
TEST_F(RealHip, HasEveryFunction) {
  const auto driver = hip::load_driver();
  ASSERT_TRUE(driver.ok()) << driver.status().message();
  int version = 0;
  EXPECT_EQ((*driver)->driver_get_version(&version), 0);
  EXPECT_GE(version, 50000000) << "5.2 is written as 502xxxxx";
  EXPECT_LT(version, 80000000);
}

// Codes that Wavetile tells apart are the library's.
TEST_F(RealHip, NamesItsErrors) {
  const auto driver = hip::load_driver();
  ASSERT_TRUE(driver.ok()) << driver.status().message();
  const std::pair<int, const char*> codes[] = {{gpu::kOutOfMemory, "hipErrorOutOfMemory"},
                                               {gpu::kNoDevice, "hipErrorNoDevice"},
                                               {gpu::kInvalidDevice, "hipErrorInvalidDevice"},
                                               {gpu::kNoBinaryForGpu, "hipErrorNoBinaryForGpu"},
                                               {gpu::kIllegalAddress, "hipErrorIllegalAddress"},
                                               {gpu::kLaunchFailed, "hipErrorLaunchFailure"},
                                               {gpu::kStreamCaptureImplicit, "hipErrorStreamCaptureImplicit"}};
  for (const auto& [code, name] : codes)
    EXPECT_THAT((*driver)->describe(code), HasSubstr(fmt::format("{} ({})", name, code)));
}

TEST_F(RealHip, SaysThatThereIsNoGpu) {
  std::vector<std::string> refused;
  if (!list_hip_devices(&refused).empty()) GTEST_SKIP() << "this machine has an AMD GPU";
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_THAT(refused[0], AllOf(HasSubstr("no AMD GPU: hipInit"),
                                AnyOf(HasSubstr("hipErrorNoDevice (100)"), HasSubstr("hipErrorInvalidDevice (101)"))));
  EXPECT_EQ(open_hip_device(0).status().message(), refused[0]);
}
#endif

}  // namespace
}  // namespace wt
