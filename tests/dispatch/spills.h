// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/spills.h - compiles kernels of a rule set for the real targets: no GPU, no cache, no spills.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <vector>

#include "compile/compiler.h"
#include "config/fields.h"
#include "config/targets.h"
#include "generate/source.h"

namespace wt {

inline void expect_no_spills(const std::vector<KernelConfig>& kernels,
                             compile::Backend backend = compile::Backend::kNvrtc) {
  ::setenv("WAVETILE_CACHE_LIMIT_MB", "0", 1);
  std::vector<compile::Source> sources;
  for (const KernelConfig& config : kernels) {
    auto text = generate_source(config);
    ASSERT_TRUE(text.ok()) << text.status().message();
    sources.push_back({name_of(config), std::move(*text), config.target});
  }
  const auto modules = compile_all(backend, sources);
  ::unsetenv("WAVETILE_CACHE_LIMIT_MB");
  for (size_t i = 0; i < modules.size(); ++i) {
    ASSERT_TRUE(modules[i].ok()) << modules[i].status().message();
    EXPECT_EQ(modules[i]->resources.spill_bytes, 0) << sources[i].name;
    EXPECT_GT(modules[i]->resources.registers, 0) << sources[i].name;
    EXPECT_LE(modules[i]->resources.registers, info_of(sources[i].target).registers_per_thread) << sources[i].name;
    EXPECT_FALSE(modules[i]->from_cache);
  }
}

}  // namespace wt
