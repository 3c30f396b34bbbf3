// SPDX-License-Identifier: Apache-2.0
// dispatch/plan/bias_gradient.h - the gradient of a bias on a device: alone, or in the same execute as a weight
// gradient.
//
//   ChannelTensor --make--> ChannelSummer --execute--> kernels/beside/device/channel_sum.h, twice (on the CPU:
//   problem/channel_sums.h)
#pragma once

#include "dispatch/plan/plan.h"
#include "problem/channel_sums.h"

namespace wt {

// Immutable; execute may be called from several threads at once, each with its own workspace.
class ChannelSummer {
 public:
  virtual ~ChannelSummer() = default;
  virtual const ChannelTensor& tensor() const = 0;
  virtual const PlanDescription& description() const = 0;
  virtual int64_t workspace_bytes() const = 0;
  // `in` is 16-byte aligned, `workspace` 256-byte aligned; `out` has one float a channel. Sends the work and returns.
  virtual Status execute(const void* in, float* out, void* workspace, Stream stream) const = 0;
};

// Any limit works; the less workspace, the fewer blocks share the sums.
Result<std::shared_ptr<const ChannelSummer>> make_channel_summer(const std::shared_ptr<Device>& device,
                                                                 const ChannelTensor& tensor,
                                                                 std::optional<int64_t> workspace_limit = {});

// What its description names, or why there is none.
Result<std::string> channel_summer_name(const DeviceInfo& device, const ChannelTensor& tensor);

// `inner` executes the problem without its bias gradient; the sums follow it. `reason` goes before the inner plan's.
Result<std::shared_ptr<const Plan>> make_bias_gradient_plan(const std::shared_ptr<Device>& device,
                                                            const ConvProblem& problem, const PlanOptions& options,
                                                            std::shared_ptr<const Plan> inner,
                                                            const std::string& reason);

}  // namespace wt
