// SPDX-License-Identifier: Apache-2.0
// base/integers.h - divisions that round up, of numbers that are not negative, and down, of any.
#pragma once

#include <cstdint>

namespace wt {

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }  // b > 0
constexpr int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

}  // namespace wt
