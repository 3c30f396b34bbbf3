// SPDX-License-Identifier: Apache-2.0
// The probes through NVRTC, so that the suite is known to compile before it meets a GPU.
#include <gtest/gtest.h>

#include "conformance/run.h"

namespace wt::conformance {
namespace {

#if defined(WT_HAVE_NVRTC)
TEST(Probes, CompileForGpus) {
  for (const Target target : {Target::kSm80, Target::kSm90a}) {
    const std::vector<Probe> list = probes(target);
    for (const auto& module : compile::compile_all(compile::Backend::kNvrtc, sources_of(list, target))) {
      ASSERT_TRUE(module.ok()) << module.status().message();
    }
  }
}
#endif

}  // namespace
}  // namespace wt::conformance
