// SPDX-License-Identifier: Apache-2.0
// api/capability.cc - what this machine can do, and what is missing for the rest.
#include "api/guard.h"
#include "compile/compiler.h"
#include "runtime/cpu/onednn.h"
#include "runtime/device.h"

using namespace wt;
using namespace wt::api;

namespace {

struct Answer {
  bool available = false;
  std::string detail;
};

Answer compiler(compile::Backend backend, Target target) {
  if (const Status missing = compile::available(backend, target); !missing.ok()) return {false, missing.message()};
  const Result<std::string> version = compile::compiler_version(backend);
  return {version.ok(), version.ok() ? *version : version.status().message()};
}

Answer gpu(const char* id, const char* driver) {
  const Result<std::shared_ptr<Device>> device = open_device(id);
  if (!device.ok()) return {false, device.status().message()};
  const DeviceInfo& info = (*device)->info();
  return {true,
          fmt::format("{}, {} {}.{}", info.name, driver, info.driver_version / 1000, info.driver_version % 1000 / 10)};
}

Answer onednn() {
  const cpu::OnednnPlugin& plugin = cpu::onednn_plugin();
  if (!plugin.provider) return {false, plugin.fault};
  return {true, fmt::format("oneDNN {}", plugin.provider->version)};
}

Result<Answer> ask(wavetile_capability capability) {
  switch (capability) {
    case WAVETILE_CAPABILITY_CUDA_DRIVER:
      return gpu("gpu:0", "driver for CUDA");
    case WAVETILE_CAPABILITY_NVRTC:
      return compiler(compile::Backend::kNvrtc, Target::kSm90a);
    case WAVETILE_CAPABILITY_HOST_COMPILER:
      return compiler(compile::Backend::kHost, Target::kSm90a);
    case WAVETILE_CAPABILITY_CLANG_AMD:
      return compiler(compile::Backend::kClang, Target::kGfx942);
    case WAVETILE_CAPABILITY_ONEDNN:
      return onednn();
    case WAVETILE_CAPABILITY_HIP:
      return gpu("hip:0", "HIP");
  }
  return bad_input("capability={} is no choice; use 0 (CUDA driver) to 5 (HIP)", static_cast<int>(capability));
}

}  // namespace

extern "C" wavetile_status wavetile_capability_query(wavetile_capability capability, int32_t* available,
                                                     char** detail) {
  WT_API_REQUIRE(available);
  return guard_making([&]() -> Status {
    WT_TRY_ASSIGN(const Answer answer, ask(capability));
    if (detail) WT_TRY(new_string(answer.detail, detail));
    *available = answer.available ? 1 : 0;
    return {};
  });
}
