// SPDX-License-Identifier: Apache-2.0
#include "cli/input/own_kernels.h"

#include "config/fields.h"
#include "dispatch/choice/kernel_files.h"
#include "dispatch/choice/packs.h"

namespace wt::cli {
namespace {

Result<std::shared_ptr<Registry>> empty_registry(const DeviceInfo& device) {
  if (device.kind == DeviceKind::kCpu)
    return unsupported("device {} has no generated kernels; --kernel and --register need a GPU or a simulator",
                       device.id);
  return std::make_shared<Registry>(backend_for(device), device.target);
}

}  // namespace

Result<std::shared_ptr<const Registry>> read_registry(const DeviceInfo& device, const std::vector<std::string>& words) {
  std::shared_ptr<const Registry> none;
  if (words.empty()) return none;
  WT_TRY_ASSIGN(const std::shared_ptr<Registry> registry, empty_registry(device));
  for (const std::string& word : words) {
    Priority priority = Priority::kNormal;
    std::string what = word;
    if (const size_t equals = word.rfind('='); equals != std::string::npos && !is_json(word)) {
      WT_TRY_ASSIGN(priority, parse_priority(word.substr(equals + 1)));
      what = word.substr(0, equals);
    }
    const Result<size_t> added = add_kernels(*registry, what, priority);
    if (!added.ok()) return added.status().with_context("--register");
  }
  return std::shared_ptr<const Registry>(registry);
}

Result<std::shared_ptr<const Registry>> read_kernels(const DeviceInfo& device, const std::vector<std::string>& files) {
  std::shared_ptr<const Registry> none;
  if (files.empty()) return none;
  WT_TRY_ASSIGN(const std::shared_ptr<Registry> registry, empty_registry(device));
  for (const std::string& file : files) {
    const Result<size_t> added = add_kernels(*registry, file, Priority::kNormal);
    if (!added.ok()) return added.status().with_context("--kernel");
  }
  return std::shared_ptr<const Registry>(registry);
}

Result<std::string> kernel_text(const std::string& word) {
  if (!word.ends_with(".json")) return word;
  WT_TRY_ASSIGN(const std::vector<KernelConfig> configs, configs_from(word));
  if (configs.size() == 1) return to_json(configs.front());
  std::string list;
  for (const KernelConfig& config : configs) list += (list.empty() ? "[" : ",") + to_json(config);
  return list + "]";
}

}  // namespace wt::cli
