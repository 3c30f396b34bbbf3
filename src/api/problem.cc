// SPDX-License-Identifier: Apache-2.0
// api/problem.cc - problems of the C API: the plain struct to ConvProblem and back.
#include "problem/problem.h"

#include <algorithm>
#include <iterator>

#include "api/guard.h"
#include "api/handles.h"
#include "base/format.h"

using namespace wt;
using namespace wt::api;

namespace {

constexpr size_t kDescFirstSize = offsetof(wavetile_problem_desc, high) + sizeof(float);
constexpr size_t kTensorInfoFirstSize = offsetof(wavetile_tensor_info, bytes) + sizeof(int64_t);

// WHY: the C header's numbers are fixed for ever and the C++ enumerations follow them, so a cast converts.
static_assert(static_cast<int>(Direction::kBackwardWeight) == WAVETILE_BACKWARD_WEIGHT);
static_assert(static_cast<int>(DataType::kTf32) == WAVETILE_TF32 && static_cast<int>(DataType::kF16) == WAVETILE_F16);
static_assert(static_cast<int>(DataType::kBf16) == WAVETILE_BF16 && static_cast<int>(DataType::kE4m3) == WAVETILE_E4M3);
static_assert(static_cast<int>(DataType::kE5m2) == WAVETILE_E5M2 &&
              static_cast<int>(DataType::kE2m1) == WAVETILE_E2M1 && static_cast<int>(DataType::kI8) == WAVETILE_INT8);
static_assert(static_cast<int>(BlockScales::kNv) == WAVETILE_SCALES_NV);
static_assert(static_cast<int>(Layout::kChannelsFirst) == WAVETILE_CHANNELS_FIRST);
static_assert(static_cast<int>(Activation::kLeakyRelu) == WAVETILE_ACTIVATION_LEAKY_RELU);
static_assert(static_cast<int>(Activation::kClamp) == WAVETILE_ACTIVATION_CLAMP);
static_assert(static_cast<int>(kLastActivation) == WAVETILE_ACTIVATION_GELU_TANH);
static_assert(static_cast<int>(Tensor::kAmax) == WAVETILE_ROLE_AMAX);
static_assert(static_cast<int>(Tensor::kBiasGradient) == WAVETILE_ROLE_BIAS_GRADIENT);
static_assert(static_cast<int>(Tensor::kHistory) == WAVETILE_ROLE_HISTORY);
static_assert(static_cast<int>(Tensor::kNewHistory) == WAVETILE_ROLE_NEW_HISTORY);
static_assert(static_cast<int>(BiasGradient::kOfX) == WAVETILE_BIAS_GRADIENT_OF_X);

template <class Enum>
Status read_enum(const char* field, int32_t value, Enum last, const char* choices, Enum& out) {
  if (value < 0 || value > static_cast<int>(last)) {
    return bad_input("{}={} is no choice; use {}", field, value, choices);
  }
  out = static_cast<Enum>(value);
  return {};
}

Status read_flag(const char* field, int32_t value, bool& out) {
  if (value != 0 && value != 1) return bad_input("{}={} is no choice; use 0 or 1", field, value);
  out = value == 1;
  return {};
}

constexpr const char* kTypeChoices = "0 (fp32), 1 (tf32), 2 (fp16), 3 (bf16), 4 (e4m3), 5 (e5m2), 6 (e2m1) or 7 (int8)";
constexpr const char* kChannelTypeChoices = "0 (fp32), 2 (fp16) or 3 (bf16)";

// "0 (none), 1 (relu), .. or 13 (gelu_tanh)"
std::string activation_choices() {
  std::string text;
  for (const ActivationFacts& facts : kActivations) {
    if (!text.empty()) text += facts.activation == kLastActivation ? " or " : ", ";
    text += fmt::format("{} ({})", static_cast<int>(facts.activation), facts.name);
  }
  return text;
}

// The struct's spatial values stand first, the problem's last: see problem.h.
void read_spatial(const int64_t (&values)[3], int dims, Spatial& out) {
  for (int i = 0; i < dims; ++i) out[kMaxDims - dims + i] = values[i];
}

void write_spatial(const Spatial& values, int dims, int64_t neutral, int64_t (&out)[3]) {
  for (int i = 0; i < kMaxDims; ++i) out[i] = i < dims ? values[kMaxDims - dims + i] : neutral;
}

Status read_padding(const wavetile_problem_desc& desc, ConvProblem& problem) {
  switch (desc.padding) {
    case WAVETILE_PADDING_EXPLICIT:
      read_spatial(desc.pad_lower, problem.dims, problem.pad_lower);
      read_spatial(desc.pad_upper, problem.dims, problem.pad_upper);
      for (int i = kMaxDims - problem.dims; i < kMaxDims; ++i)
        if (problem.pad_upper[i] == WAVETILE_PAD_AS_LOWER) problem.pad_upper[i] = problem.pad_lower[i];
      return {};
    case WAVETILE_PADDING_VALID:
      return {};
    case WAVETILE_PADDING_SAME:
    case WAVETILE_PADDING_CAUSAL:
      break;
    default:
      return bad_input("padding={} is no choice; use 0 (explicit), 1 (same), 2 (valid) or 3 (causal)", desc.padding);
  }
  for (int i = kMaxDims - problem.dims; i < kMaxDims; ++i) {
    for (const int64_t value : {problem.in[i], problem.filter[i], problem.stride[i], problem.dilation[i]}) {
      if (value < 1) return {};  // the padding would divide by it; validate names the fault
      if (value > INT32_MAX) {
        return bad_input("padding={} cannot be worked out for a size of {}; use explicit padding", desc.padding, value);
      }
    }
  }
  if (desc.padding == WAVETILE_PADDING_SAME) {
    set_same_padding(problem);
  } else {
    set_causal_padding(problem);
  }
  return {};
}

Status read_epilogue(const wavetile_problem_desc& desc, Epilogue& out) {
  out.alpha = desc.alpha;
  out.beta = desc.beta;
  WT_TRY(read_flag("scale", desc.scale, out.scale));
  WT_TRY(read_flag("bias", desc.bias, out.bias));
  WT_TRY(read_enum("scale_type", desc.scale_type, DataType::kI8, kChannelTypeChoices, out.scale_type));
  WT_TRY(read_enum("bias_type", desc.bias_type, DataType::kI8, kChannelTypeChoices, out.bias_type));
  WT_TRY(read_flag("residual", desc.residual, out.residual));
  WT_TRY(read_flag("amax", desc.amax, out.amax));
  WT_TRY(read_enum("activation", desc.activation, kLastActivation, activation_choices().c_str(), out.activation));
  out.slope = desc.slope;
  out.low = desc.low;
  out.high = desc.high;
  WT_TRY(read_enum("gradient", desc.gradient, kLastActivation, activation_choices().c_str(), out.gradient));
  out.added = desc.added;
  out.inputs = desc.inputs;
  out.outputs = desc.outputs;
  out.scalar_count = desc.scalar_count;
  std::copy(std::begin(desc.betas), std::end(desc.betas), out.betas.begin());
  std::copy(std::begin(desc.scalars), std::end(desc.scalars), out.scalars.begin());
  if (desc.expression) out.expression = desc.expression;
  if (desc.store) out.store = desc.store;
  if (desc.reserved2 != 0) {
    return bad_input("wavetile_problem_desc.reserved2 is {}; call wavetile_problem_desc_init first", desc.reserved2);
  }
  return {};
}

wavetile_problem_desc default_desc();

}  // namespace

