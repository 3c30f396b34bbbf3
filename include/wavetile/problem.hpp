// SPDX-License-Identifier: Apache-2.0
// wavetile/problem.hpp - a convolution, by its text or by its fields.
#pragma once

#include <wavetile/enums.hpp>
#include <wavetile/status.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace wavetile {

// One to three spatial values, outermost first: {w}, {h, w} or {d, h, w}. One value given for a problem of more
// dimensions stands for all of them.
class Spatial {
 public:
  Spatial(int64_t value) : count_(1), values_{value, 0, 0} {}
  Spatial(std::initializer_list<int64_t> values) {
    for (const int64_t value : values) {
      if (count_ < 3) values_[count_] = value;
      ++count_;
    }
  }
  int count() const { return count_; }
  int64_t operator[](int i) const { return values_[count_ == 1 ? 0 : i]; }

 private:
  int count_ = 0;
  int64_t values_[3] = {0, 0, 0};
};

// A problem by its fields; wavetile_problem_desc explains them. `in` decides the number of dimensions.
struct ProblemFields {
  Direction direction = Direction::kForward;
  Layout layout = Layout::kChannelsLast;
  Type x = Type::kBf16;
  Type w = Type::kBf16;
  Type y = Type::kBf16;
  Type acc = Type::kF32;
  int64_t n = 1;
  int64_t g = 1;
  int64_t c = 1;
  int64_t k = 1;
  Spatial in = {1, 1};
  Spatial filter = 1;
  Spatial stride = 1;
  Spatial dilation = 1;
  Padding padding = Padding::kExplicit;
  Spatial pad_lower = 0;
  std::optional<Spatial> pad_upper = std::nullopt;  // as pad_lower unless set
  float alpha = 1;
  bool scale = false;
  bool bias = false;
  bool residual = false;
  float beta = 1;
  Activation activation = Activation::kNone;
  float slope = 0.01f;
  float low = 0;
  float high = 6;
  bool amax = false;
  BiasGradientOf bias_gradient = BiasGradientOf::kNone;
  bool history = false;
  bool new_history = false;
  std::vector<float> betas = {};            // of tensors that are added beside the residual
  Activation gradient = Activation::kNone;  // which a gradient passes; its input is the saved tensor
  int inputs = 0;                           // auxiliary tensors of the expression
  int outputs = 0;                          // auxiliary tensors of the store
  std::vector<float> scalars = {};          // of the expression
  std::string expression = {};              // the user's C++: see wavetile_problem_desc
  std::string store = {};
  Type scale_type = Type::kF32;  // or kF16, kBf16
  Type bias_type = Type::kF32;
  Scales scales = Scales::kNone;  // of blocks of channels of x and w
  int x_zero = 0;                 // zero points of int8 tensors
  int y_zero = 0;
};

// A product of matrices, one or a batch; wavetile_gemm_desc explains it.
struct GemmFields {
  GemmForm form = GemmForm::kNt;
  Type a = Type::kBf16;
  Type b = Type::kBf16;
  Type d = Type::kBf16;
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 1;
  int64_t batch = 1;
  bool interleaved = false;
};

class Problem {
 public:
  static Result<Problem> create(const ProblemFields& fields) {
    wavetile_problem_desc desc;
    if (Status status = describe(fields, desc); !status) return status;
    wavetile_problem* handle = nullptr;
    if (Status status = Status::of(wavetile_problem_create(&desc, &handle)); !status) return status;
    return Problem(handle);
  }
  // A transposed convolution in its own terms: x, c and in are its input, y and k its output. The tensors of the
  // problem are those of Role::kTransposedInput and kTransposedOutput; see wavetile_problem_create_transposed.
  static Result<Problem> transposed(const ProblemFields& fields, const Spatial& output_padding = 0) {
    wavetile_problem_desc desc;
    if (Status status = describe(fields, desc); !status) return status;
    int64_t padding[3] = {0, 0, 0};
    if (Status status = spread("output_padding", output_padding, desc.dims, padding); !status) return status;
    wavetile_problem* handle = nullptr;
    if (Status status = Status::of(wavetile_problem_create_transposed(&desc, padding, &handle)); !status) return status;
    return Problem(handle);
  }
  // Of `epilogue` only the fields of the epilogue are read. gemm_tensors puts A, B and D where the problem has them.
  static Result<Problem> gemm(const GemmFields& fields, const ProblemFields& epilogue = {}) {
    wavetile_gemm_desc gemm;
    wavetile_gemm_desc_init(&gemm);
    gemm.form = static_cast<int32_t>(fields.form);
    gemm.a_type = static_cast<int32_t>(fields.a);
    gemm.b_type = static_cast<int32_t>(fields.b);
    gemm.d_type = static_cast<int32_t>(fields.d);
    gemm.m = fields.m, gemm.n = fields.n, gemm.k = fields.k, gemm.batch = fields.batch;
    gemm.interleaved = fields.interleaved;
    wavetile_problem_desc desc;
    if (Status status = describe(epilogue, desc); !status) return status;
    wavetile_problem* handle = nullptr;
    if (Status status = Status::of(wavetile_problem_create_gemm(&gemm, &desc, &handle)); !status) return status;
    return Problem(handle);
  }
  static Result<Problem> parse(const std::string& text) {
    wavetile_problem* handle = nullptr;
    if (Status status = Status::of(wavetile_problem_parse(text.c_str(), &handle)); !status) return status;
    return Problem(handle);
  }

