// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/search.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/json_value.h"
#include "base/printable.h"
#include "cli/exit_code.h"
#include "cli/input/kernel_names.h"
#include "cli/input/own_kernels.h"
#include "cli/input/selection.h"
#include "cli/interrupt.h"
#include "cli/show/numbers.h"
#include "cli/show/progress.h"
#include "cli/show/table.h"
#include "cli/show/terminal.h"
#include "cli/show/trial_json.h"
#include "dispatch/trial/search.h"

namespace wt::cli {
namespace {

std::string command_text(const SearchCommandOptions& options) {
  std::string text = "wavetile search";
  for (const std::string& what : options.what) text += fmt::format(" '{}'", what);
  text += fmt::format(" --device {}", options.device);
  if (!options.filter.empty()) text += fmt::format(" --filter '{}'", options.filter);
  if (!options.direction.empty()) text += fmt::format(" --direction {}", options.direction);
  if (!options.kernels.empty()) text += fmt::format(" --kernels '{}'", options.kernels);
  if (!options.names.empty()) text += fmt::format(" --names '{}'", options.names);
  for (const std::string& file : options.own) text += fmt::format(" --kernel '{}'", file);
  for (const std::string& word : options.registered) text += fmt::format(" --register '{}'", word);
  if (options.few) text += " --few";
  if (options.strict_nonfinite) text += " --strict-nonfinite";
  if (!options.deterministic) text += " --nondeterministic";
  if (options.splits > 0) text += fmt::format(" --splits {}", options.splits);
  if (options.best > 0) text += fmt::format(" --best {}", options.best);
  if (options.exact) text += " --exact";
  if (!options.time) text += " --no-time";
  if (options.same > 1) text += fmt::format(" --same {}", options.same);
  return text;
}

// The fastest first; of those that are wrong or failed every one, with what is the matter below it.
void print_report(const std::string& name, const SearchReport& report, int top) {
  const int columns = output_columns();
  fmt::print("{}  {}\n", printable(name), printable(to_text(report.problem)));
  size_t widest = 0;
  for (const SearchRow& row : report.rows) widest = std::max(widest, row.result.plan.kernel.size());
  const Table table({{"time", 10, true}, {"GFLOP/s", 7, true}, {"kernel", static_cast<int>(widest), false, true}},
                    columns);
  // On a terminal without what all kernels of a problem share, where that makes them fit or leaves room for the rest.
  const int room = std::max(24, columns - (table.width() - static_cast<int>(widest)));
  const auto line = [&](const std::string& time, const std::string& rate, const SearchRow& row) {
    const std::string& kernel = row.result.plan.kernel;
    fmt::print("{}", table.row({time, rate, columns > 0 ? without_signature(kernel, room) : kernel}));
  };
  fmt::print("{}", table.header());
  int shown = 0;
  for (const SearchRow& row : report.rows) {
    const Status& status = row.result.status;
    if (row.ranks() && shown < top) {
      line(time_text(row.result.timing->median_us), rate_text(row.result.gigaflops()), row);
      ++shown;
    } else if (row.result.verified && !row.result.timing && shown < top) {  // in the simulator, or as asked
      line("right", "-", row);
      ++shown;
    } else if (!status.ok()) {
      line(status.code() == Code::kVerificationFailed ? "WRONG" : "failed", "-", row);
      fmt::print("{}", columns > 0 ? wrap(status.message(), columns, "      ") : "      " + status.message() + "\n");
    }
  }
  fmt::print("  {} kernels right, {} wrong, {} failed\n",
             report.rows.size() - static_cast<size_t>(report.wrong + report.failed), report.wrong, report.failed);
  std::fflush(stdout);
}

OrderedJson report_json(const std::string& name, const SearchReport& report) {
  OrderedJson json = {
      {"name", name}, {"problem", to_text(report.problem)}, {"wrong", report.wrong}, {"failed", report.failed}};
  for (const SearchRow& row : report.rows) json["kernels"].push_back(trial_json(row.result));
  return json;
}

}  // namespace

int run_search(const SearchCommandOptions& options) {
  const Result<std::vector<Row>> rows = select_rows(options.what, options.filter, options.direction, options.code);
  if (!rows.ok()) return report_failure(rows.status());
  const Result<std::shared_ptr<Device>> device = open_device(options.device);
  if (!device.ok()) return report_failure(device.status());

  SearchOptions search_options;
  search_options.candidates = options.few ? Breadth::kFew : Breadth::kAll;
  search_options.filter = options.kernels;
  if (!options.names.empty()) {
    Result<std::set<std::string>> names = read_kernel_names(options.names);
    if (!names.ok()) return report_failure(names.status());
    search_options.names = std::move(*names);
  }
  Result<std::shared_ptr<const Registry>> own = options.own.empty()
                                                    ? read_registry((*device)->info(), options.registered)
                                                    : read_kernels((*device)->info(), options.own);
  if (!own.ok()) return report_failure(own.status());
  search_options.trial.plan.kernels = *own;
  search_options.own_only = !options.own.empty();
  search_options.best = static_cast<size_t>(options.best);
  search_options.trial.plan.strict_nonfinite = options.strict_nonfinite;
  search_options.trial.plan.deterministic = options.deterministic;
  search_options.trial.plan.splits = options.splits;
  search_options.trial.exact = options.exact;
  search_options.trial.same = options.same;
  search_options.trial.time = options.time;
  search_options.trial.seed = options.seed;
  TimerOptions timer;
  timer.budget_seconds = options.budget;
  search_options.trial.timer = timer;

  OrderedJson json = document(command_text(options));
  json["device"] = device_json((*device)->info());
  int code = kExitGood, wrong = 0, failed = 0;
  const InterruptGuard guard;
  search_options.stop = interrupted;
  size_t searched = 0, not_tried = 0;
  for (const Row& row : *rows) {
    if (interrupted()) break;
    ++searched;
    std::unique_ptr<Progress> bar;
    const auto progress = [&](size_t done, size_t total, const std::string& kernel) {
      if (!bar) bar = std::make_unique<Progress>(static_cast<int>(total), options.progress);
      bar->show(static_cast<int>(done), kernel);
    };
    const Result<SearchReport> report = search(*device, row.problem, search_options, progress);
    bar.reset();
    if (!report.ok()) {
      code = graver(code, report_failure(report.status().with_context(row.name)));
      continue;
    }
    not_tried += report->not_tried;
    wrong += report->wrong;
    failed += report->failed;
    if (options.json != "-") print_report(row.name, *report, options.top);
    json["problems"].push_back(report_json(row.name, *report));
    if (report->not_tried > 0) json["problems"].back()["not_tried"] = report->not_tried;
  }
  code = graver(code, report_kernels(wrong, failed));
  if (interrupted()) {
    json["interrupted"] = true;
    fmt::print(stderr, "wavetile: interrupted after {} of {} problems, with {} kernels of the last not tried; {}\n",
               searched, rows->size(), not_tried,
               options.json.empty() ? "what was tried is above" : "what was tried is in the JSON");
    code = kExitInterrupted;
  }
  if (options.json == "-") fmt::print("{}", json_text(json));
  if (!options.json.empty() && options.json != "-") {
    if (const Status status = write_file(options.json, json_text(json), FileKind::kDurable); !status.ok())
      return graver(code, report_failure(status));
  }
  return code;
}

}  // namespace wt::cli
