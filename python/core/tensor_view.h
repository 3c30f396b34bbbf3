// SPDX-License-Identifier: Apache-2.0
// python/core/tensor_view.h - where any array of Python lies in memory: numpy, torch, jax, cupy and others.
//
// Tried in this order, the fast ways first: the buffer protocol (numpy), DLPack's C exchange (torch 2.10 and later),
// __array_interface__, __dlpack__ and __cuda_array_interface__.
#pragma once

#include <array>
#include <string>

#include "python/core/dlpack.h"
#include "python/core/python.h"
#include "wavetile/wavetile.h"

namespace wt::python {

constexpr int kMaxRank = 8;

class TensorView {
 public:
  TensorView() = default;
  TensorView(const TensorView&) = delete;
  TensorView& operator=(const TensorView&) = delete;
  ~TensorView();

  // False with Python's error set. `stream` is what will read and write the memory; producers that need it wait there.
  bool take(PyObject* object, const char* name, void* stream);

  void* data = nullptr;
  dlpack::Device device{dlpack::kCpu, 0};
  dlpack::DataType type{};
  bool writable = true;
  int rank = 0;
  std::array<int64_t, kMaxRank> shape{};
  std::array<int64_t, kMaxRank> strides{};        // in elements
  const dlpack::ExchangeApi* exchange = nullptr;  // of torch, which knows its current stream

  bool on_host() const { return device.type == dlpack::kCpu || device.type == dlpack::kCudaHost; }
  std::string describe() const;  // "float32 (2, 3), strides (3, 1)"

 private:
  bool take_exchange(PyObject* object, PyObject* capsule);
  bool take_buffer(PyObject* object, const char* name);
  bool take_dlpack(PyObject* object, const char* name, void* stream);
  bool take_interface(PyObject* object, PyObject* interface, const char* name, bool cuda);
  bool copy(const dlpack::Tensor& tensor, const char* name);

  Py_buffer buffer_{};
  dlpack::ManagedTensor* managed_ = nullptr;
  Ref owner_;
};

// What is wrong with a view as a tensor of a problem; "" when nothing is. Both orders of a channels-last tensor are
// right: its memory's (n, h, w, c), or the logical one (n, c, h, w) with strides to match, as torch has it.
std::string fault_of(const TensorView& view, const wavetile_tensor_info& info, const char* name, bool channels_last);

// "bf16", ...; as in the text of problems.
const char* type_name(int32_t type);

}  // namespace wt::python
