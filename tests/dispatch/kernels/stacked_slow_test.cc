// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/stacked_slow_test.cc - wgmma kernels for small groups as machine code: no spills, no products
// that wait for each other.
#include <gmock/gmock.h>
#include <stdlib.h>

#include <algorithm>

#include "compile/compiler.h"
#include "config/fields.h"
#include "generate/source.h"
#include "rules/rules.h"

namespace wt {
namespace {

#if WT_HAVE_NVRTC
TEST(StackedCode, NeitherSpillsNorSerialises) {
  std::vector<KernelConfig> kernels;
  const RuleQuery query{.target = Target::kSm90a,
                        .rule_set = RuleSet::kProfiler,
                        .types = {DataType::kBf16},
                        .dims = {2},
                        .layouts = {Layout::kChannelsLast}};
  for (const KernelConfig& config : list_kernels(query).kernels) {
    if (config.family() == Family::kDirect && config.kind == Kind::kStacked) kernels.push_back(config);
  }
  // The longest epilogue on each direction's first.
  for (const Direction direction : {Direction::kForward, Direction::kBackwardData}) {
    const auto first = std::ranges::find(kernels, direction, &KernelConfig::direction);
    ASSERT_NE(first, kernels.end());
    KernelConfig config = *first;
    config.epilogue.scale = config.epilogue.bias = config.epilogue.residual = config.epilogue.amax = true;
    config.epilogue.activation = Activation::kGelu;
    kernels.push_back(config);
  }
  EXPECT_GE(kernels.size(), 12u);
  std::vector<compile::Source> sources;
  for (const KernelConfig& config : kernels)
    sources.push_back({name_of(config), *generate_source(config), config.target});
  ::setenv("WAVETILE_CACHE_LIMIT_MB", "0", 1);
  const auto modules = compile_all(compile::Backend::kNvrtc, sources);
  ::unsetenv("WAVETILE_CACHE_LIMIT_MB");
  for (const auto& module : modules) {
    ASSERT_TRUE(module.ok()) << module.status().message();
    EXPECT_EQ(module->resources.spill_bytes, 0) << module->name;
    EXPECT_THAT(module->log, testing::HasSubstr("registers")) << module->name;
    EXPECT_THAT(module->log, testing::Not(testing::HasSubstr("serialized"))) << module->name;
  }
}
#endif  // WT_HAVE_NVRTC

}  // namespace
}  // namespace wt
