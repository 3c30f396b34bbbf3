// SPDX-License-Identifier: Apache-2.0
// python/aten/tensor.h - torch's tensors and argument lists through its stable C interface.
#pragma once

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "python/aten/torch_abi.h"

namespace wt::aten {

using Sizes = std::vector<int64_t>;

enum class Format { kFirst, kLast };  // n, c, h, w or n, h, w, c in memory

// Owns one reference to a tensor; empty where torch has none.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(AtenTensorHandle owned) : handle_(owned) {}
  Tensor(Tensor&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Tensor& operator=(Tensor&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Tensor() {
    if (handle_) torch().aoti_torch_delete_tensor_object(handle_);
  }

  // New and uninitialised, dense, beside `like`.
  static Tensor empty(const Sizes& sizes, Format format, int32_t dtype, const Tensor& like);
  // What torch takes for "no tensor" in a result.
  static Tensor undefined();

  AtenTensorHandle get() const { return handle_; }
  AtenTensorHandle release() { return std::exchange(handle_, nullptr); }
  bool defined() const;

  int64_t rank() const;
  Sizes sizes() const;
  Sizes strides() const;
  int32_t dtype() const;
  bool on_cuda() const;
  int32_t device_index() const;
  bool same_device(const Tensor& other) const;
  void* data() const;
  const void* const_data() const;

 private:
  AtenTensorHandle handle_ = nullptr;
};

Sizes dense_strides(const Sizes& sizes, Format format);

// Whether torch's own rule takes the strides for channels last; only of four and five dimensions.
bool suggests_last(const Tensor& tensor);

// The tensor itself where it is dense in the format, of the type and 16-byte aligned; else a copy, which it keeps.
class Dense {
 public:
  Dense(const Tensor& tensor, Format format, int32_t dtype);
  const Tensor& tensor() const { return copy_.get() ? copy_ : tensor_; }
  void* data() const { return const_cast<void*>(tensor().const_data()); }

 private:
  const Tensor& tensor_;
  Tensor copy_;
};

// The arguments of a call, in order; each may be taken once. What is left is freed with the object, unless the stack is
// handed on.
class Arguments {
 public:
  Arguments(StableIValue* stack, size_t count) : stack_(stack), count_(count) {}
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  // Borrowed: the stack keeps what it holds until `discard`.
  AtenTensorHandle tensor(size_t i) const { return reinterpret_cast<AtenTensorHandle>(stack_[i]); }
  AtenTensorHandle optional_tensor(size_t i) const;
  Sizes ints(size_t i) const { return list(reinterpret_cast<StableListHandle>(stack_[i])); }
  bool has(size_t i) const { return stack_[i] != 0; }
  int64_t integer(size_t i) const { return static_cast<int64_t>(stack_[i]); }
  bool boolean(size_t i) const { return (stack_[i] & 0xff) != 0; }
  double number(size_t i) const;

  enum class Type { kTensor, kOptionalTensor, kList, kOptionalList, kValue };
  // Frees everything on the stack.
  void discard(const Type* types);

 private:
  static Sizes list(StableListHandle handle);
  StableIValue* stack_;
  size_t count_;
};

// A tensor that somebody else owns.
class Borrowed {
 public:
  explicit Borrowed(AtenTensorHandle handle) : tensor_(handle) {}
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  ~Borrowed() { tensor_.release(); }
  const Tensor& operator*() const { return tensor_; }
  const Tensor* operator->() const { return &tensor_; }

 private:
  Tensor tensor_;
};

// The stream that torch uses on the tensor's device now; null on the CPU.
void* current_stream(const Tensor& tensor);

}  // namespace wt::aten
