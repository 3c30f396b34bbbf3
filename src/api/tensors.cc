// SPDX-License-Identifier: Apache-2.0
// api/tensors.cc - the tensors of a problem as the C API names them: roles, shapes, and which are written.
#include "api/handles.h"

namespace wt::api {

wavetile_role output_role(const ConvProblem& problem) {
  switch (problem.direction) {
    case Direction::kForward:
      return WAVETILE_ROLE_Y;
    case Direction::kBackwardData:
      return WAVETILE_ROLE_X;
    case Direction::kBackwardWeight:
      return WAVETILE_ROLE_W;
  }
  return WAVETILE_ROLE_Y;
}

const char* role_name(const ConvProblem& problem, wavetile_role role) {
  const bool forward = problem.direction == Direction::kForward;
  const bool output = role == output_role(problem);
  switch (role) {
    case WAVETILE_ROLE_X:
      return output ? "x (dx)" : "x";
    case WAVETILE_ROLE_W:
      return output ? "w (dw)" : "w";
    case WAVETILE_ROLE_Y:
      return forward ? "y" : "y (dy)";
    case WAVETILE_ROLE_SCALE:
      return "scale";
    case WAVETILE_ROLE_BIAS:
      return "bias";
    case WAVETILE_ROLE_RESIDUAL:
      return "residual";
    case WAVETILE_ROLE_AMAX:
      return "amax";
    case WAVETILE_ROLE_BIAS_GRADIENT:
      return "bias_gradient";
    case WAVETILE_ROLE_HISTORY:
      return problem.writes_history() ? "history (its gradient)" : "history";
    case WAVETILE_ROLE_NEW_HISTORY:
      return problem.reads_new_history() ? "new_history (its gradient)" : "new_history";
    case WAVETILE_ROLE_AUX0:
      return "aux[0]";
    case WAVETILE_ROLE_AUX1:
      return "aux[1]";
    case WAVETILE_ROLE_AUX2:
      return "aux[2]";
    case WAVETILE_ROLE_AUX3:
      return "aux[3]";
    case WAVETILE_ROLE_X_SCALES:
      return "x_scales";
    case WAVETILE_ROLE_W_SCALES:
      return "w_scales";
  }
  return "?";
}

namespace {

Spatial history_sizes(const ConvProblem& problem) {
  Spatial sizes = problem.in;
  sizes[static_cast<size_t>(problem.time())] = problem.history_length();
  return sizes;
}

}  // namespace

TensorShape tensor_shape(const ConvProblem& problem, wavetile_role role) {
  TensorShape tensor;
  const auto append = [&](int64_t size) { tensor.shape[tensor.rank++] = size; };
  // outer, spatial, channels or outer, channels, spatial
  const auto activations = [&](int64_t outer, const Spatial& sizes, int64_t channels) {
    append(outer);
    if (problem.layout == Layout::kChannelsFirst) append(channels);
    for (int i = kMaxDims - problem.dims; i < kMaxDims; ++i) append(sizes[i]);
    if (problem.layout == Layout::kChannelsLast) append(channels);
  };
  const int64_t output_channels = problem.direction == Direction::kBackwardData ? problem.c : problem.k;
  bool used = true;
  switch (role) {
    case WAVETILE_ROLE_X:
      activations(problem.n, problem.in, problem.c / packed_in_byte(problem.x));
      tensor.type = problem.x;
      break;
    case WAVETILE_ROLE_W:
      activations(problem.k, problem.filter, problem.c_per_group() / packed_in_byte(problem.w));
      tensor.type = problem.w;
      break;
    case WAVETILE_ROLE_Y:
      activations(problem.n, problem.out(), problem.k);
      tensor.type = problem.y;
      break;
    case WAVETILE_ROLE_SCALE:
      used = problem.epilogue.scale;
      append(output_channels);
      tensor.type = problem.epilogue.scale_type;
      break;
    case WAVETILE_ROLE_BIAS:
      used = problem.epilogue.bias;
      append(output_channels);
      tensor.type = problem.epilogue.bias_type;
      break;
    case WAVETILE_ROLE_RESIDUAL:
      used = problem.epilogue.residual;
      tensor = tensor_shape(problem, output_role(problem));
      break;
    case WAVETILE_ROLE_AUX0:
    case WAVETILE_ROLE_AUX1:
    case WAVETILE_ROLE_AUX2:
    case WAVETILE_ROLE_AUX3:
      used = role - WAVETILE_ROLE_AUX0 < problem.epilogue.auxiliaries();
      tensor = tensor_shape(problem, output_role(problem));
      break;
    case WAVETILE_ROLE_AMAX:
      used = problem.epilogue.amax;
      append(1);
      break;
    case WAVETILE_ROLE_BIAS_GRADIENT:
      used = problem.bias_gradient != BiasGradient::kNone;
      append(problem.bias_gradient_channels());
      break;
    case WAVETILE_ROLE_HISTORY:
    case WAVETILE_ROLE_NEW_HISTORY:
      used = role == WAVETILE_ROLE_HISTORY ? problem.history : problem.new_history;
      activations(problem.n, history_sizes(problem), problem.c);
      tensor.type = problem.x;
      break;
    case WAVETILE_ROLE_X_SCALES:
    case WAVETILE_ROLE_W_SCALES:
      used = problem.has_scales();
      if (role == WAVETILE_ROLE_X_SCALES) activations(problem.n, problem.in, problem.c / scale_block(problem.scales));
      if (role == WAVETILE_ROLE_W_SCALES)
        activations(problem.k, problem.filter, problem.c_per_group() / scale_block(problem.scales));
      tensor.type = DataType::kE4m3;  // a byte each
      tensor.scales = problem.scales;
      break;
  }
  if (!used) return {};
  const bool written = role == output_role(problem) || role == WAVETILE_ROLE_AMAX ||
                       role == WAVETILE_ROLE_BIAS_GRADIENT ||
                       (role == WAVETILE_ROLE_HISTORY && problem.writes_history()) ||
                       (role == WAVETILE_ROLE_NEW_HISTORY && problem.writes_new_history()) ||
                       (role <= WAVETILE_ROLE_AUX3 && role - WAVETILE_ROLE_AUX0 >= problem.epilogue.auxiliaries_read());
  tensor.use = written ? WAVETILE_WRITTEN : WAVETILE_READ;
  tensor.elements = 1;
  for (int i = 0; i < tensor.rank; ++i) tensor.elements *= tensor.shape[i];
  return tensor;
}

}  // namespace wt::api
