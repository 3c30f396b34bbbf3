// SPDX-License-Identifier: Apache-2.0
#include "python/aten/run.h"

namespace wt::aten {
namespace {

constexpr uintptr_t kWorkspaceAlignment = 256;

Entry& ready(const Request& request, void* stream) {
  Entry& entry = entry_of(request, stream);
  if (!entry.decline.empty()) fail(("wavetile cannot run this convolution: " + entry.decline).c_str());
  if (!rehearsal().on) entry.calls.fetch_add(1, std::memory_order_relaxed);
  return entry;
}

// Scratch memory of torch's, which its allocator reuses in the order of the current stream.
struct Workspace {
  Workspace(const Entry& entry, const Tensor& like) : bytes(static_cast<size_t>(entry.workspace_bytes)) {
    if (bytes == 0) return;
    // WHY more: torch's memory on the CPU is aligned to 64 bytes only.
    const Sizes size = {static_cast<int64_t>(bytes + kWorkspaceAlignment)};
    tensor = Tensor::empty(size, Format::kFirst, torch().aoti_torch_dtype_uint8(), like);
    const auto at = reinterpret_cast<uintptr_t>(tensor.data());
    memory = reinterpret_cast<void*>((at + kWorkspaceAlignment - 1) & ~(kWorkspaceAlignment - 1));
  }
  size_t bytes;
  Tensor tensor;
  void* memory = nullptr;
};

// The work of an entry, by its problem, in a profiler's time line.
class Range {
 public:
  explicit Range(const Entry& entry) : call_(switches().range.load(std::memory_order_acquire)) {
    if (call_) call_(("wavetile " + entry.text).c_str());
  }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
  ~Range() {
    if (call_) call_(nullptr);
  }

 private:
  RangeCallback call_;
};

void execute(const Entry& entry, const Tensor& like, void* stream, const wavetile_tensors& tensors) {
  if (rehearsal().on) return;
  const Range range(entry);
  const Workspace workspace(entry, like);
  if (wavetile_plan_execute(entry.plan, stream, &tensors, workspace.memory, workspace.bytes) != WAVETILE_OK) {
    fail(wavetile_last_error());
  }
}

wavetile_tensors no_tensors() {
  wavetile_tensors tensors;
  wavetile_tensors_init(&tensors);
  return tensors;
}

// A transposed convolution's input is the tensor of role y, its output that of role x.
void*& input_of(const Request& request, wavetile_tensors& tensors) {
  return request.transposed ? tensors.y : tensors.x;
}
void*& output_of(const Request& request, wavetile_tensors& tensors) {
  return request.transposed ? tensors.x : tensors.y;
}

}  // namespace

Tensor forward(const Request& request, const Tensor& x, const Tensor& w, const Steps& steps) {
  return causal(request, x, w, steps, nullptr, nullptr);
}

Tensor causal(const Request& asked, const Tensor& x, const Tensor& w, const Steps& steps, AtenTensorHandle history,
              AtenTensorHandle new_history) {
  const Request request = for_pass(asked, Pass::kForward);
  const Format format = request.format();
  void* stream = current_stream(x);
  Entry& entry = ready(request, stream);
  const Dense dense_x(x, format, dtype_of(request.x_type)), dense_w(w, format, dtype_of(request.w_type));
  Tensor y = Tensor::empty(request.output_sizes(), format, dtype_of(request.y_type), x);
  wavetile_tensors tensors = no_tensors();
  input_of(request, tensors) = dense_x.data();
  output_of(request, tensors) = y.data();
  tensors.w = dense_w.data();
  std::optional<Dense> bias, residual, before;
  const Borrowed given_bias(steps.bias), given_residual(steps.residual), given_history(history),
      given_new_history(new_history);
  if (request.bias) {
    bias.emplace(*given_bias, Format::kFirst, dtype_of(request.bias_type));
    tensors.bias = bias->data();
  }
  if (request.residual) {
    residual.emplace(*given_residual, format, dtype_of(request.y_type));
    tensors.residual = residual->data();
  }
  if (request.history) {
    before.emplace(*given_history, format, dtype_of(request.x_type));
    tensors.history = before->data();
  }
  if (request.new_history) tensors.new_history = given_new_history->data();
  execute(entry, x, stream, tensors);
  return y;
}

Tensor input_gradient(const Request& asked, const Tensor& dy, const Tensor& w) {
  const Request request = for_pass(asked, Pass::kInputGradient);
  const Format format = request.format();
  void* stream = current_stream(dy);
  Entry& entry = ready(request, stream);
  const Dense dense_dy(dy, format, dtype_of(request.y_type)), dense_w(w, format, dtype_of(request.w_type));
  Tensor dx = Tensor::empty(request.input_sizes(), format, dtype_of(request.x_type), dy);
  wavetile_tensors tensors = no_tensors();
  input_of(request, tensors) = dx.data();
  output_of(request, tensors) = dense_dy.data();
  tensors.w = dense_w.data();
  execute(entry, dy, stream, tensors);
  return dx;
}

Gradients weight_gradient(const Request& asked, const Tensor& x, const Tensor& dy) {
  const Request request = for_pass(asked, Pass::kWeightGradient);
  const Format format = request.format();
  void* stream = current_stream(x);
  Entry& entry = ready(request, stream);
  const Dense dense_x(x, format, dtype_of(request.x_type)), dense_dy(dy, format, dtype_of(request.y_type));
  Gradients gradients;
  gradients.weight = Tensor::empty(request.weight_sizes(), format, dtype_of(request.w_type), x);
  wavetile_tensors tensors = no_tensors();
  input_of(request, tensors) = dense_x.data();
  output_of(request, tensors) = dense_dy.data();
  tensors.w = gradients.weight.data();
  if (request.bias_gradient) {
    gradients.bias = Tensor::empty({request.k}, Format::kFirst, torch().aoti_torch_dtype_float32(), x);
    tensors.bias_gradient = gradients.bias.data();
  }
  execute(entry, x, stream, tensors);
  return gradients;
}

Tensor bias_gradient(const Request& asked, const Tensor& dy) {
  const Request request = for_pass(asked, Pass::kBiasGradient);
  void* stream = current_stream(dy);
  Entry& entry = ready(request, stream);
  const Dense dense_dy(dy, request.format(), dtype_of(request.y_type));
  Tensor db = Tensor::empty({request.k}, Format::kFirst, torch().aoti_torch_dtype_float32(), dy);
  if (rehearsal().on) return db;
  const Range range(entry);
  const Workspace workspace(entry, dy);
  if (wavetile_bias_gradient_execute(entry.bias_gradient, stream, dense_dy.data(), static_cast<float*>(db.data()),
                                     workspace.memory, workspace.bytes) != WAVETILE_OK) {
    fail(wavetile_last_error());
  }
  return db;
}

Tensor converted(Tensor tensor, int32_t dtype, Format format) {
  if (tensor.dtype() == dtype) return tensor;
  Tensor copy = Tensor::empty(tensor.sizes(), format, dtype, tensor);
  check(torch().aoti_torch_copy_(copy.get(), tensor.get(), 0), "copy_");
  return copy;
}

}  // namespace wt::aten
