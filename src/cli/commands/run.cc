// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/run.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/json_value.h"
#include "base/printable.h"
#include "cli/exit_code.h"
#include "cli/input/own_kernels.h"
#include "cli/show/numbers.h"
#include "cli/show/trial_json.h"
#include "dispatch/trial/batches.h"
#include "dispatch/trial/bias_gradient.h"

namespace wt::cli {

namespace {

std::string kernel_line(const TrialResult& trial) {
  std::string text = trial.plan.kernel;
  if (!trial.plan.reason.empty()) text += fmt::format(" ({})", trial.plan.reason);
  return text;
}

std::string build_line(const PlanDescription& plan) {
  std::string text = fmt::format("{:.2f} s to compile", plan.compile_seconds);
  if (plan.from_cache) text += " (found in the cache)";
  if (plan.registers > 0) text += fmt::format(", {} registers", plan.registers);
  if (plan.spill_bytes > 0) text += fmt::format(", {} bytes of spills", plan.spill_bytes);
  return text;
}

std::string verified_line(const TrialResult& trial, bool exact) {
  const VerifyReport& report = trial.verification;
  if (report.elements == 0) return "yes, the output is empty";
  std::string text = report.sampled() ? fmt::format("yes, {} of {} elements", report.compared, report.elements)
                                      : fmt::format("yes, all {} elements", report.elements);
  // Of outputs of 16 bits and fewer the largest error is always about one rounding, which says nothing.
  if (exact) {
    text += ", small integers";
  } else if (size_of(trial.problem.output_type()) < 4) {
    text += fmt::format(", {} of them rounded the other way", report.rounded_otherwise);
  } else {
    text += fmt::format(", largest error {:.2f} of the bound", report.worst);
  }
  if (trial.same > 0) text += fmt::format("; the same bits {} times", trial.same + 1);
  return text;
}

std::string time_line(const TrialResult& trial) {
  const Timing& timing = *trial.timing;
  std::string text = fmt::format("{} ({} to {}, median of {})", time_text(timing.median_us), time_text(timing.low_us),
                                 time_text(timing.high_us), timing.runs);
  if (trial.gigaflops() > 0) text += fmt::format(", {} GFLOP/s", rate_text(trial.gigaflops()));
  return text + fmt::format(", {} GB/s", rate_text(trial.gigabytes()));
}

// A trial, and what of it is not about one execution.
struct Outcome {
  TrialResult trial;
  std::optional<BatchProof> batches;  // of a plan whose results must not depend on the batch
};

std::string batches_line(const BatchProof& proof) {
  std::string sizes;
  for (const int64_t size : proof.batches) sizes += fmt::format("{}{}", sizes.empty() ? "" : ", ", size);
  return fmt::format("the same bits in batches of {} images, in order and backwards: {} results compared", sizes,
                     proof.images);
}

void print_result(const TrialResult& trial, const std::optional<BatchProof>& batches, bool exact) {
  const auto line = [](const char* label, const std::string& text) {
    fmt::print("{:<10}{}\n", label, printable(text));
  };
  line("problem", to_text(trial.problem));
  line("device", fmt::format("{}: {}", trial.device.id, trial.device.name));
  line("kernel", kernel_line(trial));
  if (trial.plan.compile_seconds > 0) line("build", build_line(trial.plan));
  if (trial.workspace_bytes > 0) line("workspace", bytes_text(static_cast<double>(trial.workspace_bytes)));
  line("verified", verified_line(trial, exact));
  if (batches) line("batches", batches_line(*batches));
  if (trial.timing) {
    line("time", time_line(trial));
  } else {
    line("time", fmt::format("{} in the simulator, which says nothing about a GPU's speed",
                             time_text(trial.first_seconds * 1e6)));
  }
  line("repeat", trial.replay);
}

Result<Outcome> try_problem(const RunOptions& options) {
  WT_TRY_ASSIGN(const ConvProblem problem, parse_problem(options.problem));
  WT_TRY_ASSIGN(const std::shared_ptr<Device> device, open_device(options.device));
  TrialOptions trial;
  trial.plan = options.plan;
  WT_TRY_ASSIGN(trial.plan.kernel, kernel_text(options.kernel));
  WT_TRY_ASSIGN(trial.plan.kernels, read_registry(device->info(), options.registered));
  trial.exact = options.exact;
  trial.same = options.same;
  trial.seed = options.seed;
  trial.repeat = options.repeat;
  if (options.bias_gradient) return Outcome{run_bias_gradient_trial(device, problem, trial), {}};
  const bool of_images = problem.direction != Direction::kBackwardWeight;
  // A weight gradient promises the order of its images, which shows in an execution more.
  if (trial.plan.batch_invariant && !of_images) trial.same = std::max(trial.same, 2);
  Outcome outcome{run_trial(device, problem, trial), {}};
  if (!trial.plan.batch_invariant || !of_images || !outcome.trial.status.ok()) return outcome;
  if (Result<BatchProof> proof = prove_batches(device, problem, trial); proof.ok()) {
    outcome.batches = std::move(*proof);
  } else {
    outcome.trial.status = proof.status();
  }
  return outcome;
}

}  // namespace

int run_run(const RunOptions& options) {
  const Result<Outcome> outcome = try_problem(options);
  if (!outcome.ok()) return report_failure(outcome.status());
  const TrialResult& trial = outcome->trial;
  if (!options.json.empty()) {
    OrderedJson json = document(trial.replay);
    json["device"] = device_json(trial.device);
    json["result"] = trial_json(trial);
    if (outcome->batches)
      json["result"]["batches"] = {{"sizes", outcome->batches->batches}, {"compared", outcome->batches->images}};
    if (const Status written = write_json(options.json, json); !written.ok()) return report_failure(written);
  }
  if (!trial.status.ok()) {
    const int code = report_failure(trial.status);
    fmt::print(stderr, "  repeat with: {}\n", trial.replay);
    return code;
  }
  if (options.json != "-") print_result(trial, outcome->batches, options.exact);
  return kExitGood;
}

}  // namespace wt::cli
