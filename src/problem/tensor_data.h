// SPDX-License-Identifier: Apache-2.0
// problem/tensor_data.h - the tensors of a problem in host memory, and what to fill them with.
//
//   ConvProblem + seed --make_tensors--> HostTensors (inputs filled, output poisoned) --> a device --> verify.h
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "problem/problem.h"

namespace wt {

struct UserCode;

// Bytes aligned to 256, left as they are when allocated. Moves, and copies only by copy().
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(size_t bytes);
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();

  Buffer copy() const;
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  template <class T>
  std::span<T> as() {
    return {reinterpret_cast<T*>(data_), size_ / sizeof(T)};
  }
  template <class T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(data_), size_ / sizeof(T)};
  }

 private:
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

// x, w, y, residual in their stored types; scale and bias are fp32 over the output's channels, amax is one fp32.
// Tensors that the problem does not have are empty.
struct HostTensors {
  Buffer x, w, y;
  Buffer scale, bias, residual;
  Buffer amax;
  Buffer bias_gradient;                   // fp32
  Buffer history, new_history;            // type and layout of x
  Buffer x_scales, w_scales;              // a byte each
  std::array<Buffer, kMaxAuxiliary> aux;  // shape and type of the output
  std::shared_ptr<const UserCode> user;   // needed by the reference of a problem with the user's text; see user_code.h
};

enum class Fill {
  kExact,  // small signed integers: every product, and every sum in any order, is exact in fp32 and small in the output
  kRandom,  // signed reals whose outputs have a magnitude of about one
  kZero,
};

// All tensors of a validated problem: inputs filled, the output and amax poisoned. The same problem, fill and seed give
// the same bytes on every machine.
HostTensors make_tensors(const ConvProblem& problem, Fill fill, uint64_t seed = 1);

// Whether kExact data leaves nothing to round before the output: the epilogue's own values decide (alpha=0.1 or a gelu
// round even integers).
bool epilogue_is_exact(const ConvProblem& problem);

// The output of the direction.
Buffer& output_of(const ConvProblem& problem, HostTensors& tensors);
const Buffer& output_of(const ConvProblem& problem, const HostTensors& tensors);

// Every byte 0xff: a NaN in each of our types that no conversion here produces from a number; -1 of int8, which has no
// such value.
void poison(Buffer& buffer);
bool is_poison(DataType type, const void* array, int64_t index);

// Sizes in bytes, in 64 bits.
int64_t x_bytes(const ConvProblem& problem);
int64_t w_bytes(const ConvProblem& problem);
int64_t y_bytes(const ConvProblem& problem);
int64_t output_bytes(const ConvProblem& problem);
int64_t history_bytes(const ConvProblem& problem);

}  // namespace wt
