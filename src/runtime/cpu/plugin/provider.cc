// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/plugin/provider.cc - the oneDNN plug-in: fp32 convolutions behind the C interface of onednn_abi.h.
//
//   user tensors --reorder where oneDNN prefers its own format--> convolution --reorder back--> user tensor
//
// Nothing of the library is linked here, and no exception leaves. What oneDNN 2 and 3 spell differently stands in
// versions.h.
#include <omp.h>

#include <array>
#include <cstring>
#include <exception>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <string>

#include "problem/enums.h"
#include "runtime/cpu/onednn_abi.h"
#include "runtime/cpu/plugin/versions.h"

namespace {

using dnnl::memory;
using Problem = WavetileOnednnProblem;
using namespace wt::onednn;
using wt::Direction;
using wt::Layout;

enum Role { kX, kW, kY };
constexpr int64_t kAlignment = 256;

int64_t align(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

void say(WavetileOnednnText* text, const std::string& message) {
  std::strncpy(text->text, message.c_str(), sizeof text->text - 1);
  text->text[sizeof text->text - 1] = 0;
}

// WHY: the number of OpenMP threads belongs to the calling thread, which may use OpenMP for itself.
class ThreadCount {
 public:
  explicit ThreadCount(int threads) : before_(omp_get_max_threads()) { omp_set_num_threads(threads); }
  ~ThreadCount() { omp_set_num_threads(before_); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  int before_;
};

const dnnl::engine& cpu_engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

// Our three tensors as oneDNN sees them; the order of its dimensions is n c d h w and g o i d h w.
std::array<memory::desc, 3> user_formats(const Problem& p) {
  const bool last = p.layout == static_cast<int32_t>(Layout::kChannelsLast);
  const int first = 3 - p.dims;
  // Strides for the order of dimensions in memory, outermost first.
  const auto make = [](const memory::dims& sizes, const memory::dims& order) {
    memory::dims strides(sizes.size());
    int64_t stride = 1;
    for (size_t i = order.size(); i-- > 0;) {
      strides[static_cast<size_t>(order[i])] = stride;
      stride *= sizes[static_cast<size_t>(order[i])];
    }
    return memory::desc(sizes, memory::data_type::f32, strides);
  };
  const auto tensor = [&](int64_t channels, const int64_t* spatial) {
    memory::dims sizes{p.n, channels}, order{0};
    if (!last) order.push_back(1);
    for (int i = first; i < 3; ++i) {
      order.push_back(static_cast<int64_t>(sizes.size()));
      sizes.push_back(spatial[i]);
    }
    if (last) order.push_back(1);
    return make(sizes, order);
  };
  memory::dims sizes, order;
  if (p.g > 1) sizes.push_back(p.g), order.push_back(0);
  const int64_t k_dim = static_cast<int64_t>(sizes.size());
  sizes.push_back(p.k / p.g);
  sizes.push_back(p.c / p.g);
  order.push_back(k_dim);
  if (!last) order.push_back(k_dim + 1);
  for (int i = first; i < 3; ++i) {
    order.push_back(static_cast<int64_t>(sizes.size()));
    sizes.push_back(p.filter[i]);
  }
  if (last) order.push_back(k_dim + 1);
  return {tensor(p.c, p.in), make(sizes, order), tensor(p.k, p.out)};
}

struct Primitive {
  dnnl::primitive_desc_base description;
  dnnl::primitive primitive;
  std::array<memory::desc, 3> formats;
};

Primitive make_primitive(const Problem& p, const std::array<memory::desc, 3>& formats) {
  const auto used = [&](const int64_t* values, int64_t minus = 0) {
    memory::dims dims;
    for (int i = 3 - p.dims; i < 3; ++i) dims.push_back(values[i] - minus);
    return dims;
  };
  const memory::dims strides = used(p.stride), dilates = used(p.dilation, 1);
  const memory::dims lower = used(p.pad_lower), upper = used(p.pad_upper);
  // Direct and not auto: Winograd's error is above what fp32 users expect.
  const dnnl::algorithm algorithm = dnnl::algorithm::convolution_direct;
  const auto direction = static_cast<Direction>(p.direction);
  const bool forward = direction == Direction::kForward;
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);

  const Shape shape{algorithm, formats[kX], formats[kW], formats[kY], strides, dilates, lower, upper};
  const auto hint =
      forward_description(forward ? dnnl::prop_kind::forward_inference : dnnl::prop_kind::forward_training, shape,
                          attributes, cpu_engine());
  if (forward) return {hint, dnnl::convolution_forward(hint), {hint.src_desc(), hint.weights_desc(), hint.dst_desc()}};
  if (direction == Direction::kBackwardData) {
    const auto pd = backward_data_description(shape, attributes, cpu_engine(), hint);
    return {pd, dnnl::convolution_backward_data(pd), {pd.diff_src_desc(), pd.weights_desc(), pd.diff_dst_desc()}};
  }
  const auto pd = backward_weights_description(shape, attributes, cpu_engine(), hint);
  return {pd, dnnl::convolution_backward_weights(pd), {pd.src_desc(), pd.diff_weights_desc(), pd.diff_dst_desc()}};
}

// oneDNN's kinds of implementation, best first: code generated for the convolution, im2col with a GEMM, plain loops.
enum class Kind { kGenerated, kGemm, kReference };

Kind kind_of(const Primitive& primitive) {
  const std::string name = primitive.description.impl_info_str();
  if (name.find("ref") != std::string::npos) return Kind::kReference;
  return name.find("gemm") != std::string::npos && name.find("brgemm") == std::string::npos ? Kind::kGemm
                                                                                            : Kind::kGenerated;
}

std::array<memory::desc, 3> any_formats(std::array<memory::desc, 3> formats, bool activations) {
  for (int role = kX; role <= kY; ++role)
    if (role == kW || activations)
      formats[role] = memory::desc(dims_of(formats[role]), memory::data_type::f32, memory::format_tag::any);
  return formats;
}

// Whether im2col and a GEMM on the user's own tensors beat generated code with its reorders. Measured with oneDNN 2.6.3
// on AVX-512: 1x1 filters need no im2col (1.9 against 4.4 ms), and dx with few channels leaves generated code most of
// its vector empty (10 against 35 ms for the first layer of ResNet); other 3x3 are twice as fast with generated code.
bool gemm_is_good(const Problem& p) {
  const bool pointwise = p.filter[0] * p.filter[1] * p.filter[2] == 1;
  return pointwise || (p.direction == static_cast<int32_t>(Direction::kBackwardData) && p.g == 1 && p.c < 8);
}

// Whether generated code for the user's channels-last tensors loses to its own formats, reorders included. Measured
// with oneDNN 2.6.3 on AVX-512 over ResNet-50: 1x1 gradients with many channels (up to 1.4 times), and
// the weight gradient of larger filters with a stride (1.05 to 1.15 times).
bool own_formats_are_better(const Problem& p) {
  const bool pointwise = p.filter[0] * p.filter[1] * p.filter[2] == 1;
  const bool strided = p.stride[0] > 1 || p.stride[1] > 1 || p.stride[2] > 1;
  if (p.g > 1) return false;
  switch (static_cast<Direction>(p.direction)) {
    case Direction::kForward:
      return false;
    case Direction::kBackwardData:
      return pointwise && p.c >= 512 && p.k >= 512;
    case Direction::kBackwardWeight:
      return pointwise ? p.c >= 512 && p.k >= 256 : strided && p.c >= 64;
  }
  return false;
}

// oneDNN's own formats for the weights always; for the activations only where it has nothing good for ours, since
// reordering them is two more passes over memory.
Primitive choose_primitive(const Problem& p, const std::array<memory::desc, 3>& user) {
  std::optional<Primitive> plain;
  try {
    plain = make_primitive(p, any_formats(user, false));
  } catch (const dnnl::error&) {
    // Nothing for our formats at all; a second failure below is the one to report.
    return make_primitive(p, any_formats(user, true));
  }
  const Kind kind = kind_of(*plain);
  if ((kind == Kind::kGenerated && !own_formats_are_better(p)) || (kind == Kind::kGemm && gemm_is_good(p)))
    return *plain;
  const Primitive blocked = make_primitive(p, any_formats(user, true));
  return kind_of(blocked) < kind || kind_of(blocked) == Kind::kGenerated ? blocked : *plain;
}

struct Reorder {
  dnnl::reorder primitive;
  memory::desc scratch;
};

class Convolution {
 public:
  explicit Convolution(const Problem& p)
      : threads_(p.threads),
        output_(p.direction == 0   ? kY
                : p.direction == 1 ? kX
                                   : kW),
        user_(user_formats(p)) {
    const ThreadCount count(threads_);
    Primitive chosen = choose_primitive(p, user_);
    convolution_ = chosen.primitive;
    native_ = chosen.formats;
    scratch_ = chosen.description.scratchpad_desc();
    int64_t pad = static_cast<int64_t>(scratch_.get_size());
    name_ = chosen.description.impl_info_str();
    for (int role = kX; role <= kY; ++role) {
      if (native_[role] == user_[role]) continue;
      dnnl::primitive_attr attributes;
      attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
      const bool back = role == output_;
      const dnnl::reorder::primitive_desc pd(cpu_engine(), back ? native_[role] : user_[role], cpu_engine(),
                                             back ? user_[role] : native_[role], attributes);
      reorders_[role] = Reorder{dnnl::reorder(pd), pd.scratchpad_desc()};
      pad = std::max(pad, static_cast<int64_t>(pd.scratchpad_desc().get_size()));
      offset_[role] = bytes_;
      bytes_ += align(static_cast<int64_t>(native_[role].get_size()));
      name_ += role == kX ? ", reorders x" : role == kW ? ", reorders w" : ", reorders y";
    }
    pad_offset_ = bytes_;
    bytes_ += align(pad);
  }

  int64_t scratch_bytes() const { return bytes_; }
  const std::string& name() const { return name_; }

  void execute(std::array<float*, 3> tensors, char* scratch) const {
    const ThreadCount count(threads_);
    thread_local dnnl::stream stream(cpu_engine());  // making one costs as much as a small convolution
    std::array<memory, 3> native;
    for (int role = kX; role <= kY; ++role)
      native[role] = memory(native_[role], cpu_engine(),
                            reorders_[role] ? static_cast<void*>(scratch + offset_[role]) : tensors[role]);
    const auto reorder = [&](int role) {
      const memory user(user_[role], cpu_engine(), tensors[role]);
      const bool back = role == output_;
      reorders_[role]->primitive.execute(
          stream, {{DNNL_ARG_FROM, back ? native[role] : user},
                   {DNNL_ARG_TO, back ? user : native[role]},
                   {DNNL_ARG_SCRATCHPAD, memory(reorders_[role]->scratch, cpu_engine(), scratch + pad_offset_)}});
    };
    for (int role = kX; role <= kY; ++role)
      if (role != output_ && reorders_[role]) reorder(role);
    convolution_.execute(stream, {{output_ == kX ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC, native[kX]},
                                  {output_ == kW ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS, native[kW]},
                                  {output_ == kY ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST, native[kY]},
                                  {DNNL_ARG_SCRATCHPAD, memory(scratch_, cpu_engine(), scratch + pad_offset_)}});
    if (reorders_[output_]) reorder(output_);
    stream.wait();
  }

 private:
  int threads_;
  int output_;
  std::array<memory::desc, 3> user_, native_;
  dnnl::primitive convolution_;
  std::array<std::optional<Reorder>, 3> reorders_;
  std::array<int64_t, 3> offset_{};
  memory::desc scratch_;
  int64_t pad_offset_ = 0;
  int64_t bytes_ = 0;
  std::string name_;
};

template <class Body>
int guarded(WavetileOnednnText* text, Body body) {
  try {
    body();
    return 0;
  } catch (const dnnl::error& error) {
    say(text, std::string(error.what()) + " (oneDNN status " + std::to_string(static_cast<int>(error.status)) + ")");
  } catch (const std::exception& error) {
    say(text, error.what());
  } catch (...) {
    say(text, "unknown exception");
  }
  return 1;
}

int create(const Problem* problem, void** convolution, int64_t* scratch_bytes, WavetileOnednnText* text) {
  return guarded(text, [&] {
    auto* made = new Convolution(*problem);
    *convolution = made;
    *scratch_bytes = made->scratch_bytes();
    say(text, made->name());
  });
}

void destroy(void* convolution) { delete static_cast<Convolution*>(convolution); }

int execute(const void* convolution, const float* x, const float* w, const float* y, void* scratch,
            WavetileOnednnText* text) {
  return guarded(text, [&] {
    static_cast<const Convolution*>(convolution)
        ->execute({const_cast<float*>(x), const_cast<float*>(w), const_cast<float*>(y)}, static_cast<char*>(scratch));
  });
}

void parallel(int32_t slots, void (*body)(void* context, int32_t slot), void* context) {
#pragma omp parallel for num_threads(slots) schedule(static, 1)
  for (int32_t slot = 0; slot < slots; ++slot) body(context, slot);
}

const char* version_text() {
  static const std::string text = [] {
    const dnnl_version_t* version = dnnl_version();
    return std::to_string(version->major) + "." + std::to_string(version->minor) + "." + std::to_string(version->patch);
  }();
  return text.c_str();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const WavetileOnednnProvider* wavetile_onednn_provider() {
  static const WavetileOnednnProvider provider{
      WAVETILE_ONEDNN_ABI_VERSION, sizeof(WavetileOnednnProvider), version_text(), create, destroy, execute, parallel};
  return &provider;
}
