// SPDX-License-Identifier: Apache-2.0
// wavetile/wavetile.hpp - the C++ layer over the C API (wavetile.h): owners, results and named fields.
//
//   auto device = wavetile::Device::open();                                            // Result<Device>
//   auto problem = wavetile::Problem::parse("fwd bf16 n16 c256 k256 i100x100 f3x3 p1");
//   auto plan = wavetile::Plan::create(*device, *problem);
//   wavetile::Status status = plan->execute({.x = x, .w = w, .y = y}, workspace);
//
// Nothing here throws, except Result::value() and Status::throw_if_failed(), for those who like exceptions. Header-only
// and built on the C API alone, so that a program keeps working with a newer library whatever compiler built either.
// Needs C++17; designated fields as above need C++20. Ownership and thread rules are those of wavetile.h.
#pragma once

#include <wavetile/wavetile.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#if defined(__cpp_exceptions)
#include <stdexcept>
#else
#include <cstdlib>
#endif

namespace wavetile {

enum class Direction : int32_t {
  kForward = WAVETILE_FORWARD,
  kBackwardData = WAVETILE_BACKWARD_DATA,
  kBackwardWeight = WAVETILE_BACKWARD_WEIGHT,
};
enum class Type : int32_t {
  kF32 = WAVETILE_F32,
  kTf32 = WAVETILE_TF32,
  kF16 = WAVETILE_F16,
  kBf16 = WAVETILE_BF16,
  kE4m3 = WAVETILE_E4M3,
  kE5m2 = WAVETILE_E5M2,
};
enum class Layout : int32_t { kChannelsLast = WAVETILE_CHANNELS_LAST, kChannelsFirst = WAVETILE_CHANNELS_FIRST };
enum class Activation : int32_t {
  kNone = WAVETILE_ACTIVATION_NONE,
  kRelu = WAVETILE_ACTIVATION_RELU,
  kLeakyRelu = WAVETILE_ACTIVATION_LEAKY_RELU,
  kClamp = WAVETILE_ACTIVATION_CLAMP,
  kSilu = WAVETILE_ACTIVATION_SILU,
  kGelu = WAVETILE_ACTIVATION_GELU,
  kSigmoid = WAVETILE_ACTIVATION_SIGMOID,
  kTanh = WAVETILE_ACTIVATION_TANH,
};
enum class Padding : int32_t {
  kExplicit = WAVETILE_PADDING_EXPLICIT,
  kSame = WAVETILE_PADDING_SAME,
  kValid = WAVETILE_PADDING_VALID,
  kCausal = WAVETILE_PADDING_CAUSAL,
};
enum class BiasGradientOf : int32_t {
  kNone = WAVETILE_BIAS_GRADIENT_NONE,
  kY = WAVETILE_BIAS_GRADIENT_OF_Y,
  kX = WAVETILE_BIAS_GRADIENT_OF_X,
};
enum class Tuning : int32_t {
  kOff = WAVETILE_TUNING_OFF,
  kCached = WAVETILE_TUNING_CACHED,
  kFirstUse = WAVETILE_TUNING_FIRST_USE,
};
enum class Role : int32_t {
  kX = WAVETILE_ROLE_X,
  kW = WAVETILE_ROLE_W,
  kY = WAVETILE_ROLE_Y,
  kScale = WAVETILE_ROLE_SCALE,
  kBias = WAVETILE_ROLE_BIAS,
  kResidual = WAVETILE_ROLE_RESIDUAL,
  kAmax = WAVETILE_ROLE_AMAX,
  kBiasGradient = WAVETILE_ROLE_BIAS_GRADIENT,
  kHistory = WAVETILE_ROLE_HISTORY,
  kNewHistory = WAVETILE_ROLE_NEW_HISTORY,
  kAux0 = WAVETILE_ROLE_AUX0,
  kAux1 = WAVETILE_ROLE_AUX1,
  kAux2 = WAVETILE_ROLE_AUX2,
  kAux3 = WAVETILE_ROLE_AUX3,
  kTransposedInput = WAVETILE_ROLE_TRANSPOSED_INPUT,
  kTransposedOutput = WAVETILE_ROLE_TRANSPOSED_OUTPUT,
};

using Stream = wavetile_stream;
using DeviceInfo = wavetile_device_info;
using PlanInfo = wavetile_plan_info;
using TensorInfo = wavetile_tensor_info;
using VerifyReport = wavetile_verify_report;

#if defined(__cpp_exceptions)
class Error : public std::runtime_error {
 public:
  Error(wavetile_status code, const std::string& message) : std::runtime_error(message), code_(code) {}
  wavetile_status code() const { return code_; }

