// SPDX-License-Identifier: Apache-2.0
// An AMD GPU through the C and C++ API, behind the fake HIP: the caller's own stream goes in as it is.
#include <dlfcn.h>
#include <stdlib.h>

#include <cstddef>

#include <wavetile/wavetile.hpp>

#include "handles.h"

using namespace wavetile_test;

namespace {

// An application that uses HIP itself, with a stream of its own.
class Application {
 public:
  Application() : library_(dlopen(WT_FAKE_HIP, RTLD_NOW | RTLD_LOCAL)) {
    const auto create = reinterpret_cast<int (*)(void**, unsigned)>(dlsym(library_, "hipStreamCreateWithFlags"));
    EXPECT_EQ(create(&stream_, 0), 0);
  }
  ~Application() {
    const auto destroy = reinterpret_cast<int (*)(void*)>(dlsym(library_, "hipStreamDestroy"));
    EXPECT_EQ(destroy(stream_), 0);
  }
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;
  void* stream() const { return stream_; }

 private:
  void* library_;
  void* stream_ = nullptr;
};

class Hip : public testing::Test {
 protected:
  void SetUp() override { setenv("WAVETILE_HIP_DRIVER", WT_FAKE_HIP, 1); }
  void TearDown() override { unsetenv("WAVETILE_HIP_DRIVER"); }
};

}  // namespace

TEST_F(Hip, TheDeviceSaysWhatItIs) {
  const Device device = open_device("hip:0");
  auto info = sized<wavetile_device_info>();
  ASSERT_TRUE(succeeded(wavetile_device_get_info(device.get(), &info)));
  EXPECT_EQ(info.kind, WAVETILE_DEVICE_HIP);
  EXPECT_STREQ(info.id, "hip:0");
  EXPECT_STREQ(info.target, "gfx942");
  EXPECT_EQ(info.multiprocessors, 304);
  EXPECT_EQ(info.driver_version, 6040);
  int32_t available = 0;
  char* detail = nullptr;
  ASSERT_TRUE(succeeded(wavetile_capability_query(WAVETILE_CAPABILITY_HIP, &available, &detail)));
  EXPECT_EQ(available, 1);
  EXPECT_STREQ(detail, "Fake MI300X, HIP 6.4");
  wavetile_string_free(detail);
}

TEST_F(Hip, WorkGoesToTheCallersStream) {
  const Application application;
  const wavetile::Device device = wavetile::Device::open("hip:0").value();
  const wavetile::Buffer memory = wavetile::Buffer::allocate(device, 1 << 20).value();
  EXPECT_TRUE(device.fill(memory.data(), 0, 1 << 20, wavetile::StreamRef(application.stream())));
  EXPECT_TRUE(device.synchronize(wavetile::StreamRef(application.stream())));
  int other = 0;
  const wavetile::Status refused = device.fill(memory.data(), 0, 16, wavetile::StreamRef(&other));
  EXPECT_FALSE(refused) << "a stream that HIP does not know must not be taken for another";

  int32_t clang = 0;
  ASSERT_TRUE(succeeded(wavetile_capability_query(WAVETILE_CAPABILITY_CLANG_AMD, &clang, nullptr)));
  if (!clang) return;  // nothing to launch
  const auto problem = wavetile::Problem::parse("fwd bf16 n1 c16 k16 i4x4 f3x3 p1").value();
  const auto plan = wavetile::Plan::create(device, problem).value();
  const wavetile::Buffer workspace = wavetile::Buffer::allocate(device, plan.workspace_bytes()).value();
  wavetile::Tensors tensors;
  auto* bytes = static_cast<std::byte*>(memory.data());
  tensors.x = bytes;
  tensors.w = bytes + (1 << 16);
  tensors.y = bytes + (1 << 17);
  const wavetile::Status executed = plan.execute(tensors, workspace, wavetile::StreamRef(application.stream()));
  EXPECT_TRUE(executed) << executed.message();
  EXPECT_FALSE(plan.execute(tensors, workspace, wavetile::StreamRef(&other)));
}
