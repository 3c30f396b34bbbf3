// SPDX-License-Identifier: Apache-2.0
#include "dispatch/tuning/first_use.h"

#include "base/log.h"
#include "config/fields.h"
#include "dispatch/tuning/tuner.h"

namespace wt::tuning {
namespace {

// What is measured serves this plan even where it cannot be kept.
std::unique_ptr<Database> open_database() {
  const Result<std::filesystem::path> path = Database::default_path();
  Result<std::unique_ptr<Database>> database =
      path.ok() ? Database::open(*path, Access::kCreate) : Result<std::unique_ptr<Database>>(path.status());
  if (database.ok()) return std::move(*database);
  log::warn("what is tuned now is not kept: {}", database.status().message());
  return nullptr;
}

}  // namespace

Result<Tuned> tune_now(const std::shared_ptr<Device>& device, const ConvProblem& problem, const PlanOptions& options) {
  Tuned tuned;
  if (!is_gpu(device->info().kind)) {
    tuned.note = fmt::format("nothing is tuned on {}: a simulated time says nothing about a GPU", device->info().id);
    return tuned;
  }
  if (!(options.tuning_seconds > 0)) {
    return bad_input("tuning on first use within {} seconds is not possible; use a time above 0",
                     options.tuning_seconds);
  }
  WT_TRY_ASSIGN(const bool capturing, device->is_capturing(options.stream));
  if (capturing) {
    return bad_input(
        "tuning on first use runs and times kernels, which cannot be done while a stream of {} is being captured; make "
        "the plan for '{}' before the capture begins, or with tuning off or cached",
        device->info().id, to_text(problem));
  }
  // A capture of a stream that this check cannot see (non-blocking, of another library) must not be broken either.
  const std::shared_ptr<void> shield = device->shield_captures();
  const std::unique_ptr<Database> database = open_database();
  TuneOptions tune_options;
  tune_options.plan = options;
  tune_options.seconds = options.tuning_seconds;
  WT_TRY_ASSIGN(TuneReport report, tune(device, problem, tune_options, database.get()));
  if (!report.entry) {
    WT_TRY(report.status);
    return failure(Code::kVerificationFailed, "none of the {} kernels tried for '{}' ran and gave a right result: {}",
                   report.rows.size(), to_text(problem),
                   report.rows.empty() ? "" : report.rows.front().measurement.detail);
  }
  if (!report.status.ok()) log::warn("what was tuned is not kept: {}", report.status.message());
  WT_TRY_ASSIGN(tuned.config, config_from_json(report.entry->best.config));
  tuned.entry = std::move(report.entry);
  return tuned;
}

}  // namespace wt::tuning