 private:
  wavetile_status code_;
};
#endif

// A code and, where it is a failure, its text.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(wavetile_status code, std::string message) : code_(code), message_(std::move(message)) {}
  // Of a C call that was just made on this thread.
  static Status of(wavetile_status code) {
    return code == WAVETILE_OK ? Status() : Status(code, wavetile_last_error());
  }

  bool ok() const { return code_ == WAVETILE_OK; }
  explicit operator bool() const { return ok(); }
  wavetile_status code() const { return code_; }
  const std::string& message() const { return message_; }

  // Throws Error where exceptions are on, aborts where they are off.
  void throw_if_failed() const {
    if (ok()) return;
#if defined(__cpp_exceptions)
    throw Error(code_, message_);
#else
    std::abort();
#endif
  }

 private:
  wavetile_status code_ = WAVETILE_OK;
  std::string message_;
};

// A value, or the Status that says why there is none. * and -> need ok(); value() checks.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) {}

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Status& status() const { return status_; }

  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

  T& value() & {
    status_.throw_if_failed();
    return *value_;
  }
  T&& value() && {
    status_.throw_if_failed();
    return *std::move(value_);
  }

 private:
  std::optional<T> value_;
  Status status_;
};

namespace detail {

struct StringFree {
  void operator()(char* text) const { wavetile_string_free(text); }
};

inline std::string take(char* text) {
  const std::unique_ptr<char, StringFree> owner(text);
  return text ? std::string(text) : std::string();
}

template <class Handle, void (*kEnd)(Handle*)>
struct End {
  void operator()(Handle* handle) const { kEnd(handle); }
};

template <class Struct>
Struct sized() {
  Struct value{};
  value.struct_size = sizeof(Struct);
  return value;
}

}  // namespace detail

// A device and its memory. Copies share the device.
class Device {
 public:
  // "auto" (the first GPU, else the CPU), "cpu", "gpu:0", "sim:sm_90a".
  static Result<Device> open(const std::string& id = "auto") {
    wavetile_device* handle = nullptr;
    if (Status status = Status::of(wavetile_device_open(id.c_str(), &handle)); !status) return status;
    return Device(handle);
  }

  static Result<std::vector<DeviceInfo>> list() {
    size_t count = 0;
    if (Status status = Status::of(wavetile_device_list(nullptr, 0, &count)); !status) return status;
    std::vector<DeviceInfo> infos(count, detail::sized<DeviceInfo>());
    if (Status status = Status::of(wavetile_device_list(infos.data(), infos.size(), &count)); !status) return status;
    if (count < infos.size()) infos.resize(count);
    return infos;
  }

  DeviceInfo info() const {
    auto info = detail::sized<DeviceInfo>();
    wavetile_device_get_info(get(), &info);
    return info;
  }

  Status copy_in(void* device, const void* host, size_t bytes) const {
    return Status::of(wavetile_device_copy_in(get(), device, host, bytes));
  }
  Status copy_out(void* host, const void* device, size_t bytes) const {
    return Status::of(wavetile_device_copy_out(get(), host, device, bytes));
  }
  Status fill(void* device, uint8_t value, size_t bytes, Stream stream = nullptr) const {
    return Status::of(wavetile_device_fill(get(), device, value, bytes, stream));
  }
  Result<Stream> make_stream() const {
    Stream stream = nullptr;
    if (Status status = Status::of(wavetile_stream_create(get(), &stream)); !status) return status;
    return stream;
  }
  Status destroy_stream(Stream stream) const { return Status::of(wavetile_stream_destroy(get(), stream)); }
  Status synchronize(Stream stream = nullptr) const { return Status::of(wavetile_stream_synchronize(get(), stream)); }

