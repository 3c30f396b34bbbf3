// SPDX-License-Identifier: Apache-2.0
// config/enum_names.h - every enumerator of a KernelConfig: as a user writes it and as C++ writes it.
//
// The one table behind names, JSON, template arguments and the command line. enum_names.cc holds the data.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "config/kernel_config.h"

namespace wt {

struct EnumName {
  std::string_view text;  // basic_v1
  std::string_view cpp;   // kBasicV1
};

struct EnumTable {
  std::string_view type;            // Pipeline
  std::span<const EnumName> names;  // by value

  std::optional<int> find(std::string_view text) const;
  std::string choices() const;  // "fwd, bwd_data, bwd_weight"
};

template <class Enum>
const EnumTable& enum_table();
template <>
const EnumTable& enum_table<Direction>();
template <>
const EnumTable& enum_table<DataType>();
template <>
const EnumTable& enum_table<BlockScales>();
template <>
const EnumTable& enum_table<Layout>();
template <>
const EnumTable& enum_table<Activation>();
template <>
const EnumTable& enum_table<Target>();
template <>
const EnumTable& enum_table<Kind>();
template <>
const EnumTable& enum_table<Family>();
template <>
const EnumTable& enum_table<Pipeline>();
template <>
const EnumTable& enum_table<Scheduler>();
template <>
const EnumTable& enum_table<Loader>();
template <>
const EnumTable& enum_table<Specialization>();
template <>
const EnumTable& enum_table<SplitK>();
template <>
const EnumTable& enum_table<StreamK>();
template <>
const EnumTable& enum_table<Raster>();
template <>
const EnumTable& enum_table<Staging>();

template <class Enum>
std::string_view text_of(Enum value) {
  return enum_table<Enum>().names[static_cast<size_t>(value)].text;
}

template <class Enum>
std::optional<Enum> from_text(std::string_view text) {
  const std::optional<int> value = enum_table<Enum>().find(text);
  if (!value) return std::nullopt;
  return static_cast<Enum>(*value);
}

}  // namespace wt
