// SPDX-License-Identifier: Apache-2.0
#include "dispatch/choice/registry.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/dynamic_library.h"
#include "base/files.h"
#include "base/json_value.h"
#include "base/version.h"
#include "config/fields.h"
#include "config/signature.h"
#include "config/targets.h"
#include "generate/source.h"

namespace wt {
namespace {

std::string target_text(compile::Backend backend, Target target) {
  return to_text(TargetName{target, backend == compile::Backend::kHost});
}

void in_order(std::vector<const RegisteredKernel*>& kernels) {
  std::sort(kernels.begin(), kernels.end(), [](const RegisteredKernel* a, const RegisteredKernel* b) {
    return a->priority != b->priority ? a->priority > b->priority : compare(a->config, b->config) < 0;
  });
}

}  // namespace

Status Registry::add(Kernels& kernels, const KernelConfig& config, Priority priority, Provider provider,
                     Existing existing) const {
  const std::string name = name_of(config);
  if (config.target != target_) {
    return bad_input("kernel {} of {} is for {} and the catalogue for {}", name, provider.detail,
                     info_of(config.target).name, target_text(backend_, target_));
  }
  const auto [found, fresh] = kernels.try_emplace(name, RegisteredKernel{config, name, priority, {}});
  RegisteredKernel& kernel = found->second;
  if (!(kernel.config == config)) {
    return bad_input("two different kernels have the name {}: {} and {}", name, key_of(kernel.config), key_of(config));
  }
  for (Provider& other : kernel.providers) {
    if (other.origin != provider.origin) continue;
    if (existing == Existing::kRefuse) {
      return bad_input("kernel {} was registered twice as {}: by {} and by {}; remove one of them", name,
                       name_of(provider.origin), other.detail, provider.detail);
    }
    other = std::move(provider);
    kernel.priority = priority;
    return {};
  }
  kernel.priority = existing == Existing::kReplace ? priority : std::max(kernel.priority, priority);
  const auto place = std::find_if(kernel.providers.begin(), kernel.providers.end(),
                                  [&](const Provider& other) { return other.origin > provider.origin; });
  kernel.providers.insert(place, std::move(provider));
  return {};
}

Status Registry::add_pack(const std::shared_ptr<const compile::Pack>& pack, Priority priority, Existing existing) {
  WT_TRY(pack->check_version());
  WT_TRY(pack->check_target(backend_, target_));
  Kernels kernels = kernels_;
  for (const compile::PackEntry& entry : pack->entries()) {
    WT_TRY(add(kernels, entry.config, priority, {Origin::kPack, pack->info().path.string(), pack, nullptr, nullptr},
               existing));
  }
  kernels_ = std::move(kernels);
  return {};
}

// The config of a row that is for this catalogue and was exported by this version.
Result<KernelConfig> Registry::config_of(const wavetile_exported::Kernel& row) const {
  if (row.format != wavetile_exported::kFormat) {
    return unsupported("exported kernels have format {} and this library reads {}; export the tree again", row.format,
                       wavetile_exported::kFormat);
  }
  if (row.version != kVersion) {
    return unsupported("kernel {} was exported by wavetile {} and this is {}; export the tree again", row.name,
                       row.version, kVersion);
  }
  if (row.simulated != (backend_ == compile::Backend::kHost)) {
    return bad_input("kernel {} was compiled {} the simulator and the catalogue is for {}", row.name,
                     row.simulated ? "for" : "without", target_text(backend_, target_));
  }
  WT_TRY_ASSIGN(const KernelConfig config, config_from_json(row.config));
  if (name_of(config) != row.name)
    return bad_input("exported kernel {} has the config of {}", row.name, name_of(config));
  return config;
}

Status Registry::add_exported(std::span<const wavetile_exported::Kernel* const> exported, Priority priority) {
  Kernels kernels = kernels_;
  for (const wavetile_exported::Kernel* row : exported) {
    WT_TRY_ASSIGN(const KernelConfig config, config_of(*row));
    WT_TRY(add(kernels, config, priority,
               {Origin::kExported, fmt::format("exported tree {}", row->version), nullptr, row, nullptr},
               Existing::kRefuse));
  }
  kernels_ = std::move(kernels);
  return {};
}

Result<size_t> Registry::add_library(const std::string& file, Priority priority, Existing existing) {
  WT_TRY_ASSIGN(std::string bytes, read_trusted_file(file));
  const auto whole = std::make_shared<const std::string>(std::move(bytes));
  WT_TRY_ASSIGN(const DynamicLibrary library, DynamicLibrary::load(file, *whole));
  decltype(&wavetile_exported_kernels) rows_of = nullptr;
  if (const Status status = library.bind(rows_of, "wavetile_exported_kernels"); !status.ok())
    return bad_input("{} is no library of an exported tree: {}", file, status.message());
  int count = 0;
  const wavetile_exported::Kernel* const* rows = rows_of(&count);
  Kernels kernels = kernels_;
  for (int i = 0; i < count; ++i) {
    WT_TRY_ASSIGN(const KernelConfig config, config_of(*rows[i]));
    // The simulator loads the library itself, a GPU the code that it holds.
    auto image = whole;
    if (!rows[i]->simulated) {
      image = std::make_shared<const std::string>(reinterpret_cast<const char*>(rows[i]->image),
                                                  static_cast<size_t>(rows[i]->image_end - rows[i]->image));
    }
    WT_TRY(add(kernels, config, priority, {Origin::kExported, file, nullptr, nullptr, std::move(image)}, existing));
  }
  kernels_ = std::move(kernels);
  return static_cast<size_t>(count);
}

Status Registry::add_generated(std::span<const KernelConfig> configs, const std::string& origin, Priority priority,
                               Existing existing) {
  Kernels kernels = kernels_;
  for (const KernelConfig& config : configs) {
    WT_TRY(add(kernels, config, priority, {Origin::kGenerated, origin, nullptr, nullptr, nullptr}, existing));
  }
  kernels_ = std::move(kernels);
  return {};
}

Status Registry::set_priority(std::string_view name, Priority priority) {
  WT_TRY(find(name).status());
  kernels_.find(name)->second.priority = priority;
  return {};
}

Status Registry::remove(std::string_view name) {
  WT_TRY(find(name).status());
  kernels_.erase(kernels_.find(name));
  return {};
}

Status Registry::check_not_empty() const {
  if (!kernels_.empty()) return {};
  return unsupported("the catalogue for {} is empty: no pack, exported tree or rule set was added",
                     target_text(backend_, target_));
}

Result<std::vector<const RegisteredKernel*>> Registry::query(const ConvProblem& problem, uint64_t user_epilogue) const {
  WT_TRY(check_not_empty());
  std::vector<const RegisteredKernel*> matches;
  std::string nearest, difference;
  for (const auto& [name, kernel] : kernels_) {
    if (kernel.config.epilogue.user_hash != user_epilogue) continue;
    std::string now = signature_difference(kernel.config, problem);
    if (now.empty()) {
      matches.push_back(&kernel);
    } else if (nearest.empty() || now.size() < difference.size()) {
      nearest = name;
      difference = std::move(now);
    }
  }
  if (matches.empty()) {
    const std::string hint = nearest.empty() ? "" : fmt::format("; the nearest is {}: {}", nearest, difference);
    return unsupported("none of the {} kernels for {} has the signature of '{}'{}", kernels_.size(),
                       target_text(backend_, target_), wt::to_text(problem), hint);
  }
  in_order(matches);
  return matches;
}

std::vector<const RegisteredKernel*> Registry::matching(const ConvProblem& problem) const {
  std::vector<const RegisteredKernel*> matches;
  for (const auto& [name, kernel] : kernels_)
    if (signature_difference(kernel.config, problem).empty()) matches.push_back(&kernel);
  in_order(matches);
  return matches;
}

Result<const RegisteredKernel*> Registry::find(std::string_view name) const {
  WT_TRY(check_not_empty());
  const auto found = kernels_.find(name);
  if (found == kernels_.end()) {
    return bad_input("no kernel {} is among the {} for {}", name, kernels_.size(), target_text(backend_, target_));
  }
  return &found->second;
}

Result<compile::Module> Registry::module(const RegisteredKernel& kernel) const {
  for (const Provider& provider : kernel.providers) {
    if (provider.image) {
      compile::Module module;
      module.backend = backend_;
      module.target = target_;
      module.name = kernel.name;
      module.image = *provider.image;
      module.key = "exported:" + provider.detail;
      return module;
    }
    if (provider.origin == Origin::kPack) return provider.pack->load(*provider.pack->find(kernel.name));
    if (provider.origin == Origin::kGenerated) {
      WT_TRY_ASSIGN(std::string text, generate_source(kernel.config));
      return compile::compile(backend_, {kernel.name, std::move(text), target_});
    }
  }
  return unsupported(
      "kernel {} comes from an exported tree alone and is called through its entry; add a pack or a "
      "rule set to have it as a module",
      kernel.name);
}

std::vector<KernelConfig> Registry::configs() const {
  std::vector<KernelConfig> configs;
  for (const auto& [name, kernel] : kernels_) configs.push_back(kernel.config);
  return configs;
}

std::string Registry::to_json() const {
  using Json = OrderedJson;
  Json kernels = Json::array();
  for (const auto& [name, kernel] : kernels_) {
    Json providers = Json::array();
    for (const Provider& provider : kernel.providers) {
      Json item = {{"origin", name_of(provider.origin)}, {"detail", provider.detail}};
      if (provider.pack) {
        const compile::Resources& resources = provider.pack->find(name)->resources;
        item["registers"] = resources.registers;
        item["spill_bytes"] = resources.spill_bytes;
      }
      providers.push_back(std::move(item));
    }
    kernels.push_back({{"name", name},
                       {"priority", name_of(kernel.priority)},
                       {"providers", std::move(providers)},
                       {"config", Json::parse(wt::to_json(kernel.config))}});
  }
  const Json document = {{"wavetile", kVersion},
                         {"target", target_text(backend_, target_)},
                         {"kernels_total", kernels_.size()},
                         {"kernels", std::move(kernels)}};
  return document.dump(2) + "\n";
}

std::string Registry::to_text() const {
  std::string text = fmt::format("{} kernels for {}\n", kernels_.size(), target_text(backend_, target_));
  for (const auto& [name, kernel] : kernels_) {
    text += fmt::format("  {:<7}{}", name_of(kernel.priority), name);
    for (const Provider& provider : kernel.providers)
      text += fmt::format("  {} {}", name_of(provider.origin), provider.detail);
    text += "\n";
  }
  return text;
}

const char* name_of(Priority priority) {
  switch (priority) {
    case Priority::kLow:
      return "low";
    case Priority::kNormal:
      return "normal";
    case Priority::kHigh:
      return "high";
  }
  return "?";
}

const char* name_of(Origin origin) {
  switch (origin) {
    case Origin::kExported:
      return "exported";
    case Origin::kPack:
      return "pack";
    case Origin::kGenerated:
      return "generated";
  }
  return "?";
}

Result<Priority> parse_priority(std::string_view text) {
  for (const Priority priority : {Priority::kLow, Priority::kNormal, Priority::kHigh}) {
    if (text == name_of(priority)) return priority;
  }
  return bad_input("priority {} is not known; use low, normal or high", text);
}

}  // namespace wt
