// SPDX-License-Identifier: Apache-2.0
#include "dispatch/tuning/key.h"

#include <cstdlib>
#include <map>
#include <mutex>
#include <tuple>

#include "base/environment.h"
#include "compile/compiler.h"
#include "config/fields.h"
#include "config/signature.h"
#include "config/targets.h"
#include "dispatch/choice/packs.h"
#include "generate/source.h"

namespace wt::tuning {
namespace {

constexpr std::string_view kRequests = " user=";  // where the problem's text ends

std::string variable(const char* name) {
  const char* value = environment_or_null(name);
  return value ? value : "";
}

Result<KernelCode> find_code(const DeviceInfo& device, const KernelConfig& config, const std::string& name) {
  WT_TRY_ASSIGN(const std::shared_ptr<const Registry> packs, installed_packs(device));
  if (packs && packs->contains(name)) {
    WT_TRY_ASSIGN(const RegisteredKernel* kernel, packs->find(name));
    const compile::Pack& pack = *kernel->providers.front().pack;
    return KernelCode{pack.find(name)->key, "", pack.info().compiler};
  }
  WT_TRY_ASSIGN(std::string source, generate_source(config));
  const compile::Backend backend = backend_for(device);
  KernelCode code;
  WT_TRY_ASSIGN(code.content_key, compile::content_key(backend, {name, std::move(source), config.target}));
  WT_TRY_ASSIGN(code.compiler, compile::compiler_version(backend));
  return code;
}

}  // namespace

std::string key_text(const ConvProblem& problem, const PlanOptions& options) {
  const EpilogueConfig epilogue = epilogue_config_of(problem);
  // Which zero points they are does not matter to a kernel, only whether x has one.
  ConvProblem kept = problem;
  kept.x_zero = problem.x_zero != 0;
  kept.y_zero = 0;
  std::string text = canonical_text(kept);
  text += fmt::format("{}{:x} det={:d} strict={:d} ws=", kRequests, epilogue.user_hash, options.deterministic,
                      options.strict_nonfinite);
  text += options.workspace_limit ? fmt::format("{}", *options.workspace_limit) : "any";
  return options.splits > 0 ? text + fmt::format(" splits={}", options.splits) : text;
}

Key key_of(const DeviceInfo& device, const ConvProblem& problem, const PlanOptions& options) {
  // WHY an AMD GPU by its architecture: HIP gives one chip several names, and several chips the name "AMD Radeon
  // Graphics".
  const std::string& gpu = device.architecture.empty() ? device.name : device.architecture;
  return {gpu, device.multiprocessors, std::string(info_of(device.target).name), key_text(problem, options)};
}

std::string short_text(const Key& key) {
  const size_t end = key.problem.rfind(kRequests);
  if (end == std::string::npos) return key.problem;
  const Result<ConvProblem> problem = parse_problem(std::string_view(key.problem).substr(0, end));
  return problem.ok() ? to_text(*problem) : key.problem;
}

Result<KernelCode> code_to_load(const DeviceInfo& device, const KernelConfig& config) {
  const std::string name = name_of(config);
  if (!variable("WAVETILE_SOURCE_DIR").empty()) return find_code(device, config, name);
  static std::mutex mutex;
  static auto& known = *new std::map<std::tuple<compile::Backend, std::string, std::string>, KernelCode>;
  const std::tuple at(backend_for(device), name, pack_places(device));
  {
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(at); found != known.end()) return found->second;
  }
  WT_TRY_ASSIGN(KernelCode code, find_code(device, config, name));
  const std::lock_guard lock(mutex);
  return known[at] = std::move(code);
}

std::optional<ConvProblem> plain_layer(const ConvProblem& problem) {
  ConvProblem plain = problem;
  plain.epilogue = {};
  plain.x_zero = plain.y_zero = 0;
  DataType& out = problem.direction == Direction::kForward        ? plain.y
                  : problem.direction == Direction::kBackwardData ? plain.x
                                                                  : plain.w;
  out = problem.direction == Direction::kForward ? problem.x : problem.y;
  if (problem.has_scales()) out = DataType::kBf16;  // outputs have none
  return plain == problem ? std::nullopt : std::optional(plain);
}

}  // namespace wt::tuning
