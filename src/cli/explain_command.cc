// SPDX-License-Identifier: Apache-2.0
#include "cli/explain_command.h"

#include <cstdio>

#include "cli/exit_code.h"
#include "cli/numbers.h"
#include "cli/problem_facts.h"
#include "dispatch/plan.h"

namespace wt::cli {

namespace {

void print_line(const std::string& label, const std::string& text) { fmt::print("{:<11}{}\n", label, text); }

Status explain(const ExplainOptions& options) {
  WT_TRY_ASSIGN(const ConvProblem problem, parse_problem(options.problem));
  for (const Fact& fact : problem_facts(problem)) print_line(fact.label, fact.text);
  WT_TRY_ASSIGN(const std::shared_ptr<Device> device, open_device(options.device.empty() ? "auto" : options.device));
  print_line("device", fmt::format("{}: {}", device->info().id, device->info().name));
  WT_TRY_ASSIGN(const std::shared_ptr<const Plan> plan, make_plan(device, problem, {}));
  print_line("plan", plan->description().kernel);
  print_line("", plan->description().reason);
  print_line("workspace", bytes_text(static_cast<double>(plan->workspace_bytes())));
  return {};
}

}  // namespace

int run_explain(const ExplainOptions& options) {
  const Status status = explain(options);
  return status.ok() ? kExitGood : report_failure(status);
}

}  // namespace wt::cli
