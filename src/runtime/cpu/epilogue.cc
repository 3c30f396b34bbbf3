// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/epilogue.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "kernels/device/activation.h"

namespace wt::cpu {

namespace {

constexpr int64_t kPiece = 256;  // elements that stay in registers and the first cache between the steps

// What kernels/device/activation.h asks for, by the C library.
struct HostMath {
  static float exp(float x) { return std::exp(x); }
  static float reciprocal(float x) { return 1.0f / x; }
  static float sigmoid(float x) { return 1.0f / (1.0f + std::exp(-x)); }
  static float tanh(float x) { return std::tanh(x); }
  static float expm1(float x) { return std::expm1(x); }
  static float softplus_tail(float x) { return std::log1p(std::exp(-x)); }
  static float normal_tail(float x) { return 0.5f * std::erfc(x * 0.70710678f); }
};

// Calls step.operator()<activation>(): each activation has a loop of its own.
template <class Step>
void with_activation(Activation activation, const Step& step) {
  [&]<size_t... kIndex>(std::index_sequence<kIndex...>) {
    (void)((static_cast<size_t>(activation) == kIndex &&
            (step.template operator()<static_cast<Activation>(kIndex)>(), true)) ||
           ...);
  }
  (std::make_index_sequence<kActivationCount>());
}

void activate(const Epilogue& epilogue, float* values, int64_t count) {
  if (epilogue.activation == Activation::kNone) return;
  with_activation(epilogue.activation, [&]<Activation kActivation>() {
    for (int64_t i = 0; i < count; ++i) values[i] = activation_value<kActivation, HostMath>(values[i], epilogue);
  });
}

// What the tensor, one value for each channel, has for the elements of the run.
void read_channels(const Source& tensor, const Run& run, float* values) {
  if (run.channel_step == 0) {
    std::fill_n(values, run.count, read_one(tensor, run.channel));
  } else {
    read(tensor, run.channel, values, run.count);
  }
}

void raise(float* amax, float peak) {
  // Absolute values order as their bits do; a NaN lies above them all and so is not lost.
  std::atomic_ref<uint32_t> shared(*reinterpret_cast<uint32_t*>(amax));
  const uint32_t bits = std::bit_cast<uint32_t>(peak);
  uint32_t seen = shared.load(std::memory_order_relaxed);
  while (seen < bits && !shared.compare_exchange_weak(seen, bits, std::memory_order_relaxed)) {
  }
}

void scatter(const char* from, char* to, int64_t count, int64_t stride, int size) {
  for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * stride * size, from + i * size, static_cast<size_t>(size));
}

}  // namespace

bool is_identity(const Epilogue& epilogue) {
  return epilogue.alpha == 1 && !epilogue.scale && !epilogue.bias && !epilogue.residual &&
         epilogue.activation == Activation::kNone && !epilogue.amax && epilogue.auxiliaries() == 0 &&
         !epilogue.has_text();
}

Finisher::Finisher(const ConvProblem& problem, const Tensors& tensors, const UserCode* code)
    : epilogue_(problem.epilogue),
      type_(problem.output_type()),
      integer_(problem.first_type() == DataType::kI8),
      y_zero_(static_cast<float>(problem.y_zero)),
      out_(at(tensors, problem.direction == Direction::kForward        ? Tensor::kY
                       : problem.direction == Direction::kBackwardData ? Tensor::kX
                                                                       : Tensor::kW)),
      scale_(problem.epilogue.scale ? at(tensors, Tensor::kScale) : nullptr),
      bias_(problem.epilogue.bias ? at(tensors, Tensor::kBias) : nullptr),
      residual_(problem.epilogue.residual ? at(tensors, Tensor::kResidual) : nullptr),
      amax_(problem.epilogue.amax ? static_cast<float*>(at(tensors, Tensor::kAmax)) : nullptr),
      code_(code),
      shape_(output_shape(problem)),
      copies_(is_identity(problem.epilogue) && size_of(type_) == 4),
      channels_(problem.direction == Direction::kBackwardData ? problem.c : problem.k) {
  const bool weight = problem.direction == Direction::kBackwardWeight;
  if (weight) {
    channel_extent_ = problem.c_per_group() * problem.filter[0] * problem.filter[1] * problem.filter[2];
  } else if (problem.layout == Layout::kChannelsLast) {
    channel_extent_ = 0;
  } else {
    const Spatial size = problem.direction == Direction::kForward ? problem.out() : problem.in;
    channel_extent_ = size[0] * size[1] * size[2];
  }
  if (amax_) *amax_ = 0;
  for (int i = 0; i < epilogue_.auxiliaries(); ++i) aux_[static_cast<size_t>(i)] = at(tensors, auxiliary_tensor(i));
}

void Finisher::finish(const float* sums, const Run& run) const {
  if (copies_ && run.stride == 1) {
    float* out = static_cast<float*>(out_) + run.offset;
    if (out != sums) std::memcpy(out, sums, static_cast<size_t>(run.count) * sizeof(float));
    return;
  }
  float peak = 0;
  for (int64_t first = 0; first < run.count; first += kPiece) {
    Run piece = run;
    piece.offset += first * run.stride;
    piece.channel += first * run.channel_step;
    piece.count = std::min(kPiece, run.count - first);
    finish_piece(sums + first, piece, peak);
  }
  if (amax_) raise(amax_, peak);
}

