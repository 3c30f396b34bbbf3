// SPDX-License-Identifier: Apache-2.0
#include "python/aten/tensor.h"

#include <bit>

namespace wt::aten {

Tensor Tensor::empty(const Sizes& sizes, Format format, int32_t dtype, const Tensor& like) {
  int32_t device_type = 0;
  check(torch().aoti_torch_get_device_type(like.get(), &device_type), "get_device_type");
  const Sizes strides = dense_strides(sizes, format);
  AtenTensorHandle handle = nullptr;
  check(torch().aoti_torch_empty_strided(static_cast<int64_t>(sizes.size()), sizes.data(), strides.data(), dtype,
                                         device_type, like.device_index(), &handle),
        "empty_strided");
  return Tensor(handle);
}

Tensor Tensor::undefined() {
  AtenTensorHandle handle = nullptr;
  check(torch().aoti_torch_new_uninitialized_tensor(&handle), "new_uninitialized_tensor");
  return Tensor(handle);
}

bool Tensor::defined() const {
  bool answer = false;
  if (handle_) check(torch().aoti_torch_is_defined(handle_, &answer), "is_defined");
  return answer;
}

int64_t Tensor::rank() const {
  int64_t rank = 0;
  check(torch().aoti_torch_get_dim(handle_, &rank), "get_dim");
  return rank;
}

Sizes Tensor::sizes() const {
  int64_t* values = nullptr;
  check(torch().aoti_torch_get_sizes(handle_, &values), "get_sizes");
  return Sizes(values, values + rank());
}

Sizes Tensor::strides() const {
  int64_t* values = nullptr;
  check(torch().aoti_torch_get_strides(handle_, &values), "get_strides");
  return Sizes(values, values + rank());
}

int32_t Tensor::dtype() const {
  int32_t dtype = 0;
  check(torch().aoti_torch_get_dtype(handle_, &dtype), "get_dtype");
  return dtype;
}

bool Tensor::on_cuda() const {
  int32_t type = 0;
  check(torch().aoti_torch_get_device_type(handle_, &type), "get_device_type");
  static const int32_t cuda = torch().aoti_torch_device_type_cuda();
  return type == cuda;
}

int32_t Tensor::device_index() const {
  int32_t index = 0;
  check(torch().aoti_torch_get_device_index(handle_, &index), "get_device_index");
  return index;
}

bool Tensor::same_device(const Tensor& other) const {
  return on_cuda() == other.on_cuda() && device_index() == other.device_index();
}

void* Tensor::data() const {
  void* memory = nullptr;
  check(torch().torch_get_mutable_data_ptr(handle_, &memory), "get_mutable_data_ptr");
  return memory;
}

const void* Tensor::const_data() const {
  const void* memory = nullptr;
  check(torch().torch_get_const_data_ptr(handle_, &memory), "get_const_data_ptr");
  return memory;
}

Sizes dense_strides(const Sizes& sizes, Format format) {
  Sizes strides(sizes.size(), 1);
  int64_t next = 1;
  const auto place = [&](size_t i) {
    strides[i] = next;
    next *= sizes[i] > 1 ? sizes[i] : 1;
  };
  const bool last = format == Format::kLast && sizes.size() > 2;
  if (last) place(1);
  for (size_t i = sizes.size(); i-- > (last ? 2 : 1);) place(i);
  if (!sizes.empty()) place(0);
  return strides;
}

bool suggests_last(const Tensor& tensor) {
  const Sizes sizes = tensor.sizes(), strides = tensor.strides();
  if (sizes.size() != 4 && sizes.size() != 5) return false;
  if (strides[1] == 0) return false;
  // Channels, then pixels from the innermost, then images: no stride may be below what the ones before span.
  int64_t least = 0;
  Sizes order = {1};
  for (size_t i = sizes.size() - 1; i >= 2; --i) order.push_back(static_cast<int64_t>(i));
  order.push_back(0);
  for (const int64_t i : order) {
    const auto at = static_cast<size_t>(i);
    if (sizes[at] == 0 || strides[at] < least) return false;
    // WHY: n, 1, h, w and n, c, 1, 1 fit both formats; torch takes them for contiguous then.
    if (i == 0 && least == strides[1]) return false;
    least = strides[at] * (sizes[at] > 1 ? sizes[at] : 1);
  }
  return true;
}

Dense::Dense(const Tensor& tensor, Format format, int32_t dtype) : tensor_(tensor) {
  const Sizes sizes = tensor.sizes(), strides = tensor.strides(), wanted = dense_strides(sizes, format);
  bool good = tensor.dtype() == dtype && reinterpret_cast<uintptr_t>(tensor.const_data()) % 16 == 0;
  for (size_t i = 0; good && i < sizes.size(); ++i) good = sizes[i] == 1 || strides[i] == wanted[i];
  if (good) return;
  copy_ = Tensor::empty(sizes, format, dtype, tensor);
  check(torch().aoti_torch_copy_(copy_.get(), tensor.get(), 0), "copy_");
}

AtenTensorHandle Arguments::optional_tensor(size_t i) const {
  const auto* value = reinterpret_cast<const StableIValue*>(stack_[i]);
  return value ? reinterpret_cast<AtenTensorHandle>(*value) : nullptr;
}

double Arguments::number(size_t i) const { return std::bit_cast<double>(stack_[i]); }

Sizes Arguments::list(StableListHandle handle) {
  size_t size = 0;
  check(torch().torch_list_size(handle, &size), "list_size");
  Sizes values(size);
  for (size_t i = 0; i < size; ++i) {
    StableIValue item = 0;
    check(torch().torch_list_get_item(handle, i, &item), "list_get_item");
    values[i] = static_cast<int64_t>(item);
  }
  return values;
}

void Arguments::discard(const Type* types) {
  for (size_t i = 0; i < count_; ++i) {
    auto* optional = reinterpret_cast<StableIValue*>(stack_[i]);
    switch (types[i]) {
      case Type::kTensor:
        torch().aoti_torch_delete_tensor_object(tensor(i));
        break;
      case Type::kList:
        torch().torch_delete_list(reinterpret_cast<StableListHandle>(stack_[i]));
        break;
      case Type::kOptionalTensor:
        if (optional) torch().aoti_torch_delete_tensor_object(reinterpret_cast<AtenTensorHandle>(*optional));
        delete optional;
        break;
      case Type::kOptionalList:
        if (optional) torch().torch_delete_list(reinterpret_cast<StableListHandle>(*optional));
        delete optional;
        break;
      case Type::kValue:
        break;
    }
  }
}

void* current_stream(const Tensor& tensor) {
  void* stream = nullptr;
  if (tensor.on_cuda()) {
    check(torch().aoti_torch_get_current_cuda_stream(tensor.device_index(), &stream), "get_current_cuda_stream");
  }
  return stream;
}

}  // namespace wt::aten