  std::string text() const { return wavetile_problem_text(get()); }
  std::string canonical_text() const { return wavetile_problem_canonical_text(get()); }
  double flops() const { return wavetile_problem_flops(get()); }
  Role output() const { return static_cast<Role>(wavetile_problem_output_role(get())); }
  size_t bytes(Role role) const {
    return static_cast<size_t>(wavetile_problem_tensor_bytes(get(), static_cast<wavetile_role>(role)));
  }
  TensorInfo tensor(Role role) const {
    auto info = detail::sized<TensorInfo>();
    wavetile_problem_tensor(get(), static_cast<wavetile_role>(role), &info);
    return info;
  }
  // The roles of A, B and D of a product of matrices.
  Result<std::array<Role, 3>> gemm_roles() const {
    wavetile_role a = WAVETILE_ROLE_X, b = WAVETILE_ROLE_X, d = WAVETILE_ROLE_X;
    if (Status status = Status::of(wavetile_problem_gemm_roles(get(), &a, &b, &d)); !status) return status;
    return std::array<Role, 3>{static_cast<Role>(a), static_cast<Role>(b), static_cast<Role>(d)};
  }
  wavetile_problem_desc desc() const {
    auto desc = detail::sized<wavetile_problem_desc>();
    wavetile_problem_get_desc(get(), &desc);
    return desc;
  }
  // The spatial size of y.
  std::vector<int64_t> output_size() const {
    int64_t size[3] = {0, 0, 0};
    wavetile_problem_output_size(get(), size);
    return std::vector<int64_t>(size, size + desc().dims);
  }

  const wavetile_problem* get() const { return handle_.get(); }

 private:
  explicit Problem(wavetile_problem* handle) : handle_(handle, wavetile_problem_destroy) {}

  static Status spread(const char* name, const Spatial& source, int dims, int64_t* target) {
    if (source.count() != 1 && source.count() != dims) {
      return Status(Code::kBadInput, std::string(name) + " has " + std::to_string(source.count()) +
                                         " values and in has " + std::to_string(dims) +
                                         "; give as many, or one for all dimensions");
    }
    for (int i = 0; i < dims && i < 3; ++i) target[i] = source[i];
    return {};
  }

  static Status describe(const ProblemFields& fields, wavetile_problem_desc& desc) {
    wavetile_problem_desc_init(&desc);
    const int dims = fields.in.count();
    desc.dims = dims;
    const Spatial& pad_upper = fields.pad_upper ? *fields.pad_upper : fields.pad_lower;
    const std::pair<const char*, std::pair<const Spatial*, int64_t*>> spatial[] = {
        {"in", {&fields.in, desc.in}},
        {"filter", {&fields.filter, desc.filter}},
        {"stride", {&fields.stride, desc.stride}},
        {"dilation", {&fields.dilation, desc.dilation}},
        {"pad_lower", {&fields.pad_lower, desc.pad_lower}},
        {"pad_upper", {&pad_upper, desc.pad_upper}}};
    for (const auto& [name, value] : spatial) {
      if (Status status = spread(name, *value.first, dims, value.second); !status) return status;
    }
    desc.direction = static_cast<int32_t>(fields.direction);
    desc.layout = static_cast<int32_t>(fields.layout);
    desc.x_type = static_cast<int32_t>(fields.x);
    desc.w_type = static_cast<int32_t>(fields.w);
    desc.y_type = static_cast<int32_t>(fields.y);
    desc.acc_type = static_cast<int32_t>(fields.acc);
    desc.padding = static_cast<int32_t>(fields.padding);
    desc.n = fields.n;
    desc.g = fields.g;
    desc.c = fields.c;
    desc.k = fields.k;
    desc.alpha = fields.alpha;
    desc.beta = fields.beta;
    desc.scale = fields.scale;
    desc.bias = fields.bias;
    desc.scale_type = static_cast<int32_t>(fields.scale_type);
    desc.bias_type = static_cast<int32_t>(fields.bias_type);
    desc.x_zero = fields.x_zero;
    desc.y_zero = fields.y_zero;
    desc.residual = fields.residual;
    desc.amax = fields.amax;
    desc.activation = static_cast<int32_t>(fields.activation);
    desc.slope = fields.slope;
    desc.low = fields.low;
    desc.high = fields.high;
    desc.bias_gradient = static_cast<int32_t>(fields.bias_gradient);
    desc.history = fields.history;
    desc.new_history = fields.new_history;
    desc.scales = static_cast<int32_t>(fields.scales);
    if (fields.betas.size() > 4 || fields.scalars.size() > 8) {
      return Status(Code::kBadInput, std::to_string(fields.betas.size()) + " betas and " +
                                         std::to_string(fields.scalars.size()) +
                                         " scalars; there may be at most 4 and 8");
    }
    desc.added = static_cast<int32_t>(fields.betas.size());
    desc.scalar_count = static_cast<int32_t>(fields.scalars.size());
    for (size_t i = 0; i < fields.betas.size(); ++i) desc.betas[i] = fields.betas[i];
    for (size_t i = 0; i < fields.scalars.size(); ++i) desc.scalars[i] = fields.scalars[i];
    desc.gradient = static_cast<int32_t>(fields.gradient);
    desc.inputs = fields.inputs;
    desc.outputs = fields.outputs;
    // Points into `fields`, which the caller keeps until the problem is made.
    desc.expression = fields.expression.empty() ? nullptr : fields.expression.c_str();
    desc.store = fields.store.empty() ? nullptr : fields.store.c_str();
    return {};
  }

  std::shared_ptr<wavetile_problem> handle_;
};

}  // namespace wavetile
