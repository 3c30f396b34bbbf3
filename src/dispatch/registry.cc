// SPDX-License-Identifier: Apache-2.0
#include "dispatch/registry.h"

#include <algorithm>
#include <nlohmann/json.hpp>

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

}  // namespace

Status Registry::add(Kernels& kernels, const KernelConfig& config, Priority priority, Provider provider) const {
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
  for (const Provider& other : kernel.providers) {
    if (other.origin != provider.origin) continue;
    return bad_input("kernel {} was registered twice as {}: by {} and by {}; remove one of them", name,
                     name_of(provider.origin), other.detail, provider.detail);
  }
  kernel.priority = std::max(kernel.priority, priority);
  const auto place = std::find_if(kernel.providers.begin(), kernel.providers.end(),
                                  [&](const Provider& other) { return other.origin > provider.origin; });
  kernel.providers.insert(place, std::move(provider));
  return {};
}

Status Registry::add_pack(const std::shared_ptr<const compile::Pack>& pack, Priority priority) {
  WT_TRY(pack->check_version());
  WT_TRY(pack->check_target(backend_, target_));
  Kernels kernels = kernels_;
  for (const compile::PackEntry& entry : pack->entries()) {
    WT_TRY(add(kernels, entry.config, priority, {Origin::kPack, pack->info().path.string(), pack, nullptr}));
  }
  kernels_ = std::move(kernels);
  return {};
}

Status Registry::add_exported(std::span<const wavetile_exported::Kernel* const> exported, Priority priority) {
  Kernels kernels = kernels_;
  for (const wavetile_exported::Kernel* kernel : exported) {
    if (kernel->format != wavetile_exported::kFormat) {
      return unsupported("exported kernels have format {} and this library reads {}; export the tree again",
                         kernel->format, wavetile_exported::kFormat);
    }
    if (kernel->version != kVersion) {
      return unsupported("kernel {} was exported by wavetile {} and this is {}; export the tree again", kernel->name,
                         kernel->version, kVersion);
    }
    if (kernel->simulated != (backend_ == compile::Backend::kHost)) {
      return bad_input("kernel {} was compiled {} the simulator and the catalogue is for {}", kernel->name,
                       kernel->simulated ? "for" : "without", target_text(backend_, target_));
    }
    WT_TRY_ASSIGN(const KernelConfig config, config_from_json(kernel->config));
    if (name_of(config) != kernel->name) {
      return bad_input("exported kernel {} has the config of {}", kernel->name, name_of(config));
    }
    WT_TRY(add(kernels, config, priority,
               {Origin::kExported, fmt::format("exported tree {}", kernel->version), nullptr, kernel}));
  }
  kernels_ = std::move(kernels);
  return {};
}

Status Registry::add_generated(std::span<const KernelConfig> configs, const std::string& rule_set, Priority priority) {
  Kernels kernels = kernels_;
  for (const KernelConfig& config : configs) {
    WT_TRY(add(kernels, config, priority, {Origin::kGenerated, "rule set " + rule_set, nullptr, nullptr}));
  }
  kernels_ = std::move(kernels);
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
                       target_text(backend_, target_), to_text(problem), hint);
  }
  std::sort(matches.begin(), matches.end(), [](const RegisteredKernel* a, const RegisteredKernel* b) {
    return a->priority != b->priority ? a->priority > b->priority : compare(a->config, b->config) < 0;
  });
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

std::string Registry::to_json() const {
  using Json = nlohmann::ordered_json;
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