  wavetile_device* get() const { return handle_.get(); }

 private:
  explicit Device(wavetile_device* handle) : handle_(handle, wavetile_device_close) {}
  std::shared_ptr<wavetile_device> handle_;
};

// Device memory with an owner.
class Buffer {
 public:
  Buffer() = default;

  static Result<Buffer> allocate(const Device& device, size_t bytes) {
    void* memory = nullptr;
    if (Status status = Status::of(wavetile_device_allocate(device.get(), bytes, &memory)); !status) return status;
    return Buffer(device, memory, bytes);
  }
  // Allocates and copies in.
  static Result<Buffer> from(const Device& device, const void* host, size_t bytes) {
    Result<Buffer> buffer = allocate(device, bytes);
    if (!buffer) return buffer;
    if (Status status = device.copy_in(buffer->data(), host, bytes); !status) return status;
    return buffer;
  }

  Buffer(Buffer&& other) noexcept
      : device_(std::move(other.device_)),
        memory_(std::exchange(other.memory_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    if (this != &other) {
      release();
      device_ = std::move(other.device_);
      memory_ = std::exchange(other.memory_, nullptr);
      bytes_ = std::exchange(other.bytes_, 0);
    }
    return *this;
  }
  ~Buffer() { release(); }

  void* data() const { return memory_; }
  size_t size() const { return bytes_; }
  Status copy_in(const void* host) const { return bytes_ ? device_->copy_in(memory_, host, bytes_) : Status(); }
  Status copy_out(void* host) const { return bytes_ ? device_->copy_out(host, memory_, bytes_) : Status(); }

 private:
  Buffer(Device device, void* memory, size_t bytes) : device_(std::move(device)), memory_(memory), bytes_(bytes) {}
  void release() {
    if (memory_) wavetile_device_free(device_->get(), memory_);
  }

  std::optional<Device> device_;
  void* memory_ = nullptr;
  size_t bytes_ = 0;
};

// A point in a stream; two of them time what lies between.
class Event {
 public:
  static Result<Event> create(const Device& device) {
    wavetile_event* handle = nullptr;
    if (Status status = Status::of(wavetile_event_create(device.get(), &handle)); !status) return status;
    return Event(handle);
  }
  Status record(Stream stream = nullptr) { return Status::of(wavetile_event_record(handle_.get(), stream)); }
  Status wait() { return Status::of(wavetile_event_wait(handle_.get())); }
  // Microseconds since `start`; waits for this event.
  Result<double> since(const Event& start) {
    double microseconds = 0;
    if (Status status = Status::of(wavetile_event_elapsed(start.handle_.get(), handle_.get(), &microseconds));
        !status) {
      return status;
    }
    return microseconds;
  }

