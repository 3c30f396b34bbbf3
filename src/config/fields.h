// SPDX-License-Identifier: Apache-2.0
// config/fields.h - the one list of KernelConfig's fields, and everything that follows from it.
//
//   KernelConfig --fields()--> name, key, hash, order, JSON, template argument
//
// Nothing parses a name: a config comes back from its JSON. docs/kernel-names.md explains the names.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "config/enum_names.h"
#include "config/kernel_config.h"

namespace wt {

struct Field {
  enum class Kind : uint8_t { kEnum, kBool, kInteger, kHash };

  std::string_view path;  // gemm.tile.m, as JSON nests it and C++ writes it
  std::string_view tag;   // what a name puts before a value that is not the default; see place
  enum class Place : uint8_t {
    kPrefix,    // a name always says it, at a fixed place
    kOptional,  // a name says tag and value where the value is not the default
    kExtent,    // like kOptional, but a whole Extent3 at once: said by its m
    kCarried,   // n and k of an Extent3, said by its m
  } place;
  Kind kind;
  uint16_t offset;
  uint8_t bytes;
  bool is_signed;
  const EnumTable& (*names)();  // of an enumeration; null otherwise

  int64_t get(const KernelConfig& config) const;
  void set(KernelConfig& config, int64_t value) const;  // value must fit: see fits
  bool fits(int64_t value) const;
  int64_t default_value() const;
  bool is_changed(const KernelConfig& config) const { return get(config) != default_value(); }
  std::string text(const KernelConfig& config) const;  // as JSON writes it: bf16, true, 64, "0x1f"
};

std::span<const Field> fields();
const Field* find_field(std::string_view path);  // null when absent

// Whether one of the three fields of the extent that begins at fields()[index] is not the default.
bool extent_changed(size_t index, const KernelConfig& config);

// A C identifier of at most kMaxNameLength characters, different for different configs. A name that would be longer
// keeps its start and ends in the hash of the key.
inline constexpr size_t kMaxNameLength = 200;
std::string name_of(const KernelConfig& config);

// Every field that is not the default, as path=value joined by commas. Equal for equal configs only, and stable when
// a field is added.
std::string key_of(const KernelConfig& config);
uint64_t hash_of(const KernelConfig& config);  // of key_of; the same on every machine

// Field by field, in the order of the list.
std::strong_ordering compare(const KernelConfig& a, const KernelConfig& b);
struct ConfigLess {
  bool operator()(const KernelConfig& a, const KernelConfig& b) const { return compare(a, b) < 0; }
};

// One line for people: the fields that are not the default, with the target and the types spelled out.
std::string instance_string(const KernelConfig& config);

// JSON text, nested as the struct is. kAll spells out every field, kChanged those that are not the default.
enum class JsonFields { kAll, kChanged };
std::string to_json(const KernelConfig& config, JsonFields which = JsonFields::kChanged);
// A field that is absent keeps its default; an unknown one or a bad value is an error that names it.
Result<KernelConfig> config_from_json(std::string_view text);

// Sets one field from text, as the command line and JSON write values.
Status set_field(KernelConfig& config, std::string_view path, std::string_view value);

// {.target = wt::Target::kSm90a, .gemm = {.tile = {128, 128, 64}}}: the fields that are not the default, in order.
// A separator other than a space stands before the first member too, to begin a line.
std::string initializer_of(const KernelConfig& config, std::string_view separator = " ");

}  // namespace wt
