// SPDX-License-Identifier: Apache-2.0
#include "base/json_rows.h"

#include <nlohmann/json.hpp>

namespace wt {
namespace {

using Json = OrderedJson;

constexpr size_t kLine = 120;  // bytes of a member that stands on one line

std::string compact(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string member(const Json& value) {
  std::string line = compact(value);
  if (line.size() <= kLine || !value.is_structured()) return line;
  std::string text;
  for (const auto& [key, element] : value.items()) {
    text += text.empty() ? "\n" : ",\n";
    if (value.is_object()) text += compact(key) + ":";
    text += compact(element);
  }
  return value.is_object() ? "{" + text + "\n}" : "[" + text + "\n]";
}

}  // namespace

std::string json_rows(const Json& document) {
  if (!document.is_object() || document.empty()) return compact(document) + "\n";
  std::string text;
  for (const auto& [key, value] : document.items()) {
    text += text.empty() ? "{\n" : ",\n";
    text += compact(key) + ": " + member(value);
  }
  return text + "\n}\n";
}

}  // namespace wt
