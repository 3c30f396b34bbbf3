// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/channel_types.h - one problem by one kernel of each kind, exact on small integers.
#pragma once

#include "one_of_each.h"

namespace wt {

inline void expect_each_exact(const char* device_id, const std::string& text) {
  const auto device = open_device(device_id);
  ASSERT_TRUE(device.ok()) << device.status().message();
  const ConvProblem problem = problem_of(text);
  const std::vector<KernelConfig> kernels = one_of_each(problem, (*device)->info().target);
  ASSERT_FALSE(kernels.empty()) << text;
  for (const KernelConfig& config : kernels) expect_exact(*device, problem, config);
}

}  // namespace wt
