// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_strips/bind.cc - launches of this kind.
#include <cstddef>

#include "base/check.h"
#include "config/fields.h"
#include "kernels/depthwise_strips/kind.h"
#include "kernels/depthwise_strips/view.h"
#include "kernels/shared/conv_arguments.h"
#include "kernels/shared/direct_bind.h"
#include "kernels/shared/tma_maps.h"

namespace wt {

Binding depthwise_strips_kind::bind(const KernelConfig& config, const View& view, const DeviceInfo&, int) {
  const ConvProblem& problem = view.problem();
  if (problem.output_elements() == 0) return {};
  const std::optional<StripsCut>& cut = strips_cut(config, view);
  WT_CHECK(cut.has_value(), "a strips kernel that declines the problem is bound");
  const bool weight = problem.direction == Direction::kBackwardWeight;
  StripsArguments arguments = cut->arguments;
  arguments.epilogue = epilogue_arguments(problem);

  Launch launch;
  launch.kernel = name_of(config);
  launch.shape.grid[0] = static_cast<uint32_t>(cut->grid);
  launch.shape.threads = static_cast<uint32_t>(config.direct.block_size);
  launch.shape.shared_bytes = static_cast<uint32_t>(cut->shared_bytes);
  set_params(launch, arguments);
  launch.pointers.push_back({offsetof(StripsArguments, first), direct_first(problem.direction), 0});
  launch.pointers.push_back({offsetof(StripsArguments, second), direct_second(problem.direction), 0});
  Binding binding;
  if (weight) {
    binding.launches.push_back(std::move(launch));
    bind_direct_sum(binding, config, problem, offsetof(StripsArguments, out), arguments.workers);
    return binding;
  }
  launch.pointers.push_back({offsetof(StripsArguments, out), output_tensor(problem.direction), 0});
  bind_epilogue(launch, problem, offsetof(StripsArguments, epilogue));
  binding.launches.push_back(std::move(launch));
  return binding;
}

}  // namespace wt
