// SPDX-License-Identifier: Apache-2.0
// base/json.h - JSON from a file that anybody may have written: parsed with a bound on its nesting, numbers with a
// range.
//
// Include it in sources only: nlohmann/json.hpp is heavy.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/json_value.h"
#include "base/status.h"

namespace wt {

inline constexpr int kMaxJsonNesting = 64;  // what the library writes has at most 8

// WHY before the parser: it holds its own stack in memory, but copying and writing a value recurse once per level, and
// a few hundred kilobytes of brackets exhaust the stack of a thread.
Status check_json_nesting(std::string_view text);

template <class Value = OrderedJson>
Result<Value> parse_json(std::string_view text) {
  WT_TRY(check_json_nesting(text));
  Value root = Value::parse(text, nullptr, false);
  if (root.is_discarded()) return bad_input("it is no JSON");
  return root;
}

// The whole number `name` of `object`, which must lie from `low` to `high`. WHY not get<int>(): it converts whatever
// number is there, and the conversion of 1e300 to an int is undefined.
template <class Value>
Result<int64_t> json_integer(const Value& object, const char* name, int64_t low, int64_t high) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  if (found == object.end()) return bad_input("{} is missing", name);
  const bool whole = found->is_number_integer();
  const bool beyond = found->is_number_unsigned() && found->template get<uint64_t>() > uint64_t{INT64_MAX};
  if (!whole || beyond || found->template get<int64_t>() < low || found->template get<int64_t>() > high) {
    return bad_input("{} is not a whole number from {} to {}", name, low, high);
  }
  return found->template get<int64_t>();
}

}  // namespace wt
