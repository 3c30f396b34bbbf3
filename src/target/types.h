// SPDX-License-Identifier: Apache-2.0
// target/types.h - the words that device code on every target uses: fixed-width integers, number storage, coordinates.
//
// Freestanding: NVRTC, clang's device mode and the host compiler (simulator) all read this file.
#pragma once

#include "config/kernel_config.h"

namespace wt {

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using i32 = int;
using i64 = long long;
static_assert(sizeof(u32) == 4 && sizeof(u64) == 8);

// Storage of one number. Arithmetic is done in float after to_float (target/*/convert.h).
struct Bf16 {
  u16 bits;
};
struct F16 {
  u16 bits;
};
struct E4m3 {
  u8 bits;
};
struct E5m2 {
  u8 bits;
};
// Two numbers of e2m1, the first in the low half.
struct E2m1Pair {
  u8 bits;
};
struct I8 {
  u8 bits;  // two's complement
};

template <DataType kType>
struct StorageOf;
template <>
struct StorageOf<DataType::kF32> {
  using Type = float;
};
template <>
struct StorageOf<DataType::kTf32> {
  using Type = float;
};
template <>
struct StorageOf<DataType::kF16> {
  using Type = F16;
};
template <>
struct StorageOf<DataType::kBf16> {
  using Type = Bf16;
};
template <>
struct StorageOf<DataType::kE4m3> {
  using Type = E4m3;
};
template <>
struct StorageOf<DataType::kE5m2> {
  using Type = E5m2;
};
template <>
struct StorageOf<DataType::kE2m1> {
  using Type = E2m1Pair;
};
template <>
struct StorageOf<DataType::kI8> {
  using Type = I8;
};
template <DataType kType>
using Storage = typename StorageOf<kType>::Type;

// WHY not __is_same: NVRTC has no such builtin.
template <class A, class B>
inline constexpr bool kSame = false;
template <class A>
inline constexpr bool kSame<A, A> = true;

// What products of these operands are summed in.
template <class Operand>
struct SumOf {
  using Type = float;
};
template <>
struct SumOf<I8> {
  using Type = i32;
};
template <class Operand>
using Sum = typename SumOf<Operand>::Type;

// Shared memory is named by its address in the block's shared window, never by pointer, so that the simulator sees
// the numbers that swizzles and descriptors work on.
using SharedAddress = u32;

struct Int3 {
  i32 x, y, z;
};

// kCount consecutive values of T as one access of a register or a memory instruction.
template <class T, int kCount>
struct alignas(sizeof(T) * kCount) Vector {
  T at[kCount];
};

// The hardware's 128-byte tensor map; the host writes it into the parameter block (launch/launch.h).
struct alignas(64) TensorMap {
  u64 opaque[16];
};

}  // namespace wt
