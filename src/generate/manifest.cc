// SPDX-License-Identifier: Apache-2.0
// generate/manifest.cc - the JSON manifest of an exported tree.
#include <nlohmann/json.hpp>

#include "base/version.h"
#include "config/fields.h"
#include "config/storage.h"
#include "generate/export_text.h"

namespace wt::exported {

std::string manifest(std::span<const Entry> entries, const TargetName& target, const std::string& rule_set,
                     const std::vector<std::string>& files) {
  using Json = nlohmann::ordered_json;
  Json counts = {{"fwd", 0}, {"bwd_data", 0}, {"bwd_weight", 0}};
  Json kernels = Json::array();
  for (const Entry& entry : entries) {
    const std::string direction(text_of(entry.config.direction));
    counts[direction] = counts[direction].get<int>() + 1;
    kernels.push_back({{"name", entry.name},
                       {"direction", direction},
                       {"instance", instance_string(entry.config)},
                       {"header", fmt::format("kernels/{}.h", entry.name)},
                       {"unit", fmt::format("kernels/{}.cc", entry.name)},
                       {"wrapper", fmt::format("wrappers/{}.h", entry.name)},
                       {"threads", threads_of(entry.config)},
                       {"shared_bytes", shared_bytes_of(entry.config)},
                       {"config", Json::parse(to_json(entry.config))}});
  }
  const Json root = {
      {"wavetile", kVersion}, {"target", to_text(target)}, {"rule_set", rule_set}, {"kernels_total", entries.size()},
      {"counts", counts},     {"kernels", kernels},        {"files", files}};
  return root.dump(1) + "\n";
}

std::vector<std::string> files_of_manifest(const std::string& text) {
  const nlohmann::json root = nlohmann::json::parse(text, nullptr, false);
  std::vector<std::string> files;
  if (!root.is_object() || !root.contains("wavetile") || !root.contains("files") || !root["files"].is_array())
    return files;
  for (const auto& file : root["files"])
    if (file.is_string()) files.push_back(file.get<std::string>());
  return files;
}

}  // namespace wt::exported
