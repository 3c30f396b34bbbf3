// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/user_epilogue_steps.h - epilogues that use everything, exact on small integers, and the kernels that
// must all get them right.
#pragma once

#include "one_of_each.h"

namespace wt {

// Every field of Coord, every kind of auxiliary tensor and a number; nothing that rounds. A weight gradient passes no
// activation.
inline constexpr const char* kAllSteps[] = {
    " +bias+residual+add=2+grad_relu+aux=1+scalars=-3+f=\"acc + in.scalar[0] * in.aux[0] + at.n + at.d - at.h + 2 * "
    "at.w - at.channel + at.group\"+amax",
    " +residual=2+add=1:-2:0.5+aux=1+scalars=-3+f=\"acc + in.scalar[0] * in.aux[0] + at.n + at.d - at.h + 2 * at.w - "
    "at.channel + at.group + at.c\"+amax"};
// The element to its place, twice it to a tensor of its own, and its channel as an integer to another.
inline constexpr const char* kStores[] = {
    " +out=2+store=\"out.put(value); out.put(0, 2 * value); out.put_as<short>(1, out.offset, (short)at.channel)\"",
    " +out=2+store=\"out.put(value); out.put(0, 2 * value); out.put_as<short>(1, out.offset, (short)at.c)\""};

inline void expect_each(const char* device_id, const std::string& text, const char* const (&steps)[2]) {
  const auto device = open_device(device_id);
  ASSERT_TRUE(device.ok()) << device.status().message();
  const ConvProblem problem = problem_of(text + steps[text.starts_with("bwd_weight")]);
  const std::vector<KernelConfig> kernels = one_of_each(problem, (*device)->info().target);
  ASSERT_FALSE(kernels.empty());
  for (const KernelConfig& config : kernels) expect_exact(*device, problem, config);
}

}  // namespace wt
