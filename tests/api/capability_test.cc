// SPDX-License-Identifier: Apache-2.0
// What the machine can do. WAVETILE_REQUIRE names what must be there ("nvrtc clang onednn host"): .ci/run sets it, so
// that tests which need a compiler cannot silently be left out.
#include <cstdlib>
#include <sstream>
#include <vector>

#include "handles.h"

using namespace wavetile_test;

namespace {

struct Named {
  const char* name;
  wavetile_capability capability;
};
constexpr Named kCapabilities[] = {
    {"gpu", WAVETILE_CAPABILITY_CUDA_DRIVER},    {"nvrtc", WAVETILE_CAPABILITY_NVRTC},
    {"host", WAVETILE_CAPABILITY_HOST_COMPILER}, {"clang", WAVETILE_CAPABILITY_CLANG_AMD},
    {"onednn", WAVETILE_CAPABILITY_ONEDNN},      {"hip", WAVETILE_CAPABILITY_HIP}};

std::string query(wavetile_capability capability, bool& available) {
  int32_t answer = -1;
  char* detail = nullptr;
  EXPECT_TRUE(succeeded(wavetile_capability_query(capability, &answer, &detail)));
  EXPECT_TRUE(answer == 0 || answer == 1);
  available = answer == 1;
  const std::string text = detail ? detail : "";
  wavetile_string_free(detail);
  return text;
}

}  // namespace

TEST(Capability, EveryAnswerComesWithWords) {
  for (const Named& named : kCapabilities) {
    bool available = false;
    EXPECT_FALSE(query(named.capability, available).empty()) << named.name;
    int32_t again = -1;
    EXPECT_TRUE(succeeded(wavetile_capability_query(named.capability, &again, nullptr)));
    EXPECT_EQ(again == 1, available) << named.name;
  }
}

TEST(Capability, GpuAgreesWithTheDeviceList) {
  size_t count = 0;
  ASSERT_TRUE(succeeded(wavetile_device_list(nullptr, 0, &count)));
  std::vector<wavetile_device_info> infos(count, sized<wavetile_device_info>());
  ASSERT_TRUE(succeeded(wavetile_device_list(infos.data(), count, &count)));
  for (const auto& [kind, capability] : {std::pair(WAVETILE_DEVICE_GPU, WAVETILE_CAPABILITY_CUDA_DRIVER),
                                         std::pair(WAVETILE_DEVICE_HIP, WAVETILE_CAPABILITY_HIP)}) {
    bool listed = false, available = false;
    for (const auto& info : infos) listed = listed || info.kind == kind;
    const std::string detail = query(capability, available);
    EXPECT_EQ(listed, available) << detail;
  }
}

TEST(Capability, WhatIsRequiredIsThere) {
  const char* required = std::getenv("WAVETILE_REQUIRE");
  std::istringstream names(required ? required : "");
  for (std::string name; names >> name;) {
    if (name == "libamdhip64" || name == "gfx950" || name == "browser")
      continue;  // asked for where the tests are configured
    bool known = false;
    for (const Named& named : kCapabilities) {
      if (name != named.name) continue;
      known = true;
      bool available = false;
      const std::string detail = query(named.capability, available);
      EXPECT_TRUE(available) << "WAVETILE_REQUIRE names " << name << ": " << detail;
    }
    EXPECT_TRUE(known) << "WAVETILE_REQUIRE names " << name << ", which is no capability";
  }
}
