// SPDX-License-Identifier: Apache-2.0
// tests/trial_kernel/kind.cc - the smallest kernel there can be: its descriptor, proposals, limits, time and launch.
//
// Its line of config/kinds.h is the one of Kind::kTrial; its folder would be src/kernels/trial.
#include "kernels/kind.h"

#include <cstddef>

#include "base/integers.h"
#include "config/fields.h"
#include "kernels/shared/conv_arguments.h"
#include "tests/trial_kernel/device/arguments.h"

namespace wt::kinds {
namespace {

constexpr Direction kDirections[] = {Direction::kForward};
constexpr std::string_view kReadFields[] = {"direct.block_size"};

void propose(const KernelConfig& base, const TargetInfo&, Breadth, std::vector<KernelConfig>& configs) {
  for (const int threads : {64, 128}) {
    configs.push_back(base);
    configs.back().direct.block_size = threads;
  }
}

std::span<const Constraint> problem_rows() {
  static constexpr Constraint kRows[] = {
      {"trial-groups", "one group", nullptr, [](const Case& at) { return at.problem->g == 1; },
       [](const Case& at) { return fmt::format("{} groups; this kernel takes one", at.problem->g); }}};
  return kRows;
}

double predict(const KernelConfig&, const View& seen, int) {
  const ConvProblem& problem = seen.problem();
  return 1000.0 + 1e-3 * static_cast<double>(problem.y_elements());  // never the fastest
}

Binding bind(const KernelConfig& config, const View& seen, const DeviceInfo&, int) {
  const ConvProblem& problem = seen.problem();
  TrialArguments arguments{};
  arguments.shape = conv_shape(problem);
  arguments.x_strides = tensor_strides(problem, Tensor::kX);
  arguments.w_strides = tensor_strides(problem, Tensor::kW);
  arguments.y_strides = tensor_strides(problem, Tensor::kY);
  arguments.outputs = problem.y_elements();
  arguments.epilogue = epilogue_arguments(problem);
  Launch launch;
  launch.kernel = name_of(config);
  launch.shape.threads = static_cast<uint32_t>(config.direct.block_size);
  launch.shape.grid[0] = static_cast<uint32_t>(ceil_div(arguments.outputs, int64_t{config.direct.block_size}));
  set_params(launch, arguments);
  launch.pointers.push_back({offsetof(TrialArguments, x), Tensor::kX, 0});
  launch.pointers.push_back({offsetof(TrialArguments, w), Tensor::kW, 0});
  launch.pointers.push_back({offsetof(TrialArguments, y), Tensor::kY, 0});
  bind_epilogue(launch, problem, offsetof(TrialArguments, epilogue));
  Binding binding;
  if (arguments.outputs > 0) binding.launches.push_back(std::move(launch));
  return binding;
}

}  // namespace

extern const KernelKind kTrial = {.id = Kind::kTrial,
                                  .header = "kernels/trial/device/kernel.h",
                                  .class_name = "wt::TrialKernel",
                                  .directions = kDirections,
                                  .fields = kReadFields,
                                  .propose = propose,
                                  .problem_rows = problem_rows,
                                  .predict = predict,
                                  .bind = bind};

}  // namespace wt::kinds
