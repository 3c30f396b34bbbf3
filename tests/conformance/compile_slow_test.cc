// SPDX-License-Identifier: Apache-2.0
// The probes through NVRTC and clang, so that the suite is known to compile before it meets a GPU.
#include <gtest/gtest.h>

#include "config/targets.h"
#include "conformance/run.h"

namespace wt::conformance {
namespace {

#if defined(WT_HAVE_NVRTC)
TEST(Probes, CompileForGpus) {
  for (const Target target : {Target::kSm80, Target::kSm90a, Target::kSm100a}) {
    const std::vector<Probe> list = probes(target);
    for (const auto& module : compile::compile_all(compile::Backend::kNvrtc, sources_of(list, target))) {
      ASSERT_TRUE(module.ok()) << module.status().message();
    }
  }
}
#endif

#if defined(WT_HAVE_CLANG)
TEST(Probes, CompileForAmdGpus) {
  for (const TargetInfo& info : targets()) {
    if (info.vendor != Vendor::kAmd) continue;
    const bool recent = info.target == Target::kGfx950 || info.target == Target::kGfx1250;  // clang 19 has neither
    if (recent && !compile::available(compile::Backend::kClang, info.target).ok()) continue;
    const std::vector<Probe> list = probes(info.target);
    for (const auto& module : compile::compile_all(compile::Backend::kClang, sources_of(list, info.target))) {
      ASSERT_TRUE(module.ok()) << info.name << ": " << module.status().message();
      EXPECT_EQ(module->resources.spill_bytes, 0) << module->name;
    }
  }
}
#endif

}  // namespace
}  // namespace wt::conformance
