// SPDX-License-Identifier: Apache-2.0
// kernels/device/raw.h - numbers that are moved, not read: as many bytes as one load or store takes.
#pragma once

#include "kernels/device/gemm/storage.h"
#include "target/target.h"

namespace wt {

template <int kBytes>
struct RawOf;
template <>
struct RawOf<1> {
  using Type = u8;
};
template <>
struct RawOf<2> {
  using Type = u16;
};
template <>
struct RawOf<4> {
  using Type = u32;
};
template <>
struct RawOf<8> {
  using Type = Vector<u32, 2>;
};
template <>
struct RawOf<16> {
  using Type = Vector<u32, 4>;
};

}  // namespace wt
