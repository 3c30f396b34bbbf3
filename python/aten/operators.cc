// SPDX-License-Identifier: Apache-2.0
#include "python/aten/operators.h"

#include "python/aten/run.h"

namespace wt::aten {
namespace {

using Type = Arguments::Type;
constexpr Type kT = Type::kTensor, kO = Type::kOptionalTensor, kL = Type::kList, kV = Type::kValue;

struct Call {
  Call(StableIValue* stack, std::span<const Type> types) : arguments(stack, types.size()), types_(types.data()) {}
  ~Call() {
    if (!done_) arguments.discard(types_);
  }
  void finish() {
    done_ = true;
    arguments.discard(types_);
  }
  Arguments arguments;

 private:
  const Type* types_;
  bool done_ = false;
};

StableIValue result(Tensor tensor) { return reinterpret_cast<StableIValue>(tensor.release()); }

void require(const std::string& why) {
  if (!why.empty()) fail(("wavetile cannot run this convolution: " + why).c_str());
}

// stride, lower, upper, dilation, transposed, output_padding, groups from `first` on
Shape shape_of(const Arguments& arguments, size_t first) {
  Shape shape;
  shape.stride = arguments.ints(first);
  shape.lower = arguments.ints(first + 1);
  shape.upper = arguments.ints(first + 2);
  shape.dilation = arguments.ints(first + 3);
  shape.transposed = arguments.boolean(first + 4);
  shape.output_padding = arguments.ints(first + 5);
  shape.groups = arguments.integer(first + 6);
  return shape;
}

#define WT_SHAPE_SCHEMA                                                                                            \
  "SymInt[] stride, SymInt[] lower, SymInt[] upper, SymInt[] dilation, bool transposed, SymInt[] output_padding, " \
  "SymInt groups"

int64_t input_type(const Tensor& tensor, int64_t device) {
  const int32_t type = type_of(tensor.dtype());
  if (type < 0) require("a type that Wavetile does not have");
  const bool tf32 = type == WAVETILE_F32 && (flags(device) & kTf32);
  return tf32 ? WAVETILE_TF32 : type;
}

void set_place(const Tensor& first, const Tensor& second, bool last, Request& request) {
  if (!first.same_device(second)) require("tensors on two devices");
  request.device = first.on_cuda() ? first.device_index() : -1;
  request.last = last;
}

constexpr Type kConvTypes[] = {kT, kT, kO, kO, kL, kL, kL, kL, kV, kL, kV, kV, kV, kV, kV, kV, kV};
void conv(StableIValue* stack, uint64_t, uint64_t) {
  Call call(stack, kConvTypes);
  const Arguments& arguments = call.arguments;
  Tensor y;
  {
    const Borrowed x(arguments.tensor(0)), w(arguments.tensor(1));
    Request request;
    require(describe(x->sizes(), w->sizes(), shape_of(arguments, 4), request));
    set_place(*x, *w, arguments.boolean(16), request);
    request.x_type = input_type(*x, request.device);
    request.w_type = input_type(*w, request.device);
    const int64_t out = arguments.integer(15);
    request.y_type = out >= 0 ? out : request.x_type;
    const Steps steps = {.bias = arguments.optional_tensor(2), .residual = arguments.optional_tensor(3)};
    if (steps.bias != nullptr) set_bias(request, Borrowed(steps.bias)->dtype());
    request.residual = steps.residual != nullptr;
    request.activation = arguments.integer(11);
    request.slope = arguments.number(12);
    request.low = arguments.number(13);
    request.high = arguments.number(14);
    if (request.residual && Borrowed(steps.residual)->sizes() != request.output_sizes()) {
      require("a residual of another size than the output");
    }
    if (request.bias && Borrowed(steps.bias)->sizes() != Sizes{request.k}) require("a bias of another size than k");
    y = forward(request, *x, *w, steps);
  }
  call.finish();
  stack[0] = result(std::move(y));
}

constexpr Type kDxTypes[] = {kT, kT, kL, kL, kL, kL, kL, kV, kL, kV, kV};
void conv_dx(StableIValue* stack, uint64_t, uint64_t) {
  Call call(stack, kDxTypes);
  const Arguments& arguments = call.arguments;
  Tensor dx;
  {
    const Borrowed dy(arguments.tensor(0)), w(arguments.tensor(1));
    Request request;
    require(describe(arguments.ints(2), w->sizes(), shape_of(arguments, 3), request));
    set_place(*dy, *w, arguments.boolean(10), request);
    request.x_type = request.y_type = input_type(*dy, request.device);
    request.w_type = input_type(*w, request.device);
    if (dy->sizes() != request.output_sizes()) require("an output gradient of another size");
    dx = input_gradient(request, *dy, *w);
  }
  call.finish();
  stack[0] = result(std::move(dx));
}

constexpr Type kDwTypes[] = {kT, kT, kL, kL, kL, kL, kL, kV, kL, kV, kV, kV, kV};
void conv_dw(StableIValue* stack, uint64_t, uint64_t) {
  Call call(stack, kDwTypes);
  const Arguments& arguments = call.arguments;
  Gradients gradients;
  {
    const Borrowed x(arguments.tensor(0)), dy(arguments.tensor(1));
    Request request;
    require(describe(x->sizes(), arguments.ints(2), shape_of(arguments, 3), request));
    set_place(*x, *dy, arguments.boolean(12), request);
    request.x_type = input_type(*x, request.device);
    request.y_type = input_type(*dy, request.device);
    const int64_t type = arguments.integer(11);
    request.w_type = type >= 0 ? type : request.x_type;
    request.bias_gradient = arguments.boolean(10);
    if (dy->sizes() != request.output_sizes()) require("an output gradient of another size");
    gradients = weight_gradient(request, *x, *dy);
    if (!request.bias_gradient) {
      gradients.bias = Tensor::empty({0}, Format::kFirst, torch().aoti_torch_dtype_float32(), *x);
    }
  }
  call.finish();
  stack[0] = result(std::move(gradients.weight));
  stack[1] = result(std::move(gradients.bias));
}

constexpr Type kCausalTypes[] = {kT, kT, kO, kO, kV, kV, kV, kV};
void causal_conv(StableIValue* stack, uint64_t, uint64_t) {
  Call call(stack, kCausalTypes);
  const Arguments& arguments = call.arguments;
  Tensor y, after;
  {
    const Borrowed x(arguments.tensor(0)), w(arguments.tensor(1)), before(arguments.optional_tensor(3));
    const int64_t dilation = arguments.integer(5);
    const Sizes taps = w->sizes();
    if (taps.size() != 3) require("a filter that is not (k, c / groups, width)");
    const int64_t reach = dilation * (taps[2] - 1);
    Shape shape;
    shape.stride = {1};
    shape.lower = {reach};
    shape.upper = {0};
    shape.dilation = {dilation};
    shape.groups = arguments.integer(4);
    Request request;
    require(describe(x->sizes(), taps, shape, request));
    set_place(*x, *w, true, request);
    request.x_type = request.y_type = input_type(*x, request.device);
    request.w_type = input_type(*w, request.device);
    if (arguments.has(2)) set_bias(request, Borrowed(arguments.optional_tensor(2))->dtype());
    request.activation = arguments.integer(6);
    request.history = arguments.has(3);
    request.new_history = arguments.boolean(7) && reach > 0;
    const Sizes state = {request.n, request.c, reach};
    if (request.history && before->sizes() != state) require("a history that is not (n, c, dilation * (width - 1))");
    if (request.history && reach == 0) require("a history for a filter of width 1, which looks at nothing before");
    after = Tensor::empty(request.new_history ? state : Sizes{0}, Format::kLast, x->dtype(), *x);
    y = causal(request, *x, *w, {.bias = arguments.optional_tensor(2)}, before->get(), after.get());
  }
  call.finish();
  stack[0] = result(std::move(y));
  stack[1] = result(std::move(after));
}

constexpr Operator kOperators[] = {
    {"conv",
     "conv(Tensor x, Tensor w, Tensor? bias, Tensor? residual, " WT_SHAPE_SCHEMA
     ", int activation, float slope, float low, float high, int out_type, bool last) -> Tensor",
     conv},
    {"conv_dx", "conv_dx(Tensor dy, Tensor w, SymInt[] x_size, " WT_SHAPE_SCHEMA ", bool last) -> Tensor", conv_dx},
    {"conv_dw",
     "conv_dw(Tensor x, Tensor dy, SymInt[] w_size, " WT_SHAPE_SCHEMA
     ", bool bias, int w_type, bool last) -> (Tensor, Tensor)",
     conv_dw},
    {"causal_conv",
     "causal_conv(Tensor x, Tensor w, Tensor? bias, Tensor? history, SymInt groups, SymInt dilation, int activation, "
     "bool new_history) -> (Tensor, Tensor)",
     causal_conv}};

}  // namespace

std::span<const Operator> operators() { return kOperators; }

}  // namespace wt::aten
