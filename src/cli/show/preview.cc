// SPDX-License-Identifier: Apache-2.0
#include "cli/show/preview.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_value.h"
#include "cli/input/crop.h"
#include "cli/show/numbers.h"
#include "cli/show/terminal.h"
#include "cli/show/trial_json.h"
#include "compile/compiler.h"
#include "config/targets.h"
#include "dispatch/choice/decision_json.h"
#include "dispatch/choice/filter.h"
#include "generate/source.h"
#include "kernels/constraints.h"

namespace wt::cli {

namespace {

// By the target's own compiler.
Status compile_for_target(const std::string& name, const KernelConfig& config, compile::Resources& resources) {
  const compile::Backend backend = compile::backend_of(config.target);
  WT_TRY_ASSIGN(std::string source, generate_source(config));
  WT_TRY_ASSIGN(const compile::Module module, compile::compile(backend, {name, std::move(source), config.target}));
  resources = module.resources;
  return {};
}

// Kernels that are made for some image sizes decline most crops: the smallest of growing ones that this one takes.
ConvProblem crop_for(const KernelConfig& config, const ConvProblem& problem) {
  constexpr double kMost = 64 * kCropMultiplyAdds;
  double budget = kCropMultiplyAdds;
  ConvProblem part = crop(problem, budget);
  for (; budget < kMost && !declines(config, part).empty(); part = crop(problem, budget)) budget *= 2;
  return declines(config, part).empty() ? part : problem;
}

std::string build_text(const Preview& preview) {
  if (!preview.compiler_present) return "no compiler";
  if (!preview.compiled.ok()) return "NOT COMPILED";
  std::string text = fmt::format("{:.2f} s", preview.compile_seconds);
  if (preview.registers > 0) text += fmt::format(", {} regs", preview.registers);
  if (preview.spill_bytes > 0) text += fmt::format(", {} B spilled", preview.spill_bytes);
  return text;
}

std::string simulated_text(const Preview& preview, bool brief) {
  if (!preview.status.ok() && preview.simulated.plan.kernel.empty()) return "not simulated";
  const char* verdict = preview.simulated.verified ? "verified" : "WRONG";
  if (!preview.simulated.verified && preview.status.code() != Code::kVerificationFailed) verdict = "FAILED";
  if (brief) return fmt::format("simulated {}", verdict);
  return fmt::format("simulated {} in {}", verdict, time_text(preview.simulated.first_seconds * 1e6));
}

}  // namespace

Result<Previewer> Previewer::open(const std::string& target) {
  WT_TRY_ASSIGN(const TargetName name, parse_target(target));
  Previewer previewer;
  previewer.target_ = info_of(name.target).name;
  WT_TRY_ASSIGN(previewer.simulator_, open_device("sim:" + previewer.target_));
  return previewer;
}

Preview Previewer::preview(const ConvProblem& problem, const TrialOptions& asked) const {
  Preview preview;
  PlanOptions plan;
  plan.strict_nonfinite = asked.plan.strict_nonfinite;
  plan.deterministic = asked.plan.deterministic;
  plan.batch_invariant = asked.plan.batch_invariant;
  plan.splits = asked.plan.splits;
  Result<Decision> chosen = decide(usual_device(simulator_->info().target), problem, plan);
  if (!chosen.ok()) {
    preview.status = chosen.status();
    return preview;
  }
  preview.chosen = std::move(*chosen);
  const Decision& pick = preview.chosen->leaf();
  const KernelConfig& config = *pick.config;
  preview.kernel = pick.kernel;
  compile::Resources resources;
  preview.compiled = compile::available(compile::backend_of(config.target), config.target);
  preview.compiler_present = preview.compiled.ok();
  if (preview.compiler_present) preview.compiled = compile_for_target(pick.kernel, config, resources);
  preview.registers = std::max(0, resources.registers);
  preview.spill_bytes = std::max(0, resources.spill_bytes);
  preview.compile_seconds = resources.compile_seconds;

  TrialOptions options;
  options.plan.kernel = pick.kernel;
  options.plan.splits = plan.splits;
  options.exact = asked.exact;
  options.seed = asked.seed;
  options.time = false;
  preview.simulated = run_trial(simulator_, crop_for(config, pick.problem), options);
  preview.status = preview.simulated.status;
  // A compiler that is here and refuses is a fault; one that is not here is a fact of the machine.
  if (preview.status.ok() && preview.compiler_present) preview.status = preview.compiled;
  return preview;
}

std::string preview_line(const Preview& preview, const std::string& target, int columns) {
  const std::string start = fmt::format("    {}: ", target);
  const std::string end = fmt::format("  {}  {}", build_text(preview), simulated_text(preview, is_narrow(columns)));
  const int room = columns <= 0 ? 0 : std::max(12, columns - static_cast<int>(start.size() + end.size()));
  const std::string kernel = preview.kernel.empty() ? "no kernel" : preview.kernel;
  std::string text = start + kernel_text(kernel, room) + end + "\n";
  for (const Decision* part = preview.chosen ? &*preview.chosen : nullptr; part && part->inner;
       part = part->inner.get())
    text += fmt::format("      {}\n", part->reason);
  return text;
}

OrderedJson preview_json(const Preview& preview, const std::string& target) {
  OrderedJson json = {{"target", target}, {"kernel", preview.kernel}, {"compiled", preview.compiled.ok()}};
  if (preview.chosen) json["decision"] = to_json(*preview.chosen);
  if (preview.compiled.ok()) {
    json["registers"] = preview.registers;
    json["spill_bytes"] = preview.spill_bytes;
    json["compile_seconds"] = preview.compile_seconds;
  } else {
    json["compile_error"] = preview.compiled.message();
  }
  json["simulated"] = trial_json(preview.simulated);
  if (!preview.status.ok()) json["error"] = preview.status.message();
  return json;
}

}  // namespace wt::cli
