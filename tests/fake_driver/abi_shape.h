// SPDX-License-Identifier: Apache-2.0
// tests/fake_driver/abi_shape.h - our declaration of a driver's function against the vendor's, at compile time.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

namespace wt::fake {

// Types differ in name, so functions are compared by what the calling convention sees.
enum class Kind { kPointer, kInteger, kFloat };
struct Parameter {
  size_t size;
  Kind kind;
  constexpr bool operator==(const Parameter&) const = default;
};
template <class T>
constexpr Parameter parameter() {
  return {sizeof(T), std::is_pointer_v<T>          ? Kind::kPointer
                     : std::is_floating_point_v<T> ? Kind::kFloat
                                                   : Kind::kInteger};
}
template <class Result, class... Args>
constexpr auto shape(Result (*)(Args...)) {
  return std::array<Parameter, sizeof...(Args) + 1>{parameter<Result>(), parameter<Args>()...};
}
template <class Ours, class Theirs>
constexpr bool same_shape(Ours ours, Theirs theirs) {
  if constexpr (std::is_same_v<decltype(shape(ours)), decltype(shape(theirs))>)
    return shape(ours) == shape(theirs);
  else
    return false;
}

}  // namespace wt::fake
