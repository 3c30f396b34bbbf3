// SPDX-License-Identifier: Apache-2.0
// kernels/device/gemm/coordinates.h - where the elements of a GEMM operand live in the tensors of a convolution.
//
//   element (row, k) of an operand:  position = row.position + k.position;  offset = row.offset + k.offset + position .
//   strides
//
// Every operand of every direction splits this way, so a tile needs one small table for its rows and one for its
// k-block, and each element costs a few additions. The GEMM views themselves are problem/gemm_view.h.
#pragma once

#include "kernels/basic/device/arguments.h"
#include "kernels/device/gemm/storage.h"
#include "target/target.h"

namespace wt {

// One row or one k of an operand: its share of the offset (elements) and of the position in the image.
struct alignas(8) Coordinate {
  i64 offset;
  i32 position[3];  // d, h, w
  u32 valid;
};
static_assert(sizeof(Coordinate) == gemm_storage::kCoordinateBytes);

struct Quotient {
  i64 value;
  i32 rest;
};

// WHY outlined: a 64-bit division is some hundred instructions, and tables of coordinates make a dozen of them.
WT_OUTLINED Quotient divide_long(i64 index, i32 by) {
  const i64 value = index / by;
  return {value, static_cast<i32>(index - value * by)};
}
WT_DEVICE Quotient divide(i64 index, i32 by) {
  if (index >> 32 != 0) return divide_long(index, by);
  const u32 value = static_cast<u32>(index) / static_cast<u32>(by);
  return {value, static_cast<i32>(static_cast<u32>(index) - value * static_cast<u32>(by))};
}

struct Decoded {
  i64 outer;
  i32 at[3];
};

// Linear index -> (outer, d, h, w) of an image or filter of the given size.
WT_DEVICE Decoded decode(i64 index, const i32 (&size)[3]) {
  Decoded result;
  WT_UNROLL for (int i = 2; i >= 0; --i) {
    const Quotient quotient = divide(index, size[i]);
    result.at[i] = quotient.rest;
    index = quotient.value;
  }
  result.outer = index;
  return result;
}

// Linear index -> (d, h, w, inner), inner fastest: the order (r, s, c) of a GEMM's k.
WT_DEVICE Decoded decode_inner(i64 index, i32 inner_size, const i32 (&size)[3]) {
  const Quotient quotient = divide(index, inner_size);
  Decoded result = decode(quotient.value, size);
  result.outer = quotient.rest;
  return result;
}

WT_DEVICE i64 dot(const i32 (&at)[3], const TensorStrides& strides) {
  return at[0] * strides.spatial[0] + at[1] * strides.spatial[1] + at[2] * strides.spatial[2];
}

template <Direction kDirection>
struct Coordinates;

template <>
struct Coordinates<Direction::kForward> {
  static constexpr bool kGatherA = true, kGatherB = false;  // which operand's position can leave the image
  static constexpr bool kDivide = false;                    // position is a multiple of the stride only at some taps

  WT_DEVICE static const TensorStrides& gathered(const GemmArguments& p) { return p.x; }
  WT_DEVICE static const i32 (&extent(const GemmArguments& p))[3] { return p.shape.in; }

  WT_DEVICE static Coordinate a_row(const GemmArguments& p, i32 group, i64 m) {
    const Decoded at = decode(m, p.shape.out);
    Coordinate result{at.outer * p.x.n + group * p.x.g, {}, m < p.m};
    WT_UNROLL for (int i = 0; i < 3; ++i) result.position[i] = at.at[i] * p.shape.stride[i] - p.shape.pad[i];
    return result;
  }
  WT_DEVICE static Coordinate a_k(const GemmArguments& p, i64 k) {
    const Decoded at = decode_inner(k, p.shape.c, p.shape.filter);
    Coordinate result{at.outer * p.x.channel, {}, k < p.k};
    WT_UNROLL for (int i = 0; i < 3; ++i) result.position[i] = at.at[i] * p.shape.dilation[i];
    return result;
  }
  WT_DEVICE static Coordinate b_row(const GemmArguments& p, i32 group, i64 n) {
    return {group * p.w.g + n * p.w.n, {}, n < p.n};
  }
  WT_DEVICE static Coordinate b_k(const GemmArguments& p, i64 k) {
    const Decoded at = decode_inner(k, p.shape.c, p.shape.filter);
    return {at.outer * p.w.channel + dot(at.at, p.w), {}, k < p.k};
  }
  WT_DEVICE static Coordinate out_row(const GemmArguments& p, i32 group, i64 m) {
    const Decoded at = decode(m, p.shape.out);
    return {at.outer * p.y.n + group * p.y.g + dot(at.at, p.y), {}, m < p.m};
  }
  WT_DEVICE static Coordinate out_col(const GemmArguments& p, i64 n) { return {n * p.y.channel, {}, n < p.n}; }
  WT_DEVICE static i64 channel(const GemmArguments& p, i32 group, i64, i64 n) { return group * i64{p.shape.k} + n; }
};

template <>
struct Coordinates<Direction::kBackwardData> {
  static constexpr bool kGatherA = true, kGatherB = false;
  static constexpr bool kDivide = true;