 private:
  explicit Event(wavetile_event* handle) : handle_(handle) {}
  std::unique_ptr<wavetile_event, detail::End<wavetile_event, wavetile_event_destroy>> handle_;
};

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
      return Status(WAVETILE_BAD_INPUT, std::string(name) + " has " + std::to_string(source.count()) +
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
    desc.residual = fields.residual;
    desc.amax = fields.amax;
    desc.activation = static_cast<int32_t>(fields.activation);
    desc.slope = fields.slope;
    desc.low = fields.low;
    desc.high = fields.high;
    desc.bias_gradient = static_cast<int32_t>(fields.bias_gradient);
    desc.history = fields.history;
    desc.new_history = fields.new_history;
    if (fields.betas.size() > 4 || fields.scalars.size() > 8) {
      return Status(WAVETILE_BAD_INPUT, std::to_string(fields.betas.size()) + " betas and " +
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
    // Of `fields`, which the caller keeps until the problem is made.
    desc.expression = fields.expression.empty() ? nullptr : fields.expression.c_str();
    desc.store = fields.store.empty() ? nullptr : fields.store.c_str();
    return {};
  }

  std::shared_ptr<wavetile_problem> handle_;
};

struct PlanOptions {
  bool deterministic = true;
  bool strict_nonfinite = false;
  Tuning tuning = Tuning::kCached;
  std::optional<int64_t> workspace_limit = std::nullopt;  // bytes
  std::string kernel = {};                                // by name; empty: choose
  double tuning_seconds = 10;                             // limit of tuning on first use
  wavetile_stream stream = nullptr;                       // where the plan will run; see wavetile_plan_options
  bool fallback = false;                                  // take the next kernel where one cannot be had
};

// Pointers by role; wavetile_tensors explains them.
struct Tensors {
  void* x = nullptr;
  void* w = nullptr;
  void* y = nullptr;
  void* scale = nullptr;
  void* bias = nullptr;
  void* residual = nullptr;
  void* amax = nullptr;
  void* bias_gradient = nullptr;
  void* history = nullptr;
  void* new_history = nullptr;
  std::array<void*, 4> aux{};
};

// The same in the terms of a transposed convolution (Problem::transposed); gradients stand where their tensors do.
struct TransposedTensors {
  void* input = nullptr;
  void* w = nullptr;
  void* output = nullptr;
  void* scale = nullptr;
  void* bias = nullptr;
  void* residual = nullptr;
  void* amax = nullptr;
  void* bias_gradient = nullptr;
  std::array<void*, 4> aux{};

  operator Tensors() const {
    Tensors tensors;
    tensors.x = output, tensors.w = w, tensors.y = input;
    tensors.scale = scale, tensors.bias = bias, tensors.residual = residual, tensors.amax = amax;
    tensors.bias_gradient = bias_gradient;
    tensors.aux = aux;
    return tensors;
  }
};

struct VerifyOptions {
  bool exact = false;
  bool exhaustive = false;
  int splits = 1;
  uint64_t seed = 1;
};

namespace detail {

inline wavetile_tensors to_c(const Tensors& tensors) {
  auto result = sized<wavetile_tensors>();
  result.x = tensors.x;
  result.w = tensors.w;
  result.y = tensors.y;
  result.scale = tensors.scale;
  result.bias = tensors.bias;
  result.residual = tensors.residual;
  result.amax = tensors.amax;
  result.bias_gradient = tensors.bias_gradient;
  result.history = tensors.history;
  result.new_history = tensors.new_history;
  for (size_t i = 0; i < tensors.aux.size(); ++i) result.aux[i] = tensors.aux[i];
  return result;
}

// The kernel's name stays with `options`, which must outlive the result.
inline wavetile_plan_options to_c(const PlanOptions& options) {
  wavetile_plan_options result;
  wavetile_plan_options_init(&result);
  result.deterministic = options.deterministic;
  result.strict_nonfinite = options.strict_nonfinite;
  result.tuning = static_cast<int32_t>(options.tuning);
  result.workspace_limit = options.workspace_limit.value_or(-1);
  result.kernel = options.kernel.empty() ? nullptr : options.kernel.c_str();
  result.tuning_seconds = options.tuning_seconds;
  result.stream = options.stream;
  result.fallback = options.fallback;
  return result;
}

inline wavetile_verify_options to_c(const VerifyOptions& options) {
  wavetile_verify_options result;
  wavetile_verify_options_init(&result);
  result.exact = options.exact;
  result.exhaustive = options.exhaustive;
  result.splits = options.splits;
  result.seed = options.seed;
  return result;
}

}  // namespace detail

// A chosen, compiled and bound kernel. Never changes; copies share it, and many threads may execute it at once.
class Plan {
 public:
  static Result<Plan> create(const Device& device, const Problem& problem, const PlanOptions& options = {}) {
    const wavetile_plan_options c_options = detail::to_c(options);
    wavetile_plan* handle = nullptr;
    if (Status status = Status::of(wavetile_plan_create(device.get(), problem.get(), &c_options, &handle)); !status) {
      return status;
    }
    return Plan(handle);
  }

  size_t workspace_bytes() const { return static_cast<size_t>(wavetile_plan_workspace_bytes(get())); }

  Status execute(const Tensors& tensors, void* workspace = nullptr, size_t workspace_bytes = 0,
                 Stream stream = nullptr) const {
    const wavetile_tensors c_tensors = detail::to_c(tensors);
    return Status::of(wavetile_plan_execute(get(), stream, &c_tensors, workspace, workspace_bytes));
  }
  Status execute(const Tensors& tensors, const Buffer& workspace, Stream stream = nullptr) const {
    return execute(tensors, workspace.data(), workspace.size(), stream);
  }

  PlanInfo info() const {
    auto info = detail::sized<PlanInfo>();
    wavetile_plan_get_info(get(), &info);
    return info;
  }
  std::string json() const { return wavetile_plan_json(get()); }

  // Fills tensors, executes once and compares with the reference.
  Result<VerifyReport> verify(uint64_t data_seed = 1, const VerifyOptions& options = {}) const {
    const wavetile_verify_options c_options = detail::to_c(options);
    auto report = detail::sized<VerifyReport>();
    if (Status status = Status::of(wavetile_plan_verify(get(), data_seed, &c_options, &report)); !status) return status;
    return report;
  }

  const wavetile_plan* get() const { return handle_.get(); }

 private:
  explicit Plan(wavetile_plan* handle) : handle_(handle, wavetile_plan_destroy) {}
  std::shared_ptr<wavetile_plan> handle_;
};

// The gradient of a bias alone: sums over images and pixels of one tensor of a problem, fp32, one a channel.
class BiasGradient {
 public:
  // Of dy (Role::kY), or of x (Role::kTransposedOutput).
  static Result<BiasGradient> create(const Device& device, const Problem& problem, Role role = Role::kY) {
    wavetile_bias_gradient* handle = nullptr;
    if (Status status = Status::of(
            wavetile_bias_gradient_create(device.get(), problem.get(), static_cast<wavetile_role>(role), &handle));
        !status) {
      return status;
    }
    return BiasGradient(handle);
  }

  size_t workspace_bytes() const { return static_cast<size_t>(wavetile_bias_gradient_workspace_bytes(handle_.get())); }
  Status execute(const void* tensor, float* out, void* workspace = nullptr, size_t workspace_bytes = 0,
                 Stream stream = nullptr) const {
    return Status::of(wavetile_bias_gradient_execute(handle_.get(), stream, tensor, out, workspace, workspace_bytes));
  }

 private:
  explicit BiasGradient(wavetile_bias_gradient* handle) : handle_(handle, wavetile_bias_gradient_destroy) {}
  std::shared_ptr<wavetile_bias_gradient> handle_;
};

// Fills host tensors with data that suit checking; those that are null are left out.
inline Status fill_tensors(const Problem& problem, const Tensors& host, wavetile_fill fill = WAVETILE_FILL_RANDOM,
                           uint64_t seed = 1) {
  const wavetile_tensors c_tensors = detail::to_c(host);
  return Status::of(wavetile_fill_tensors(problem.get(), fill, seed, &c_tensors));
}

// Compares a result in host memory with the reference.
inline Result<VerifyReport> verify(const Problem& problem, const Tensors& host, const VerifyOptions& options = {}) {
  const wavetile_tensors c_tensors = detail::to_c(host);
  const wavetile_verify_options c_options = detail::to_c(options);
  auto report = detail::sized<VerifyReport>();
  if (Status status = Status::of(wavetile_verify(problem.get(), &c_tensors, &c_options, &report)); !status)
    return status;
  return report;
}

// Which kernels could run the problem, and why the others cannot.
inline Result<std::string> explain(const Device& device, const Problem& problem, const PlanOptions& options = {},
                                   wavetile_format format = WAVETILE_FORMAT_TEXT) {
  const wavetile_plan_options c_options = detail::to_c(options);
  char* report = nullptr;
  if (Status status = Status::of(wavetile_explain(device.get(), problem.get(), &c_options, format, &report)); !status) {
    return status;
  }
  return detail::take(report);
}

struct Capability {
  bool available = false;
  std::string detail;  // what was found, or what is missing and how to get it
};

inline Result<Capability> capability(wavetile_capability which) {
  int32_t available = 0;
  char* text = nullptr;
  if (Status status = Status::of(wavetile_capability_query(which, &available, &text)); !status) return status;
  return Capability{available != 0, detail::take(text)};
}

inline std::string version() { return wavetile_version_string(); }

}  // namespace wavetile
