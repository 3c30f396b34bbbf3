// SPDX-License-Identifier: Apache-2.0
#include "dispatch/choice/kernel_files.h"

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "base/json.h"
#include "config/fields.h"
#include "config/targets.h"
#include "kernels/constraints.h"

namespace wt {
namespace {

namespace fs = std::filesystem;
using Json = JsonValue;

constexpr std::string_view kManifest = "manifest.json";

Status add_config(const Json& item, const std::string& origin, std::vector<KernelConfig>& configs) {
  if (!item.is_object()) return bad_input("{}: a kernel is a JSON object, this is {}", origin, item.type_name());
  const Json& config = item.contains("config") ? item["config"] : item;
  Result<KernelConfig> parsed = config_from_json(config.dump());
  if (!parsed.ok()) return parsed.status().with_context(origin);
  configs.push_back(*parsed);
  return {};
}

Status add_file(const fs::path& path, std::vector<KernelConfig>& configs) {
  WT_TRY_ASSIGN(const std::string text, read_file(path));
  WT_TRY_ASSIGN(const std::vector<KernelConfig> more, configs_from_json(text, path.string()));
  configs.insert(configs.end(), more.begin(), more.end());
  return {};
}

Status add_folder(const fs::path& folder, std::vector<KernelConfig>& configs) {
  std::error_code error;
  if (fs::exists(folder / kManifest, error)) return add_file(folder / kManifest, configs);
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  if (error) return failure(Code::kIo, "cannot list the folder {}: {}", folder.string(), error.message());
  if (files.empty()) return bad_input("folder {} holds neither a manifest.json nor other .json files", folder.string());
  std::ranges::sort(files);
  for (const fs::path& file : files) WT_TRY(add_file(file, configs));
  return {};
}

// Those for the registry's target, each of which must be possible there.
Result<std::vector<KernelConfig>> for_target(const std::vector<KernelConfig>& all, Target target,
                                             const std::string& from) {
  std::vector<KernelConfig> configs;
  for (const KernelConfig& config : all) {
    if (config.target != target) continue;
    if (const std::vector<Decline> reasons = declines(config); !reasons.empty())
      return unsupported("{}: no such kernel as {}: {}", from, name_of(config), to_text(reasons));
    if (std::ranges::find(configs, config) == configs.end()) configs.push_back(config);
  }
  if (configs.empty())
    return unsupported("none of the {} kernels of {} is for {}", all.size(), from, info_of(target).name);
  return configs;
}

}  // namespace

bool is_json(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

Result<std::vector<KernelConfig>> configs_from_json(const std::string& text, const std::string& origin) {
  const Result<Json> parsed = parse_json<Json>(text);
  if (!parsed.ok()) return parsed.status().with_context(origin);
  const Json& root = *parsed;
  std::vector<KernelConfig> configs;
  const Json& list = root.is_object() && root.contains("kernels") ? root["kernels"] : root;
  if (list.is_array()) {
    for (const Json& item : list) WT_TRY(add_config(item, origin, configs));
  } else {
    WT_TRY(add_config(list, origin, configs));
  }
  if (configs.empty()) return bad_input("{} holds no kernel", origin);
  return configs;
}

Result<std::vector<KernelConfig>> configs_from(const std::string& text_or_path) {
  if (is_json(text_or_path)) return configs_from_json(text_or_path, "the JSON that was given");
  std::vector<KernelConfig> configs;
  std::error_code error;
  if (fs::is_directory(text_or_path, error)) {
    WT_TRY(add_folder(text_or_path, configs));
  } else {
    WT_TRY(add_file(text_or_path, configs));
  }
  return configs;
}

Result<size_t> add_kernels(Registry& registry, const std::string& from, Priority priority) {
  const std::string extension = is_json(from) ? "" : fs::path(from).extension().string();
  if (extension == ".wtpack") {
    WT_TRY_ASSIGN(const std::shared_ptr<const compile::Pack> pack,
                  compile::Pack::open(from, registry.backend(), registry.target()));
    WT_TRY(registry.add_pack(pack, priority, Existing::kReplace));
    return pack->entries().size();
  }
  if (extension == ".so") {
    WT_TRY_ASSIGN(const size_t added, registry.add_library(from, priority, Existing::kReplace));
    return added;
  }
  WT_TRY_ASSIGN(const std::vector<KernelConfig> all, configs_from(from));
  const std::string origin = is_json(from) ? "JSON" : from;
  WT_TRY_ASSIGN(const std::vector<KernelConfig> configs, for_target(all, registry.target(), origin));
  WT_TRY(registry.add_generated(configs, origin, priority, Existing::kReplace));
  return configs.size();
}

}  // namespace wt