namespace wt::api {

Status read_desc(const wavetile_problem_desc& caller, bool transposed, ConvProblem& problem) {
  wavetile_problem_desc desc = default_desc();
  WT_TRY(read_struct(caller, "wavetile_problem_desc", kDescFirstSize, desc));
  problem = {};
  if (desc.dims < 1 || desc.dims > kMaxDims) return bad_input("dims={} is no choice; use 1, 2 or 3", desc.dims);
  problem.dims = desc.dims;
  WT_TRY(read_enum("direction", desc.direction, Direction::kBackwardWeight,
                   "0 (forward), 1 (backward data) or 2 (backward weight)", problem.direction));
  WT_TRY(read_enum("layout", desc.layout, Layout::kChannelsFirst, "0 (channels last) or 1 (channels first)",
                   problem.layout));
  WT_TRY(read_enum("x_type", desc.x_type, DataType::kI8, kTypeChoices, problem.x));
  WT_TRY(read_enum("w_type", desc.w_type, DataType::kI8, kTypeChoices, problem.w));
  WT_TRY(read_enum("y_type", desc.y_type, DataType::kI8, kTypeChoices, problem.y));
  WT_TRY(read_enum("acc_type", desc.acc_type, DataType::kI8, kTypeChoices, problem.acc));
  problem.n = desc.n;
  problem.g = desc.g;
  problem.c = desc.c;
  problem.k = desc.k;
  read_spatial(desc.in, desc.dims, problem.in);
  read_spatial(desc.filter, desc.dims, problem.filter);
  read_spatial(desc.stride, desc.dims, problem.stride);
  read_spatial(desc.dilation, desc.dims, problem.dilation);
  if (transposed && desc.padding != WAVETILE_PADDING_EXPLICIT && desc.padding != WAVETILE_PADDING_VALID) {
    return bad_input("padding={} of a transposed convolution cannot be worked out; use 0 (explicit) or 2 (valid)",
                     desc.padding);
  }
  WT_TRY(read_padding(desc, problem));
  WT_TRY(read_enum("bias_gradient", desc.bias_gradient, BiasGradient::kOfX, "0 (none), 1 (of y) or 2 (of x)",
                   problem.bias_gradient));
  WT_TRY(read_flag("history", desc.history, problem.history));
  WT_TRY(read_flag("new_history", desc.new_history, problem.new_history));
  WT_TRY(read_enum("scales", desc.scales, BlockScales::kNv, "0 (none), 1 (mx) or 2 (nv)", problem.scales));
  if (desc.reserved3 != 0) {
    return bad_input("wavetile_problem_desc.reserved3 is {}; call wavetile_problem_desc_init first", desc.reserved3);
  }
  problem.x_zero = desc.x_zero;
  problem.y_zero = desc.y_zero;
  if (desc.reserved != 0) {
    return bad_input("wavetile_problem_desc.reserved is {}; call wavetile_problem_desc_init first", desc.reserved);
  }
  return read_epilogue(desc, problem.epilogue);
}

}  // namespace wt::api