void Finisher::finish_piece(const float* sums, const Run& run, float& peak) const {
  float values[kPiece];
  const int64_t count = run.count;
  if (epilogue_.alpha == 1) {
    std::memcpy(values, sums, static_cast<size_t>(count) * sizeof(float));
  } else {
    for (int64_t i = 0; i < count; ++i) values[i] = epilogue_.alpha * sums[i];
  }
  float of_channel[kPiece];
  if (scale_) {
    read_channels({epilogue_.scale_type, scale_}, run, of_channel);
    for (int64_t i = 0; i < count; ++i) values[i] *= of_channel[i];
  }
  if (bias_) {
    read_channels({epilogue_.bias_type, bias_}, run, of_channel);
    for (int64_t i = 0; i < count; ++i) values[i] += of_channel[i];
  }
  if (residual_) {
    float addend[kPiece];
    read_run(residual_, run, addend);
    add_product(epilogue_.beta, addend, count, values);
  }
  if (epilogue_.added > 0) add_auxiliaries(run, values);
  activate(epilogue_, values, count);
  if (epilogue_.has_saved()) pass_gradient(run, values);
  if (!epilogue_.expression.empty()) apply_text(run, values);
  if (amax_)
    for (int64_t i = 0; i < count; ++i) {
      const float size = std::fabs(values[i]);
      if (!(size <= peak)) peak = size;
    }
  if (type_ == DataType::kI8)
    for (int64_t i = 0; i < count; ++i) values[i] = std::nearbyint(values[i]) + y_zero_;
  if (!epilogue_.store.empty()) {
    store_text(run, values);
  } else if (run.stride == 1) {
    write(values, type_, out_, run.offset, count);
  } else {
    alignas(4) char rounded[kPiece * 4];
    write(values, type_, rounded, 0, count);
    scatter(rounded, static_cast<char*>(out_) + run.offset * size_of(type_), count, run.stride, size_of(type_));
  }
}

void Finisher::read_run(const void* tensor, const Run& run, float* values) const {
  const Source source{type_, tensor};
  if (run.stride == 1) return read(source, run.offset, values, run.count);
  for (int64_t i = 0; i < run.count; ++i) values[i] = read_one(source, run.offset + i * run.stride);
}

// WHY two forms: int8 is the same to the bit everywhere, and GPUs add by one instruction, which rounds once.
void Finisher::add_product(float factor, const float* addend, int64_t count, float* values) const {
  if (integer_) {
    for (int64_t i = 0; i < count; ++i) values[i] = std::fma(factor, addend[i], values[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) values[i] += factor * addend[i];
  }
}

void Finisher::add_auxiliaries(const Run& run, float* values) const {
  float addend[kPiece];
  for (size_t a = 0; a < static_cast<size_t>(epilogue_.added); ++a) {
    read_run(aux_[a], run, addend);
    add_product(epilogue_.betas[a], addend, run.count, values);
  }
}

void Finisher::pass_gradient(const Run& run, float* values) const {
  float saved[kPiece];
  read_run(aux_[static_cast<size_t>(epilogue_.added)], run, saved);
  with_activation(epilogue_.gradient, [&]<Activation kActivation>() {
    for (int64_t i = 0; i < run.count; ++i)
      values[i] = activation_gradient<kActivation, HostMath>(values[i], saved[i], epilogue_);
  });
}

void Finisher::apply_text(const Run& run, float* values) const {
  float inputs[kMaxAuxiliary][kPiece];
  for (int a = 0; a < epilogue_.auxiliaries_read(); ++a) read_run(aux_[static_cast<size_t>(a)], run, inputs[a]);
  for (int64_t i = 0; i < run.count; ++i) {
    std::array<float, kMaxAuxiliary> aux{};
    for (int a = 0; a < epilogue_.auxiliaries_read(); ++a) aux[static_cast<size_t>(a)] = inputs[a][i];
    values[i] =
        apply_expression(epilogue_, *code_, values[i], user::coord_of(shape_, run.offset + i * run.stride), aux);
  }
}

void Finisher::store_text(const Run& run, const float* values) const {
  std::array<void*, kMaxAuxiliary> own{};
  const int first = epilogue_.auxiliaries_read();
  for (int i = first; i < epilogue_.auxiliaries(); ++i)
    own[static_cast<size_t>(i - first)] = aux_[static_cast<size_t>(i)];
  for (int64_t i = 0; i < run.count; ++i) {
    const int64_t offset = run.offset + i * run.stride;
    const user::Coord at = user::coord_of(shape_, offset);
    code_->store(values[i], &at, offset, out_, own.data());
  }
}

void Finisher::finish_range(const float* sums, int64_t first, int64_t last) const {
  if (!scale_ && !bias_) return finish(sums + first, {.offset = first, .count = last - first});
  for (int64_t offset = first; offset < last;) {
    Run run{.offset = offset, .count = 0};
    if (channel_extent_ == 0) {
      run.channel = offset % channels_;
      run.channel_step = 1;
      run.count = std::min(channels_ - run.channel, last - offset);
    } else {
      run.channel = offset / channel_extent_ % channels_;
      run.count = std::min(channel_extent_ - offset % channel_extent_, last - offset);
    }
    finish(sums + offset, run);
    offset += run.count;
  }
}

}  // namespace wt::cpu
