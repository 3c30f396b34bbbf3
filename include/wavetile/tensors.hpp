// SPDX-License-Identifier: Apache-2.0
// wavetile/tensors.hpp - a problem's tensors by role; filled and verified on the host.
#pragma once

#include <wavetile/problem.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace wavetile {

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

}  // namespace wavetile
