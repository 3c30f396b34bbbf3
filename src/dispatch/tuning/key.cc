// SPDX-License-Identifier: Apache-2.0
#include "dispatch/tuning/key.h"

#include <cstdlib>
#include <map>
#include <mutex>
#include <tuple>

#include "compile/compiler.h"
#include "config/fields.h"
#include "config/signature.h"
#include "config/targets.h"
#include "dispatch/packs.h"
#include "generate/source.h"

namespace wt::tuning {
namespace {

constexpr std::string_view kRequests = " user=";  // where the problem's text ends

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

Result<std::string> find_content_key(const DeviceInfo& device, const KernelConfig& config, const std::string& name) {
  WT_TRY_ASSIGN(const std::shared_ptr<const Registry> packs, installed_packs(device));
  if (packs && packs->contains(name)) {
    WT_TRY_ASSIGN(const RegisteredKernel* kernel, packs->find(name));
    return kernel->providers.front().pack->find(name)->key;
  }
  WT_TRY_ASSIGN(std::string source, generate_source(config));
  return compile::content_key(backend_for(device), {name, std::move(source), config.target});
}

}  // namespace

std::string key_text(const ConvProblem& problem, const PlanOptions& options) {
  const EpilogueConfig epilogue = epilogue_config_of(problem);
  std::string text = canonical_text(problem);
  text += fmt::format("{}{:x} det={:d} strict={:d} ws=", kRequests, epilogue.user_hash, options.deterministic,
                      options.strict_nonfinite);
  return text + (options.workspace_limit ? fmt::format("{}", *options.workspace_limit) : "any");
}

Key key_of(const DeviceInfo& device, const ConvProblem& problem, const PlanOptions& options) {
  return {device.name, device.multiprocessors, std::string(info_of(device.target).name), key_text(problem, options)};
}

std::string short_text(const Key& key) {
  const size_t end = key.problem.rfind(kRequests);
  if (end == std::string::npos) return key.problem;
  const Result<ConvProblem> problem = parse_problem(std::string_view(key.problem).substr(0, end));
  return problem.ok() ? to_text(*problem) : key.problem;
}

Result<std::string> content_key_of(const DeviceInfo& device, const KernelConfig& config) {
  const std::string name = name_of(config);
  if (!variable("WAVETILE_SOURCE_DIR").empty()) return find_content_key(device, config, name);
  static std::mutex mutex;
  static auto& known = *new std::map<std::tuple<compile::Backend, std::string, std::string>, std::string>;
  const std::tuple at(backend_for(device), name, variable("WAVETILE_PACK"));
  {
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(at); found != known.end()) return found->second;
  }
  WT_TRY_ASSIGN(std::string key, find_content_key(device, config, name));
  const std::lock_guard lock(mutex);
  return known[at] = std::move(key);
}

}  // namespace wt::tuning
