// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_taps/bind.cc - launches of this kind.
#include <cstddef>

#include "base/check.h"
#include "config/fields.h"
#include "kernels/depthwise_taps/kind.h"
#include "kernels/depthwise_taps/view.h"
#include "kernels/shared/conv_arguments.h"
#include "kernels/shared/direct_bind.h"

namespace wt {

Binding depthwise_taps_kind::bind(const KernelConfig& config, const View& view, const DeviceInfo&, int) {
  const ConvProblem& problem = view.problem();
  if (problem.output_elements() == 0) return {};
  const std::optional<TapsCut>& cut = taps_cut(config, view);
  WT_CHECK(cut.has_value(), "a depthwise_taps kernel that declines the problem is bound");
  Launch launch;
  launch.kernel = name_of(config);
  launch.shape.grid[0] = static_cast<uint32_t>(cut->grid);
  launch.shape.threads = static_cast<uint32_t>(config.direct.block_size);
  launch.shape.shared_bytes = static_cast<uint32_t>(cut->shared_bytes);
  set_params(launch, cut->arguments);
  launch.pointers.push_back(
      {offsetof(DepthwiseTapsArguments, first), direct_first(problem.direction), 0});
  launch.pointers.push_back(
      {offsetof(DepthwiseTapsArguments, second), direct_second(problem.direction), 0});
  Binding binding;
  binding.launches.push_back(std::move(launch));
  bind_direct_sum(binding, config, problem, offsetof(DepthwiseTapsArguments, out), cut->arguments.workers);
  return binding;
}

}  // namespace wt
