// SPDX-License-Identifier: Apache-2.0
// problem/measures.h - what several rooms ask of a type's width and of a size.
#pragma once

#include <cstdint>

#include "problem/problem.h"

namespace wt {

constexpr bool is_16_bit(DataType type) { return type == DataType::kBf16 || type == DataType::kF16; }
constexpr bool is_fp8(DataType type) { return type == DataType::kE4m3 || type == DataType::kE5m2; }

// What a scale of blocks may belong to.
constexpr bool is_narrow(DataType type) { return is_fp8(type) || type == DataType::kE2m1; }

// The most that a sum of int8 products, or that of its correction by x's zero point, grows by with each product.
constexpr int64_t largest_int8_product(int x_zero) { return (128 + (x_zero < 0 ? -x_zero : x_zero)) * int64_t{128}; }

constexpr int64_t pixels(const Spatial& size) { return size[0] * size[1] * size[2]; }

}  // namespace wt
