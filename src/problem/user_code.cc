// SPDX-License-Identifier: Apache-2.0
#include "problem/user_code.h"

#include <algorithm>

#include "base/check.h"

namespace wt {

static_assert(user::kMaxInputs == kMaxAuxiliary && user::kMaxNumbers == kMaxScalars);

user::OutputShape output_shape(const ConvProblem& problem) {
  user::OutputShape shape{};
  shape.weight = problem.direction == Direction::kBackwardWeight;
  shape.channels_last = problem.layout == Layout::kChannelsLast;
  shape.channels = static_cast<int>(shape.weight ? problem.c_per_group() : problem.output_channels());
  shape.group_channels = static_cast<int>(problem.output_channels() / problem.g);
  const Spatial size = problem.direction == Direction::kForward        ? problem.out()
                       : problem.direction == Direction::kBackwardData ? problem.in
                                                                       : problem.filter;
  for (size_t i = 0; i < size.size(); ++i) shape.size[i] = static_cast<int>(size[i]);
  return shape;
}

float apply_expression(const Epilogue& epilogue, const UserCode& code, float value, const user::Coord& at,
                       const std::array<float, kMaxAuxiliary>& aux) {
  WT_CHECK(code.expression, "the user's f was not compiled");
  user::Inputs in{};
  const int first = epilogue.added + epilogue.has_saved();
  for (int i = 0; i < epilogue.inputs; ++i) in.aux[i] = aux[static_cast<size_t>(first + i)];
  std::ranges::copy(epilogue.scalars, in.scalar);
  return code.expression(value, &at, &in);
}

}  // namespace wt
