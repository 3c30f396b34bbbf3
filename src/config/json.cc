// SPDX-License-Identifier: Apache-2.0
// config/json.cc - a KernelConfig to JSON text and back, from the list of fields (fields.h).
#include <nlohmann/json.hpp>

#include "config/fields.h"

namespace wt {

namespace {

using Json = nlohmann::ordered_json;

Json value_of(const Field& field, const KernelConfig& config) {
  switch (field.kind) {
    case Field::Kind::kBool:
      return field.get(config) != 0;
    case Field::Kind::kInteger:
      return field.get(config);
    case Field::Kind::kEnum:
    case Field::Kind::kHash:
      break;  // 64 bits do not fit every JSON reader's numbers
  }
  return field.text(config);
}

Status read_value(KernelConfig& config, const std::string& path, const Json& value) {
  const Field* field = find_field(path);
  if (!field) return bad_input("{} is not a field of a kernel configuration; see docs/kernel-names.md", path);
  const bool wants_text = field->kind == Field::Kind::kEnum || field->kind == Field::Kind::kHash;
  const bool kind_matches = wants_text                          ? value.is_string()
                            : field->kind == Field::Kind::kBool ? value.is_boolean()
                                                                : value.is_number_integer();
  if (!kind_matches)
    return bad_input("{}: {} must be {}", path, value.dump(),
                     wants_text                          ? "a string"
                     : field->kind == Field::Kind::kBool ? "true or false"
                                                         : "an integer");
  return set_field(config, path, value.is_string() ? value.get<std::string>() : value.dump());
}

Status read_object(KernelConfig& config, const std::string& prefix, const Json& object) {
  for (const auto& [key, value] : object.items()) {
    const std::string path = prefix.empty() ? key : prefix + "." + key;
    if (value.is_object())
      WT_TRY(read_object(config, path, value));
    else
      WT_TRY(read_value(config, path, value));
  }
  return {};
}

}  // namespace

std::string to_json(const KernelConfig& config, JsonFields which) {
  Json root = Json::object();
  for (const Field& field : fields()) {
    if (which == JsonFields::kChanged && field.get(config) == field.default_value()) continue;
    Json* at = &root;
    std::string_view rest = field.path;
    for (size_t dot; (dot = rest.find('.')) != std::string_view::npos; rest.remove_prefix(dot + 1))
      at = &(*at)[std::string(rest.substr(0, dot))];
    (*at)[std::string(rest)] = value_of(field, config);
  }
  return root.dump();
}

Result<KernelConfig> config_from_json(std::string_view text) {
  const Json root = Json::parse(text, nullptr, false);
  if (root.is_discarded()) return bad_input("the kernel configuration is not JSON: {:.80}", text);
  if (!root.is_object()) return bad_input("the kernel configuration must be a JSON object, not {:.80}", text);
  KernelConfig config;
  WT_TRY(read_object(config, "", root));
  return config;
}

}  // namespace wt
