// SPDX-License-Identifier: Apache-2.0
#include "config/signature.h"

#include "config/fields.h"
#include "config/user_text.h"

namespace wt {

EpilogueConfig epilogue_config_of(const ConvProblem& problem) {
  const Epilogue& epilogue = problem.epilogue;
  return {.scale = epilogue.scale,
          .bias = epilogue.bias,
          .residual = epilogue.residual,
          .activation = epilogue.activation,
          .amax = epilogue.amax,
          .user_hash = remember_user_text(epilogue),
          .added = static_cast<unsigned char>(epilogue.added),
          .gradient = epilogue.gradient,
          .inputs = static_cast<unsigned char>(epilogue.inputs),
          .expression = !epilogue.expression.empty(),
          .store = !epilogue.store.empty(),
          .scale_type = epilogue.scale_type,
          .bias_type = epilogue.bias_type,
          .x_zero = problem.x_zero != 0};
}

KernelConfig config_for(const ConvProblem& problem, Target target) {
  return {.direction = problem.direction,
          .target = target,
          .x = problem.x,
          .w = problem.w,
          .y = problem.y,
          .acc = problem.acc,
          .layout = problem.layout,
          .dims = static_cast<unsigned char>(problem.dims),
          .scales = problem.scales,
          .epilogue = epilogue_config_of(problem),
          .direct = {.history = problem.history}};
}

std::string signature_difference(const KernelConfig& config, const ConvProblem& problem) {
  static constexpr std::string_view kSigned[] = {"direction",
                                                 "scales",
                                                 "x",
                                                 "w",
                                                 "y",
                                                 "acc",
                                                 "layout",
                                                 "dims",
                                                 "epilogue.scale",
                                                 "epilogue.bias",
                                                 "epilogue.residual",
                                                 "epilogue.activation",
                                                 "epilogue.amax",
                                                 "epilogue.user_hash",
                                                 "epilogue.added",
                                                 "epilogue.gradient",
                                                 "epilogue.inputs",
                                                 "epilogue.expression",
                                                 "epilogue.store",
                                                 "epilogue.scale_type",
                                                 "epilogue.bias_type",
                                                 "epilogue.x_zero"};
  const KernelConfig wanted = config_for(problem, config.target);
  if (config.direction == wanted.direction && config.dims == wanted.dims && config.layout == wanted.layout &&
      config.x == wanted.x && config.w == wanted.w && config.y == wanted.y && config.acc == wanted.acc &&
      config.scales == wanted.scales && config.epilogue == wanted.epilogue)
    return {};
  std::string difference;
  for (const std::string_view path : kSigned) {
    const Field& field = *find_field(path);
    if (field.get(config) == field.get(wanted)) continue;
    difference += fmt::format("{}{}={}, the problem's is {}", difference.empty() ? "" : "; ", path, field.text(config),
                              field.text(wanted));
  }
  return difference;
}

void set_types(KernelConfig& config, DataType in, DataType out) {
  config.x = config.direction == Direction::kBackwardData ? out : in;
  config.w = config.direction == Direction::kBackwardWeight ? out : in;
  config.y = config.direction == Direction::kForward ? out : in;
}

}  // namespace wt
