// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/bench.h"

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files.h"
#include "base/printable.h"
#include "cli/exit_code.h"
#include "cli/input/log_file.h"
#include "cli/interrupt.h"
#include "cli/show/bench_report.h"
#include "cli/show/progress.h"
#include "cli/show/terminal.h"
#include "cli/show/trial_json.h"
#include "dispatch/trial/roof.h"
#include "runtime/cudnn/library.h"

namespace wt::cli {

namespace {

// As a user would type it.
std::string quoted(const std::string& word) {
  if (!word.empty() && word.find_first_of(" *?[]$'\"\\&;|<>()") == std::string::npos) return word;
  return "'" + word + "'";
}

std::string command_text(const BenchOptions& options, const std::string& device) {
  std::string text = "wavetile bench";
  for (const std::string& word : options.what) text += " " + quoted(word);
  if (!options.log.empty()) text += " --log " + quoted(options.log);
  text += " --device " + device;
  if (!options.filter.empty()) text += " --filter " + quoted(options.filter);
  if (!options.direction.empty()) text += " --direction " + options.direction;
  if (!options.compare.empty()) text += " --compare " + options.compare;
  text += plan_words(options.plan);
  if (options.exact) text += " --exact";
  if (options.seed != BenchOptions{}.seed) text += fmt::format(" --seed {}", options.seed);
  if (options.repeat > 0) text += fmt::format(" --repeat {}", options.repeat);
  return text;
}

TrialOptions trial_options(const BenchOptions& options) {
  TrialOptions trial;
  trial.plan = options.plan;
  trial.exact = options.exact;
  trial.seed = options.seed;
  trial.repeat = options.repeat;
  return trial;
}

// Both sides on the same tensors, one after the other. A row that we cannot do is still timed with cuDNN.
BenchRow compare_row(const std::shared_ptr<Device>& device, const Row& row, const TrialOptions& options) {
  BenchRow result{row.name, {}, {}, {}, {}};
  result.trial.problem = row.problem;
  result.trial.device = device->info();
  result.trial.replay = replay_command(row.problem, device->info().id, options);
  const auto plan = make_plan(device, row.problem, options.plan);
  const auto tensors = TrialTensors::make(device, row.problem, options.exact, options.seed);
  if (!tensors.ok()) {
    result.trial.status = tensors.status();
    return result;
  }
  if (plan.ok()) {
    result.trial = run_trial(**tensors, **plan, options);
  } else {
    result.trial.status = plan.status();
  }
  result.cudnn = time_cudnn(**tensors, options);
  return result;
}

// The choice of a plan with strict non-finite behaviour beside the one that is timed, where that one cannot promise it.
std::optional<TrialResult> strict_trial(const std::shared_ptr<Device>& device, const BenchRow& row,
                                        const TrialOptions& options) {
  if (!row.trial.verified || !row.trial.plan.finite_only) return std::nullopt;
  TrialOptions strict = options;
  strict.plan.strict_nonfinite = true;
  return run_trial(device, row.trial.problem, strict);
}

// The file's folder must exist before minutes of work, not after them.
Status check_output(const char* option, const std::string& path) {
  if (path.empty() || path == "-") return {};
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  if (std::filesystem::is_directory(path)) return bad_input("{} {} is a folder; name a file", option, path);
  if (!std::filesystem::is_directory(folder))
    return bad_input("{} {}: the folder {} does not exist", option, path, folder.string());
  return {};
}

Status write_output(const std::string& path, const std::string& text) {
  if (path != "-") return write_file(path, text, FileKind::kDurable);
  fmt::print("{}", text);
  return {};
}

Result<std::vector<Row>> rows_of(const BenchOptions& options) {
  if (options.log.empty()) {
    if (options.what.empty()) return bad_input("bench needs a suite, a problem or --log FILE");
    return select_rows(options.what, options.filter, options.direction, options.code);
  }
  if (!options.what.empty() || !options.filter.empty() || !options.direction.empty())
    return bad_input("--log FILE names the rows: give no suite, --filter or --direction beside it");
  return rows_of_log(options.log, options.code);
}

// Of each input type among the rows.
Roof measured_roof(const std::shared_ptr<Device>& device, const std::vector<Row>& rows, Progress& progress) {
  Roof roof;
  std::set<DataType> types;
  for (const Row& row : rows) {
    if (interrupted() || !types.insert(row.problem.x).second) continue;
    progress.show(0, fmt::format("the device's roof for {}", name_of(row.problem.x)));
    roof.measure(device, row.problem.x);
  }
  progress.clear();
  return roof;
}

// A kernel that faulted takes the device with it: it is opened again, so that the rows after it are measured too.
Status reopen_where_lost(std::shared_ptr<Device>& device, const std::string& id, const BenchRow& row) {
  if (row.trial.status.code() != Code::kDevice || !is_gpu(device->info().kind)) return {};
  if (device->synchronize(nullptr).ok()) return {};
  fmt::print(stderr, "wavetile: {} took the device with it, which is opened again for the next row\n", row.name);
  device.reset();
  WT_TRY_ASSIGN(device, open_device(id));
  return {};
}

Status bench(const BenchOptions& options, int& code) {
  WT_TRY(check_output("--json", options.json));
  WT_TRY(check_output("--csv", options.csv));
  if (options.json == "-" && options.csv == "-") return bad_input("--json - and --csv - both want standard output");
  WT_TRY_ASSIGN(const std::vector<Row> rows, rows_of(options));
  WT_TRY_ASSIGN(std::shared_ptr<Device> device, open_device(options.device));
  if (!options.compare.empty()) {
    if (device->info().kind != DeviceKind::kCuda)
      return unsupported("--compare cudnn needs an NVIDIA GPU; {} is none", device->info().id);
    WT_TRY(cudnn::load().status());  // before minutes of work, not after them
  }
  std::optional<Previewer> previewer;
  if (device->info().kind == DeviceKind::kCpu && !options.target.empty()) {
    WT_TRY_ASSIGN(previewer, Previewer::open(options.target));
  }

  const bool document_only = options.json == "-" || options.csv == "-";  // standard output is the document's
  const bool quiet = document_only || options.quiet;
  const int columns = output_columns();
  const Table table = bench_table(rows, columns, !options.compare.empty());
  const TrialOptions trial = trial_options(options);
  if (!quiet) fmt::print("{}: {}\n\n{}", device->info().id, device->info().name, table.header());

  std::vector<BenchRow> results;
  const auto start = std::chrono::steady_clock::now();
  Progress progress(static_cast<int>(rows.size()), options.progress);
  const InterruptGuard guard;
  Roof roof;
  if (options.roof) roof = measured_roof(device, rows, progress);
  for (const Row& row : rows) {
    progress.show(static_cast<int>(results.size()), fmt::format("{} {}", row.name, name_of(row.problem.direction)));
    BenchRow result = options.compare.empty() ? BenchRow{row.name, run_trial(device, row.problem, trial)}
                                              : compare_row(device, row, trial);
    result.suite = row.suite, result.model = row.model;
    if (!interrupted()) result.strict = strict_trial(device, result, trial);
    if (previewer && !interrupted()) result.preview = previewer->preview(row.problem, trial);
    progress.clear();
    roof.saw(result.trial);
    if (!quiet) {
      fmt::print("{}{}{}", table.row(bench_cells(result, roof)), kernel_line(result, columns),
                 strict_line(result, columns));
      if (result.preview) fmt::print("{}", preview_line(*result.preview, options.target, columns));
      std::fflush(stdout);
    }
    WT_TRY(reopen_where_lost(device, options.device, result));
    results.push_back(std::move(result));
    if (interrupted()) {
      fmt::print(stderr, "wavetile: interrupted after {} of {} rows{}\n", results.size(), rows.size(),
                 options.json.empty() && options.csv.empty() ? "" : "; no file was written");
      code = kExitInterrupted;
      return {};
    }
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!document_only) fmt::print("{}{}", quiet ? "" : "\n", bench_summary(results, roof, seconds));
  std::fflush(stdout);
  const std::string unsteady = unsteady_warning(results);
  fmt::print(stderr, "{}{}", printable(bench_failures(results)),
             error_columns() > 0 ? wrap(unsteady, error_columns(), "") : unsteady);
  if (!options.json.empty()) {
    WT_TRY(write_output(options.json, json_text(bench_json(results, roof, device->info(), options.target,
                                                           command_text(options, device->info().id)))));
  }
  if (!options.csv.empty()) WT_TRY(write_output(options.csv, bench_csv(results, roof)));
  code = bench_exit_code(results);
  return {};
}

}  // namespace

int run_bench(const BenchOptions& options) {
  int code = kExitGood;
  const Status status = bench(options, code);
  return status.ok() ? code : report_failure(status);
}

}  // namespace wt::cli
