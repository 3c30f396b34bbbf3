// SPDX-License-Identifier: Apache-2.0
// python/core/fields.h - the C API's structs as Python dictionaries, by one table of fields a struct.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "python/core/python.h"
#include "wavetile/wavetile.h"

namespace wt::python {

enum class Kind { kInt32, kInt64, kUint64, kFloat, kDouble, kString, kText, kPointer };

struct Field {
  const char* name;
  Kind kind;
  size_t offset;
  size_t size;   // of one element
  size_t count;  // 1: a value; more: a list
};

template <class T>
constexpr Kind kind_of() {
  using Element = std::remove_all_extents_t<T>;
  if constexpr (std::is_same_v<Element, char>) return Kind::kText;
  if constexpr (std::is_same_v<Element, const char*>) return Kind::kString;
  if constexpr (std::is_same_v<Element, int32_t>) return Kind::kInt32;
  if constexpr (std::is_same_v<Element, int64_t>) return Kind::kInt64;
  if constexpr (std::is_same_v<Element, float>) return Kind::kFloat;
  if constexpr (std::is_same_v<Element, double>) return Kind::kDouble;
  if constexpr (std::is_same_v<Element, uint64_t>) return Kind::kUint64;
  return Kind::kPointer;
}

template <class T>
constexpr Field make_field(const char* name, size_t offset) {
  using Element = std::remove_all_extents_t<T>;
  return {name, kind_of<T>(), offset, sizeof(Element), sizeof(T) / sizeof(Element)};
}

template <class Struct>
std::span<const Field> fields_of();
template <>
std::span<const Field> fields_of<wavetile_problem_desc>();
template <>
std::span<const Field> fields_of<wavetile_plan_options>();
template <>
std::span<const Field> fields_of<wavetile_plan_info>();
template <>
std::span<const Field> fields_of<wavetile_device_info>();
template <>
std::span<const Field> fields_of<wavetile_tensor_info>();
template <>
std::span<const Field> fields_of<wavetile_tensors>();
template <>
std::span<const Field> fields_of<wavetile_verify_options>();
template <>
std::span<const Field> fields_of<wavetile_verify_report>();

// A new dictionary of every field but struct_size; null with Python's error set.
PyObject* to_dict(const void* from, std::span<const Field> fields);

// Sets the fields that `dict` names; false with Python's error set for an unknown name or a value that does not fit.
// Strings point into `dict`'s own, which must outlive their use.
bool from_dict(PyObject* dict, void* to, std::span<const Field> fields, const char* what);

// [(name, offset, bytes)] of every field, for those who declare the struct in another way.
PyObject* layout_of(std::span<const Field> fields);

}  // namespace wt::python
