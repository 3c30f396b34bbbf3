// SPDX-License-Identifier: Apache-2.0
// kernels/device/user.h - what the user's epilogue text is compiled against: where it is, what it reads, how it writes,
// and some functions (docs/user-epilogue.md).
//
//   generated source: this file, the text in namespace wt::user, UserFunctions<hash> over it, then the kernel's header
#pragma once

#include "kernels/device/math.h"
#include "problem/user_types.h"

namespace wt {

template <unsigned long long kHash>
struct UserFunctions;  // f and store of the text with that hash

namespace user {

WT_DEVICE float abs(float x) { return math::absolute(x); }
WT_DEVICE float min(float a, float b) { return math::minimum(a, b); }
WT_DEVICE float max(float a, float b) { return math::maximum(a, b); }
WT_DEVICE float fma(float a, float b, float c) { return device::multiply_add(a, b, c); }
WT_DEVICE float sqrt(float x) { return device::square_root(x); }
WT_DEVICE float exp(float x) { return math::exponential(x); }
WT_DEVICE float tanh(float x) { return math::hyperbolic_tangent(x); }
WT_DEVICE float erf(float x) {
  const float size = 1 - 2 * math::normal_tail(math::absolute(x) * 1.41421356f);
  return x < 0 ? -size : size;
}
WT_DEVICE float sigmoid(float x) { return math::sigmoid(x); }
// To the nearest integer, halves to even.
WT_DEVICE float nearest(float x) {
  const float magnitude = math::absolute(x), whole = (magnitude + 8388608.0f) - 8388608.0f;
  if (!(magnitude < 8388608.0f)) return x;
  return x < 0 ? -whole : whole;
}

// Where a store writes: the output, and the tensors that belong to it alone.
template <DataType kOut>
struct OutputsOf {
  using Element = Storage<kOut>;
  void* output;
  void* own[kMaxInputs];
  long long offset;

  // The element itself, in the output or in tensor `i` of the store, rounded to the output's type.
  WT_DEVICE void put(float value) const { write(output, offset, device::from_float<Element>(value)); }
  WT_DEVICE void put(int i, float value) const { write(own[i], offset, device::from_float<Element>(value)); }
  // Another element, for a store that scatters.
  WT_DEVICE void put_at(long long index, float value) const {
    write(output, index, device::from_float<Element>(value));
  }
  WT_DEVICE void put_at(int i, long long index, float value) const {
    write(own[i], index, device::from_float<Element>(value));
  }
  // Element `index` of the memory of tensor `i`, or of the output, as an array of T: the bytes must be there.
  template <class T>
  WT_DEVICE void put_as(int i, long long index, T value) const {
    write(own[i], index, value);
  }
  template <class T>
  WT_DEVICE void put_as(long long index, T value) const {
    write(output, index, value);
  }

 private:
  template <class T>
  WT_DEVICE static void write(void* to, long long index, T value) {
#if defined(WT_USER_ON_HOST)
    static_cast<T*>(to)[index] = value;  // outside of any launch: the reference and the CPU
#else
    device::store_global(static_cast<T*>(to) + index, value);
#endif
  }
};

}  // namespace user
}  // namespace wt