namespace {

Result<ConvProblem> read_problem(const wavetile_problem_desc& desc) {
  ConvProblem problem;
  WT_TRY(read_desc(desc, false, problem));
  WT_TRY(validate(problem));
  return problem;
}

wavetile_problem_desc write_desc(const ConvProblem& problem) {
  wavetile_problem_desc desc{};
  desc.struct_size = sizeof desc;
  desc.direction = static_cast<int32_t>(problem.direction);
  desc.dims = problem.dims;
  desc.layout = static_cast<int32_t>(problem.layout);
  desc.x_type = static_cast<int32_t>(problem.x);
  desc.w_type = static_cast<int32_t>(problem.w);
  desc.y_type = static_cast<int32_t>(problem.y);
  desc.acc_type = static_cast<int32_t>(problem.acc);
  desc.padding = WAVETILE_PADDING_EXPLICIT;
  desc.n = problem.n;
  desc.g = problem.g;
  desc.c = problem.c;
  desc.k = problem.k;
  write_spatial(problem.in, problem.dims, 1, desc.in);
  write_spatial(problem.filter, problem.dims, 1, desc.filter);
  write_spatial(problem.stride, problem.dims, 1, desc.stride);
  write_spatial(problem.dilation, problem.dims, 1, desc.dilation);
  write_spatial(problem.pad_lower, problem.dims, 0, desc.pad_lower);
  write_spatial(problem.pad_upper, problem.dims, 0, desc.pad_upper);
  const Epilogue& epilogue = problem.epilogue;
  desc.alpha = epilogue.alpha;
  desc.beta = epilogue.beta;
  desc.scale = epilogue.scale;
  desc.bias = epilogue.bias;
  desc.scale_type = static_cast<int32_t>(epilogue.scale_type);
  desc.bias_type = static_cast<int32_t>(epilogue.bias_type);
  desc.residual = epilogue.residual;
  desc.amax = epilogue.amax;
  desc.activation = static_cast<int32_t>(epilogue.activation);
  desc.slope = epilogue.slope;
  desc.low = epilogue.low;
  desc.high = epilogue.high;
  desc.gradient = static_cast<int32_t>(epilogue.gradient);
  desc.added = epilogue.added;
  desc.inputs = epilogue.inputs;
  desc.outputs = epilogue.outputs;
  desc.scalar_count = epilogue.scalar_count;
  std::copy(epilogue.betas.begin(), epilogue.betas.end(), desc.betas);
  std::copy(epilogue.scalars.begin(), epilogue.scalars.end(), desc.scalars);
  // They live as long as the problem does.
  desc.expression = epilogue.expression.empty() ? nullptr : epilogue.expression.c_str();
  desc.store = epilogue.store.empty() ? nullptr : epilogue.store.c_str();
  desc.bias_gradient = static_cast<int32_t>(problem.bias_gradient);
  desc.history = problem.history;
  desc.new_history = problem.new_history;
  desc.scales = static_cast<int32_t>(problem.scales);
  desc.x_zero = problem.x_zero;
  desc.y_zero = problem.y_zero;
  return desc;
}

wavetile_problem_desc default_desc() {
  wavetile_problem_desc desc = write_desc(ConvProblem());
  for (int64_t& pad : desc.pad_upper) pad = WAVETILE_PAD_AS_LOWER;
  return desc;
}

}  // namespace

