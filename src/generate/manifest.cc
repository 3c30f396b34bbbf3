// SPDX-License-Identifier: Apache-2.0
// generate/manifest.cc - the JSON manifest of an exported tree.
#include "base/json.h"
#include "base/version.h"
#include "config/fields.h"
#include "generate/export_text.h"
#include "kernels/resources.h"

namespace wt::exported {

std::string manifest(std::span<const Entry> entries, const TargetName& target, const std::vector<Run>& runs,
                     const std::vector<std::string>& files) {
  using Json = OrderedJson;
  Json run_list = Json::array();
  std::string rule_sets;
  for (const Run& run : runs) {
    run_list.push_back({{"rule_set", run.rule_set}, {"kernels", run.kernels}});
    rule_sets += (rule_sets.empty() ? "" : ", ") + run.rule_set;
  }
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
      {"wavetile", kVersion}, {"target", to_text(target)}, {"rule_set", rule_sets}, {"kernels_total", entries.size()},
      {"counts", counts},     {"runs", run_list},          {"kernels", kernels},    {"files", files}};
  return root.dump(1) + "\n";
}

std::vector<std::string> files_of_manifest(const std::string& text) {
  std::vector<std::string> files;
  const Result<JsonValue> parsed = parse_json<JsonValue>(text);
  if (!parsed.ok()) return files;
  const JsonValue& root = *parsed;
  if (!root.is_object() || !root.contains("wavetile") || !root.contains("files") || !root["files"].is_array())
    return files;
  for (const auto& file : root["files"])
    if (file.is_string()) files.push_back(file.get<std::string>());
  return files;
}

std::vector<Run> runs_of_manifest(const std::string& text) {
  std::vector<Run> runs;
  const Result<JsonValue> parsed = parse_json<JsonValue>(text);
  if (!parsed.ok() || !parsed->is_object() || !parsed->contains("runs") || !(*parsed)["runs"].is_array()) return runs;
  for (const auto& item : (*parsed)["runs"]) {
    if (!item.is_object() || !item.contains("rule_set") || !item["rule_set"].is_string()) continue;
    Run run{item["rule_set"].get<std::string>(), {}};
    if (item.contains("kernels"))
      for (const auto& name : item["kernels"])
        if (name.is_string()) run.kernels.push_back(name.get<std::string>());
    runs.push_back(std::move(run));
  }
  return runs;
}

Result<std::vector<KernelConfig>> kernels_of_manifest(const std::string& text) {
  WT_TRY_ASSIGN(const JsonValue root, parse_json<JsonValue>(text));
  if (!root.is_object() || !root.contains("kernels") || !root["kernels"].is_array())
    return bad_input("manifest.json lists no kernels; export into an empty folder");
  std::vector<KernelConfig> configs;
  for (const auto& item : root["kernels"]) {
    if (!item.is_object() || !item.contains("config")) return bad_input("a kernel of manifest.json has no config");
    WT_TRY_ASSIGN(const KernelConfig config, config_from_json(item["config"].dump()));
    configs.push_back(config);
  }
  return configs;
}

Status check_manifest_target(const std::string& text, const TargetName& target) {
  WT_TRY_ASSIGN(const JsonValue root, parse_json<JsonValue>(text));
  const std::string old = root.is_object() && root.contains("target") && root["target"].is_string()
                              ? root["target"].get<std::string>()
                              : "";
  if (old == to_text(target)) return {};
  return bad_input("the folder holds a tree for '{}' and this run is for {}; use another folder", old, to_text(target));
}

}  // namespace wt::exported
