// SPDX-License-Identifier: Apache-2.0
// base/json_value.h - the JSON values of the library, which can be destroyed where memory has run out.
//
// Headers may include it; a source that does something with such a value includes base/json.h or nlohmann/json.hpp too.
//
// WHY not nlohmann::json: its destructor moves the parts of a value to a std::vector of values, and where that cannot
// be allocated the process ends. The containers of these values have an allocator of their own, so that nothing but
// that vector asks std::allocator for values, and it takes from a reserve what the machine does not give.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace wt {

template <class T>
struct JsonAllocator {
  using value_type = T;
  JsonAllocator() = default;
  template <class U>
  JsonAllocator(const JsonAllocator<U>&) noexcept {}
  T* allocate(size_t count) { return static_cast<T*>(::operator new(count * sizeof(T))); }
  void deallocate(T* memory, size_t) noexcept { ::operator delete(memory); }
  friend bool operator==(const JsonAllocator&, const JsonAllocator&) { return true; }
};

using JsonValue =
    nlohmann::basic_json<std::map, std::vector, std::string, bool, int64_t, uint64_t, double, JsonAllocator>;
// The same with members in the order in which they were added.
using OrderedJson = nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool, int64_t, uint64_t,
                                         double, JsonAllocator>;

// Memory while a value is destroyed: where the machine has none, of a reserve of 256 kB. Ends the process with a
// message where that is not enough either.
void* json_scratch(size_t bytes) noexcept;
void json_scratch_free(void* memory) noexcept;

template <class Value>
struct JsonScratch {
  using value_type = Value;
  JsonScratch() = default;
  Value* allocate(size_t count) noexcept { return static_cast<Value*>(json_scratch(count * sizeof(Value))); }
  void deallocate(Value* memory, size_t) noexcept { json_scratch_free(memory); }
  friend bool operator==(const JsonScratch&, const JsonScratch&) { return true; }
};

}  // namespace wt

template <>
struct std::allocator<wt::JsonValue> : wt::JsonScratch<wt::JsonValue> {};
template <>
struct std::allocator<wt::OrderedJson> : wt::JsonScratch<wt::OrderedJson> {};