  WT_DEVICE static const TensorStrides& gathered(const GemmArguments& p) { return p.y; }
  WT_DEVICE static const i32 (&extent(const GemmArguments& p))[3] { return p.shape.out; }

  WT_DEVICE static Coordinate a_row(const GemmArguments& p, i32 group, i64 m) {
    const Decoded at = decode(m, p.shape.in);
    Coordinate result{at.outer * p.y.n + group * p.y.g, {}, m < p.m};
    WT_UNROLL for (int i = 0; i < 3; ++i) result.position[i] = at.at[i] + p.shape.pad[i];
    return result;
  }
  WT_DEVICE static Coordinate a_k(const GemmArguments& p, i64 k) {
    const Decoded at = decode_inner(k, p.shape.k, p.shape.filter);
    Coordinate result{at.outer * p.y.channel, {}, k < p.k};
    WT_UNROLL for (int i = 0; i < 3; ++i) result.position[i] = -at.at[i] * p.shape.dilation[i];
    return result;
  }
  WT_DEVICE static Coordinate b_row(const GemmArguments& p, i32 group, i64 n) {
    return {group * p.w.g + n * p.w.channel, {}, n < p.n};
  }
  WT_DEVICE static Coordinate b_k(const GemmArguments& p, i64 k) {
    const Decoded at = decode_inner(k, p.shape.k, p.shape.filter);
    return {at.outer * p.w.n + dot(at.at, p.w), {}, k < p.k};
  }
  WT_DEVICE static Coordinate out_row(const GemmArguments& p, i32 group, i64 m) {
    const Decoded at = decode(m, p.shape.in);
    return {at.outer * p.x.n + group * p.x.g + dot(at.at, p.x), {}, m < p.m};
  }
  WT_DEVICE static Coordinate out_col(const GemmArguments& p, i64 n) { return {n * p.x.channel, {}, n < p.n}; }
  WT_DEVICE static i64 channel(const GemmArguments& p, i32 group, i64, i64 n) { return group * i64{p.shape.c} + n; }
};

template <>
struct Coordinates<Direction::kBackwardWeight> {
  static constexpr bool kGatherA = false, kGatherB = true;
  static constexpr bool kDivide = false;

  WT_DEVICE static const TensorStrides& gathered(const GemmArguments& p) { return p.x; }
  WT_DEVICE static const i32 (&extent(const GemmArguments& p))[3] { return p.shape.in; }

  WT_DEVICE static Coordinate a_row(const GemmArguments& p, i32 group, i64 m) {
    return {group * p.y.g + m * p.y.channel, {}, m < p.m};
  }
  WT_DEVICE static Coordinate a_k(const GemmArguments& p, i64 k) {
    const Decoded at = decode(k, p.shape.out);
    return {at.outer * p.y.n + dot(at.at, p.y), {}, k < p.k};
  }
  WT_DEVICE static Coordinate b_row(const GemmArguments& p, i32 group, i64 n) {
    const Decoded at = decode_inner(n, p.shape.c, p.shape.filter);
    Coordinate result{group * p.x.g + at.outer * p.x.channel, {}, n < p.n};
    WT_UNROLL for (int i = 0; i < 3; ++i) result.position[i] = at.at[i] * p.shape.dilation[i];
    return result;
  }
  WT_DEVICE static Coordinate b_k(const GemmArguments& p, i64 k) {
    const Decoded at = decode(k, p.shape.out);
    Coordinate result{at.outer * p.x.n, {}, k < p.k};
    WT_UNROLL for (int i = 0; i < 3; ++i) result.position[i] = at.at[i] * p.shape.stride[i] - p.shape.pad[i];
    return result;
  }
  WT_DEVICE static Coordinate out_row(const GemmArguments& p, i32 group, i64 m) {
    return {group * p.w.g + m * p.w.n, {}, m < p.m};
  }
  WT_DEVICE static Coordinate out_col(const GemmArguments& p, i64 n) {
    const Decoded at = decode_inner(n, p.shape.c, p.shape.filter);
    return {at.outer * p.w.channel + dot(at.at, p.w), {}, n < p.n};
  }
  WT_DEVICE static i64 channel(const GemmArguments& p, i32 group, i64 m, i64) { return group * i64{p.shape.k} + m; }
};

}  // namespace wt
