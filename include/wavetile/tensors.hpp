// SPDX-License-Identifier: Apache-2.0
// wavetile/tensors.hpp - a problem's tensors by role; filled and verified on the host.
#pragma once

#include <wavetile/device.hpp>
#include <wavetile/problem.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace wavetile {

// Memory of a tensor: a Buffer, or a pointer that the device can reach. One to const stays so: execute refuses to write
// there.
class Memory {
 public:
  Memory() = default;
  Memory(std::nullptr_t) {}
  Memory(void* pointer) : pointer_(pointer) {}
  Memory(const void* pointer) : pointer_(const_cast<void*>(pointer)), read_only_(pointer != nullptr) {}
  Memory(const Buffer& buffer) : pointer_(buffer.data()) {}
  void* get() const { return pointer_; }
  bool read_only() const { return read_only_; }

 private:
  void* pointer_ = nullptr;
  bool read_only_ = false;
};

// Memory by role; wavetile_tensors explains it.
struct Tensors {
  Memory x = {};
  Memory w = {};
  Memory y = {};
  Memory scale = {};
  Memory bias = {};
  Memory residual = {};
  Memory amax = {};
  Memory bias_gradient = {};
  Memory history = {};
  Memory new_history = {};
  std::array<Memory, 4> aux = {};
  Memory x_scales = {};
  Memory w_scales = {};
};

// The same in the terms of a transposed convolution (Problem::transposed); gradients stand where their tensors do.
struct TransposedTensors {
  Memory input = {};
  Memory w = {};
  Memory output = {};
  Memory scale = {};
  Memory bias = {};
  Memory residual = {};
  Memory amax = {};
  Memory bias_gradient = {};
  std::array<Memory, 4> aux = {};

  operator Tensors() const {
    Tensors tensors;
    tensors.x = output, tensors.w = w, tensors.y = input;
    tensors.scale = scale, tensors.bias = bias, tensors.residual = residual, tensors.amax = amax;
    tensors.bias_gradient = bias_gradient;
    tensors.aux = aux;
    return tensors;
  }
};

// Those of a product of matrices (Problem::gemm): A, B and D where `problem` has them. Of a problem that is none, all
// of them are null, which execute refuses.
inline Tensors gemm_tensors(const Problem& problem, Memory a, Memory b, Memory d) {
  Tensors tensors;
  const Result<std::array<Role, 3>> roles = problem.gemm_roles();
  if (!roles.ok()) return tensors;
  const Memory memory[] = {a, b, d};
  for (size_t i = 0; i < 3; ++i) {
    const Role role = (*roles)[i];
    (role == Role::kX ? tensors.x : role == Role::kW ? tensors.w : tensors.y) = memory[i];
  }
  return tensors;
}

struct VerifyOptions {
  bool exact = false;
  bool exhaustive = false;
  int splits = 1;
  uint64_t seed = 1;
};

namespace detail {

inline wavetile_tensors to_c(const Tensors& tensors) {
  auto result = sized<wavetile_tensors>();
  const auto put = [&](const Memory& memory, int role) {
    if (memory.read_only()) result.read_only |= uint64_t{1} << role;
    return memory.get();
  };
  result.x = put(tensors.x, WAVETILE_ROLE_X);
  result.w = put(tensors.w, WAVETILE_ROLE_W);
  result.y = put(tensors.y, WAVETILE_ROLE_Y);
  result.scale = put(tensors.scale, WAVETILE_ROLE_SCALE);
  result.bias = put(tensors.bias, WAVETILE_ROLE_BIAS);
  result.residual = put(tensors.residual, WAVETILE_ROLE_RESIDUAL);
  result.amax = put(tensors.amax, WAVETILE_ROLE_AMAX);
  result.bias_gradient = put(tensors.bias_gradient, WAVETILE_ROLE_BIAS_GRADIENT);
  result.history = put(tensors.history, WAVETILE_ROLE_HISTORY);
  result.new_history = put(tensors.new_history, WAVETILE_ROLE_NEW_HISTORY);
  for (int i = 0; i < 4; ++i) result.aux[i] = put(tensors.aux[static_cast<size_t>(i)], WAVETILE_ROLE_AUX0 + i);
  result.x_scales = put(tensors.x_scales, WAVETILE_ROLE_X_SCALES);
  result.w_scales = put(tensors.w_scales, WAVETILE_ROLE_W_SCALES);
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
inline Status fill_tensors(const Problem& problem, const Tensors& host, Fill fill = Fill::kRandom, uint64_t seed = 1) {
  const wavetile_tensors c_tensors = detail::to_c(host);
  return Status::of(wavetile_fill_tensors(problem.get(), static_cast<wavetile_fill>(fill), seed, &c_tensors));
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
