// SPDX-License-Identifier: Apache-2.0
// config/json.cc - a KernelConfig to JSON text and back, from the list of fields (fields.h).
#include <vector>

#include "base/json.h"
#include "config/fields.h"

namespace wt {

namespace {

using Json = OrderedJson;

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

// Written by hand: a rule set lists tens of thousands of these. No value needs escaping.
std::string to_json(const KernelConfig& config, JsonFields which) {
  std::string text = "{";
  std::vector<std::string_view> open;  // the objects that the last field lies in
  for (const Field& field : fields()) {
    if (which == JsonFields::kChanged && field.get(config) == field.default_value()) continue;
    std::vector<std::string_view> parents;
    std::string_view name = field.path;
    for (size_t dot; (dot = name.find('.')) != std::string_view::npos; name.remove_prefix(dot + 1))
      parents.push_back(name.substr(0, dot));
    size_t shared = 0;
    while (shared < open.size() && shared < parents.size() && open[shared] == parents[shared]) ++shared;
    text.append(open.size() - shared, '}');
    if (text.back() != '{') text += ',';
    for (size_t i = shared; i < parents.size(); ++i) text += fmt::format("\"{}\":{{", parents[i]);
    open = std::move(parents);
    const bool is_text = field.kind == Field::Kind::kEnum || field.kind == Field::Kind::kHash;
    text += is_text ? fmt::format("\"{}\":\"{}\"", name, field.text(config))
                    : fmt::format("\"{}\":{}", name, field.text(config));
  }
  text.append(open.size(), '}');
  return text + "}";
}

Result<KernelConfig> config_from_json(std::string_view text) {
  const Result<Json> root = parse_json<Json>(text);
  if (!root.ok()) return bad_input("the kernel configuration is not JSON: {:.80} ({})", text, root.status().message());
  if (!root->is_object()) return bad_input("the kernel configuration must be a JSON object, not {:.80}", text);
  KernelConfig config;
  WT_TRY(read_object(config, "", *root));
  return config;
}

}  // namespace wt