namespace wt::api {

wavetile_problem* new_problem(const ConvProblem& problem) {
  return new wavetile_problem{problem, to_text(problem), canonical_text(problem)};
}

}  // namespace wt::api

extern "C" {

void wavetile_problem_desc_init(wavetile_problem_desc* desc) {
  if (desc) *desc = default_desc();
}

wavetile_status wavetile_problem_create(const wavetile_problem_desc* desc, wavetile_problem** problem) {
  WT_API_REQUIRE(desc);
  WT_API_REQUIRE(problem);
  return guard([&]() -> Status {
    WT_TRY_ASSIGN(const ConvProblem value, read_problem(*desc));
    *problem = new_problem(value);
    return {};
  });
}

wavetile_status wavetile_problem_parse(const char* text, wavetile_problem** problem) {
  WT_API_REQUIRE(text);
  WT_API_REQUIRE(problem);
  return guard([&]() -> Status {
    WT_TRY_ASSIGN(const ConvProblem value, parse_problem(text));
    *problem = new_problem(value);
    return {};
  });
}

void wavetile_problem_destroy(wavetile_problem* problem) { delete problem; }

wavetile_status wavetile_problem_validate(const wavetile_problem_desc* desc) {
  WT_API_REQUIRE(desc);
  return guard([&] { return read_problem(*desc).status(); });
}

wavetile_status wavetile_problem_get_desc(const wavetile_problem* problem, wavetile_problem_desc* desc) {
  WT_API_REQUIRE(problem);
  WT_API_REQUIRE(desc);
  return guard([&] { return write_struct(write_desc(problem->value), "wavetile_problem_desc", kDescFirstSize, desc); });
}

const char* wavetile_problem_text(const wavetile_problem* problem) { return problem ? problem->text.c_str() : nullptr; }

const char* wavetile_problem_canonical_text(const wavetile_problem* problem) {
  return problem ? problem->canonical_text.c_str() : nullptr;
}

wavetile_status wavetile_problem_output_size(const wavetile_problem* problem, int64_t size[3]) {
  WT_API_REQUIRE(problem);
  WT_API_REQUIRE(size);
  const Spatial out = problem->value.out();
  const int dims = problem->value.dims;
  for (int i = 0; i < kMaxDims; ++i) size[i] = i < dims ? out[kMaxDims - dims + i] : 1;
  return WAVETILE_OK;
}

double wavetile_problem_flops(const wavetile_problem* problem) { return problem ? problem->value.flops() : 0; }

wavetile_status wavetile_problem_tensor(const wavetile_problem* problem, wavetile_role role,
                                        wavetile_tensor_info* info) {
  WT_API_REQUIRE(problem);
  WT_API_REQUIRE(info);
  return guard([&]() -> Status {
    if (role < 0 || role >= kRoleCount) return bad_input("role={} is no choice; use 0 (x) to 15 (w_scales)", int{role});
    const TensorShape tensor = tensor_shape(problem->value, role);
    wavetile_tensor_info value{};
    value.use = tensor.use;
    if (tensor.use != WAVETILE_UNUSED) {
      value.type = tensor.scales == BlockScales::kNone ? static_cast<int32_t>(tensor.type)
                   : tensor.scales == BlockScales::kMx ? WAVETILE_UE8M0
                                                       : WAVETILE_UE4M3;
      value.rank = tensor.rank;
      std::copy(tensor.shape.begin(), tensor.shape.end(), value.shape);
      value.elements = tensor.elements;
      value.bytes = tensor.bytes();
    }
    return write_struct(value, "wavetile_tensor_info", kTensorInfoFirstSize, info);
  });
}

int64_t wavetile_problem_tensor_bytes(const wavetile_problem* problem, wavetile_role role) {
  if (!problem || role < 0 || role >= kRoleCount) return 0;
  const TensorShape tensor = tensor_shape(problem->value, role);
  return tensor.use == WAVETILE_UNUSED ? 0 : tensor.bytes();
}

wavetile_role wavetile_problem_output_role(const wavetile_problem* problem) {
  return problem ? output_role(problem->value) : WAVETILE_ROLE_X;
}

}  // extern "C"
