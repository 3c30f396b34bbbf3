// SPDX-License-Identifier: Apache-2.0
#include "python/aten/aten_kernels.h"

#include <stdexcept>

#include "python/aten/run.h"

namespace wt::aten {
namespace {

using Type = Arguments::Type;
thread_local std::string stock_error;

std::string sizes_text(const Sizes& sizes) {
  std::string text = "(";
  for (size_t i = 0; i < sizes.size(); ++i) text += (i ? ", " : "") + std::to_string(sizes[i]);
  return text + ")";
}

// Hands the whole stack to the kernel that served before.
void call_stock(const char* name, StableIValue* stack, uint64_t results) {
  stock_error.clear();
  const AOTITorchError error = torch().torch_call_dispatcher(name, "", stack, kTorchVersion);
  // WHY by this way round: the interface passes no message on, so Python leaves it here and returns empty tensors.
  if (!stock_error.empty()) {
    for (uint64_t i = 0; i < results; ++i) Tensor(reinterpret_cast<AtenTensorHandle>(stack[i]));
    throw std::runtime_error(std::exchange(stock_error, std::string()));
  }
  check(error, name);
}

// Whether torch's kernel has to serve; counts it, and throws in the strict mode.
bool declined(const char* what, const Tensor& x, const Tensor& w, const std::string& why) {
  if (why.empty()) return false;
  if (why == "switched off") return true;
  const std::string text = std::string(what) + " of x " + sizes_text(x.sizes()) + " and w " + sizes_text(w.sizes());
  // An empty batch is no work that could be missed.
  if (switches().strict && why != "empty tensors") {
    fail(("wavetile.torch is strict and cannot serve " + text + ": " + why).c_str());
  }
  note_fallback(text, why);
  return true;
}

// What both kernels check; "" or why not.
std::string request_of(const Tensor& x, const Tensor& w, const Shape& shape, Request& request) {
  if (!switches().serving) return "switched off";
  const int32_t dtype = x.dtype(), type = type_of(dtype);
  if (type < 0) return "a type that Wavetile does not have";
  if (w.dtype() != dtype) return "two types";
  if (!x.same_device(w)) return "two devices";
  std::string why = describe(x.sizes(), w.sizes(), shape, request);
  if (!why.empty()) return why;
  request.device = x.on_cuda() ? x.device_index() : -1;
  request.last = suggests_last(x) || suggests_last(w);
  const bool tf32 = type == WAVETILE_F32 && (flags(request.device) & kTf32);
  request.x_type = request.w_type = request.y_type = tf32 ? WAVETILE_TF32 : type;
  return {};
}

Shape shape_of(const Arguments& arguments, size_t first) {
  Shape shape;
  shape.stride = arguments.ints(first);
  shape.lower = shape.upper = arguments.ints(first + 1);
  shape.dilation = arguments.ints(first + 2);
  shape.transposed = arguments.boolean(first + 3);
  shape.output_padding = arguments.ints(first + 4);
  shape.groups = arguments.integer(first + 5);
  return shape;
}

std::string plan_fault(Request request, Pass pass, bool bias_gradient, const Tensor& x) {
  request.bias_gradient = bias_gradient;
  return entry_of(for_pass(request, pass), current_stream(x)).decline;
}

StableIValue result(Tensor tensor) { return reinterpret_cast<StableIValue>(tensor.release()); }

// Frees the arguments when a kernel leaves, by whichever way, unless they were handed on.
struct Discard {
  Arguments& arguments;
  const Type* types;
  bool on = true;
  ~Discard() {
    if (on) arguments.discard(types);
  }
};

}  // namespace

void set_stock_error(const char* text) { stock_error = text; }

void convolution(StableIValue* stack, uint64_t, uint64_t results) {
  static constexpr Type kTypes[] = {Type::kTensor, Type::kTensor, Type::kOptionalTensor, Type::kList, Type::kList,
                                    Type::kList,   Type::kValue,  Type::kList,           Type::kValue};
  Arguments arguments(stack, std::size(kTypes));
  Discard discard{arguments, kTypes};
  Tensor y;
  {
    const Borrowed x(arguments.tensor(0)), w(arguments.tensor(1)), bias(arguments.optional_tensor(2));
    Request request;
    std::string why = request_of(*x, *w, shape_of(arguments, 3), request);
    if (why.empty() && bias->defined()) {
      set_bias(request, bias->dtype());
      if (bias->sizes() != Sizes{request.k} || !bias->same_device(*x)) why = "a bias of another size or device";
      if (type_of(bias->dtype()) < 0 || (bias->dtype() != x->dtype())) why = "a bias of another type";
    }
    if (why.empty()) why = plan_fault(request, Pass::kForward, false, *x);
    if (declined("convolution", *x, *w, why)) {
      discard.on = false;
    } else {
      y = forward(request, *x, *w, {.bias = bias->get()});
    }
  }
  if (!discard.on) return call_stock("wavetile::stock_convolution", stack, results);
  discard.on = false;
  arguments.discard(kTypes);
  stack[0] = result(std::move(y));
}

void convolution_backward(StableIValue* stack, uint64_t, uint64_t results) {
  static constexpr Type kTypes[] = {Type::kTensor, Type::kTensor, Type::kTensor, Type::kOptionalList,
                                    Type::kList,   Type::kList,   Type::kList,   Type::kValue,
                                    Type::kList,   Type::kValue,  Type::kList};
  Arguments arguments(stack, std::size(kTypes));
  Discard discard{arguments, kTypes};
  Tensor dx, dw, db;
  {
    const Borrowed dy(arguments.tensor(0)), x(arguments.tensor(1)), w(arguments.tensor(2));
    const Sizes mask = arguments.ints(10);
    const bool want_x = mask[0] & 0xff, want_w = mask[1] & 0xff, want_bias = mask[2] & 0xff;
    Request request;
    std::string why = request_of(*x, *w, shape_of(arguments, 4), request);
    if (why.empty() && (dy->sizes() != request.output_sizes() || !dy->same_device(*x) || type_of(dy->dtype()) < 0)) {
      why = "an output gradient of another size, type or device";
    }
    if (why.empty() && want_x) why = plan_fault(request, Pass::kInputGradient, false, *x);
    if (why.empty() && want_w) why = plan_fault(request, Pass::kWeightGradient, want_bias, *x);
    if (why.empty() && want_bias && !want_w) why = plan_fault(request, Pass::kBiasGradient, false, *x);
    if (declined("convolution_backward", *x, *w, why)) {
      discard.on = false;
    } else {
      if (want_x) dx = input_gradient(request, *dy, *w);
      if (want_w) {
        request.bias_gradient = want_bias;
        Gradients both = weight_gradient(request, *x, *dy);
        dw = std::move(both.weight);
        db = std::move(both.bias);
      } else if (want_bias) {
        db = bias_gradient(request, *dy);
      }
      if (want_bias) db = converted(std::move(db), x->dtype(), Format::kFirst);
    }
  }
  if (!discard.on) return call_stock("wavetile::stock_convolution_backward", stack, results);
  discard.on = false;
  arguments.discard(kTypes);
  Tensor* gradients[] = {&dx, &dw, &db};
  for (size_t i = 0; i < 3; ++i) {
    stack[i] = result(gradients[i]->get() ? std::move(*gradients[i]) : Tensor::undefined());
  }
}

}  // namespace wt::aten
