// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/tune.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/json_value.h"
#include "cli/exit_code.h"
#include "cli/input/own_kernels.h"
#include "cli/input/selection.h"
#include "cli/interrupt.h"
#include "cli/show/numbers.h"
#include "cli/show/progress.h"
#include "cli/show/table.h"
#include "cli/show/terminal.h"
#include "cli/show/trial_json.h"
#include "dispatch/tuning/lookup.h"
#include "dispatch/tuning/tuner.h"

namespace wt::cli {
namespace {

using Clock = std::chrono::steady_clock;
using tuning::Database;
using tuning::TuneReport;
using tuning::TuneRow;

constexpr int kMostDevices = 3;  // opened for one problem, after kernels that took the one before

struct Tally {
  int tuned = 0, known = 0, unfinished = 0, not_begun = 0;
  int wrong = 0, failed = 0;  // kernels
  size_t not_compiled = 0;
  double log_gain = 0;  // of the best over the model's pick
  int gains = 0;
};

class TuneRun {
 public:
  explicit TuneRun(const TuneCommandOptions& options) : options_(options) {}

  Status run(int& code) {
    WT_TRY_ASSIGN(rows_, select_rows(options_.what, options_.filter, options_.direction, options_.code));
    WT_TRY_ASSIGN(device_, open_device(options_.device));
    WT_TRY_ASSIGN(own_, options_.own.empty() ? read_registry(device_->info(), options_.registered)
                                             : read_kernels(device_->info(), options_.own));
    if (is_gpu(device_->info().kind)) {
      WT_TRY_ASSIGN(const std::filesystem::path path, Database::default_path());
      WT_TRY_ASSIGN(database_, Database::open(path, tuning::Access::kCreate));
      WT_TRY(database_->check());
    }
    if (!quiet()) print_head();
    Progress progress(static_cast<int>(rows_.size()), options_.progress);
    const InterruptGuard guard;
    for (size_t i = 0; i < rows_.size() && !interrupted(); ++i) {
      // WHY not a last short share for each that is left: one kernel of every problem would be compiled and measured
      // all the same, and with hundreds of problems that is longer than the budget.
      if (options_.budget > 0 && i > 0 && elapsed() >= options_.budget) {
        tally_.not_begun = static_cast<int>(rows_.size() - i);
        break;
      }
      const Status status = tune_row(i, progress);
      progress.clear();
      if (!status.ok()) code = graver(code, report_failure(status.with_context(rows_[i].name)));
    }
    if (!quiet()) print_end();
    code = graver(code, report_kernels(tally_.wrong, tally_.failed));
    if (interrupted()) code = kExitInterrupted;
    return write_json();
  }

 private:
  bool quiet() const { return options_.json == "-"; }
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  // An equal share of what is left for each problem that is left.
  double share(size_t index) const {
    if (options_.budget <= 0) return 0;
    const double left = std::max(options_.budget - elapsed(), 1e-3);
    return left / static_cast<double>(rows_.size() - index);
  }

  tuning::TuneOptions tune_options(size_t index) const {
    tuning::TuneOptions tune;
    tune.plan.workspace_limit = options_.workspace_limit;
    tune.plan.strict_nonfinite = options_.strict_nonfinite;
    tune.plan.kernels = own_;
    tune.own_only = !options_.own.empty();
    tune.seconds = share(index);
    tune.candidates = options_.few ? Breadth::kFew : Breadth::kAll;
    tune.again = options_.again;
    tune.exhaustive = options_.exhaustive;
    tune.precompiled = options_.precompiled;
    tune.quick = options_.quick;
    tune.seed = options_.seed;
    tune.stop = interrupted;
    return tune;
  }

  Status tune_row(size_t index, Progress& progress) {
    const Row& row = rows_[index];
    const tuning::TuneOptions tune = tune_options(index);
    if (!options_.again) {
      const tuning::Tuned known =
          tuning::find_tuned(device_->info(), row.problem, tune.plan, tuning::CodeCheck::kCompile);
      if (known.config && known.mark.empty() && known.entry->complete) return already_tuned(row, *known.entry);
    }
    const auto show = [&](size_t done, size_t total, const TuneRow& tried) {
      if (best_us_ == 0 ||
          (tried.measurement.outcome == tuning::Outcome::kTimed && tried.measurement.median_us < best_us_))
        best_us_ = tried.measurement.median_us;
      std::string what = fmt::format("{} {}  {} of {} kernels", row.name, name_of(row.problem.direction), done, total);
      if (best_us_ > 0) what += ", best " + time_text(best_us_);
      if (options_.budget > 0)
        what += fmt::format(", at most {:.0f} s left", std::max(0.0, options_.budget - elapsed()));
      progress.show(static_cast<int>(index), what);
    };
    for (int attempt = 1;; ++attempt) {
      best_us_ = 0;
      WT_TRY_ASSIGN(const TuneReport report, tuning::tune(device_, row.problem, tune, database_.get(), show));
      progress.clear();
      if (report.status.ok() || report.status.code() != Code::kDevice || attempt == kMostDevices) {
        note(row, report);
        return report.status;
      }
      // A kernel that faulted took the device with it. It is known as failed now, and the next attempt passes it over.
      fmt::print(stderr, "wavetile: {}: {}\n  the device is opened again, and tuning goes on without that kernel\n",
                 row.name, report.status.message());
      device_.reset();
      WT_TRY_ASSIGN(device_, open_device(options_.device));
    }
  }

  Status already_tuned(const Row& row, const tuning::Entry& entry) {
    ++tally_.known;
    if (!quiet()) print_row(row, time_text(entry.best.median_us), "-", "known", entry.best.kernel);
    json_rows_.push_back({{"name", row.name},
                          {"problem", to_text(row.problem)},
                          {"known", true},
                          {"kernel", entry.best.kernel},
                          {"median_us", entry.best.median_us}});
    return {};
  }

  void note(const Row& row, const TuneReport& report) {
    tally_.wrong += report.wrong;
    tally_.failed += report.failed;
    tally_.unfinished += !report.complete;
    tally_.not_compiled += report.not_compiled;
    const bool simulated = device_ && device_->info().kind == DeviceKind::kSim;
    tally_.tuned += report.entry.has_value();
    double gain = 0;
    for (const TuneRow& tried : report.rows) {
      // The model's pick has the least predicted time of those that were right.
      if (!report.entry || tried.measurement.median_us == 0) continue;
      if (tried.predicted_us <= least_prediction(report))
        gain = tried.measurement.median_us / report.entry->best.median_us;
    }
    if (gain > 0) {
      tally_.log_gain += std::log(gain);
      ++tally_.gains;
    }
    if (!quiet()) {
      const std::string tried =
          fmt::format("{}/{}{}", report.rows.size(), report.candidates, report.complete ? "" : "+");
      const bool good = report.wrong + report.failed == 0;
      const std::string time = simulated && good ? "verified"
                               : report.entry    ? time_text(report.entry->best.median_us)
                                                 : "none";
      const std::string kernel = report.entry          ? report.entry->best.kernel
                                 : !good               ? fmt::format("{} WRONG, {} FAILED", report.wrong, report.failed)
                                 : report.rows.empty() ? ""
                                                       : "no time is taken in a simulator";
      print_row(row, time, gain > 0 ? fmt::format("{:.2f}", gain) : "-", tried, kernel);
    }
    json_rows_.push_back(row_json(row, report, gain));
  }

  static double least_prediction(const TuneReport& report) {
    double least = 1e300;
    for (const TuneRow& tried : report.rows)
      if (tried.measurement.median_us > 0) least = std::min(least, tried.predicted_us);
    return least;
  }

  static OrderedJson row_json(const Row& row, const TuneReport& report, double gain) {
    OrderedJson json = {{"name", row.name},
                        {"problem", to_text(row.problem)},
                        {"key", report.key.problem},
                        {"candidates", report.candidates},
                        {"tried", report.rows.size()},
                        {"cut", report.cut},
                        {"not_compiled", report.not_compiled},
                        {"wrong", report.wrong},
                        {"failed", report.failed},
                        {"complete", report.complete}};
    if (gain > 0) json["gain_over_model"] = gain;
    if (report.entry) json["kernel"] = report.entry->best.kernel;
    for (const TuneRow& tried : report.rows) {
      const tuning::Measurement& m = tried.measurement;
      OrderedJson kernel = {
          {"kernel", m.kernel}, {"outcome", name_of(m.outcome)}, {"predicted_us", tried.predicted_us}};
      if (m.median_us > 0) {
        kernel["median_us"] = m.median_us;
        kernel["low_us"] = m.low_us;
        kernel["high_us"] = m.high_us;
        kernel["runs"] = m.runs;
      }
      if (m.graph_us > 0) kernel["graph_us"] = m.graph_us;
      if (!m.detail.empty()) kernel["detail"] = m.detail;
      json["kernels"].push_back(std::move(kernel));
    }
    return json;
  }

  void print_head() {
    const DeviceInfo& info = device_->info();
    fmt::print("{}: {}\n", info.id, info.name);
    if (info.kind == DeviceKind::kSim) {
      fmt::print("{}",
                 wrap("A simulator verifies kernels. Its times say nothing about a GPU, so nothing is timed or saved.",
                      output_columns(), ""));
    } else if (database_) {
      fmt::print("{}\n", database_->path().string());
    }
    size_t name = 0, problem = 0;
    for (const Row& row : rows_) {
      name = std::max(name, row.name.size());
      problem = std::max(problem, to_text(row.problem).size());
    }
    table_.emplace(std::vector<Column>{{"name", static_cast<int>(name), false, true},
                                       {"problem", static_cast<int>(problem), false, true},
                                       {"best", 8, true},
                                       {"gain", 5, true},
                                       {"tried", 9, true},
                                       {"kernel", 40, false, true, is_narrow(output_columns())}},
                   output_columns());
    fmt::print("\n{}", table_->header());
  }

  void print_row(const Row& row, const std::string& best, const std::string& gain, const std::string& tried,
                 const std::string& kernel) {
    fmt::print("{}", table_->row({row.name, to_text(row.problem), best, gain, tried, kernel}));
    std::fflush(stdout);
  }

  void print_end() const {
    fmt::print("\n{} tuned, {} known before, {} not finished in time, {:.0f} s", tally_.tuned, tally_.known,
               tally_.unfinished, elapsed());
    if (tally_.gains > 0) {
      fmt::print("; the best kernel is {:.3f} times as fast as the model's pick (geometric mean of {})",
                 std::exp(tally_.log_gain / tally_.gains), tally_.gains);
    }
    fmt::print("\n");
    if (tally_.wrong > 0) {
      fmt::print("{} kernels gave WRONG RESULTS{}\n", tally_.wrong,
                 database_ ? " and are in quarantine; see 'wavetile tuning list'" : "");
    }
    if (tally_.failed > 0) fmt::print("{} kernels FAILED to compile or run; --json says why\n", tally_.failed);
    if (tally_.not_compiled > 0) {
      fmt::print(
          "{} candidates were left out because they are not compiled; without --precompiled they are tried too\n",
          tally_.not_compiled);
    }
    if (tally_.not_begun > 0) {
      fmt::print("{} of {} problems were not begun: the {:.0f} s were used up\n", tally_.not_begun, rows_.size(),
                 options_.budget);
    }
    if (tally_.unfinished + tally_.not_begun > 0) fmt::print("The same command goes on where this one stopped.\n");
  }

  Status write_json() const {
    if (options_.json.empty()) return {};
    OrderedJson json = document("wavetile tune");
    if (device_) json["device"] = device_json(device_->info());
    json["rows"] = json_rows_;
    if (quiet()) {
      fmt::print("{}", json_text(json));
      return {};
    }
    return write_file(options_.json, json_text(json), FileKind::kDurable);
  }

  std::shared_ptr<const Registry> own_;  // the user's kernels; null: none
  const TuneCommandOptions& options_;
  std::vector<Row> rows_;
  std::shared_ptr<Device> device_;
  std::unique_ptr<Database> database_;
  std::optional<Table> table_;
  OrderedJson json_rows_ = OrderedJson::array();
  Tally tally_;
  double best_us_ = 0;
  Clock::time_point start_ = Clock::now();
};

}  // namespace

int run_tune(const TuneCommandOptions& options) {
  int code = kExitGood;
  const Status status = TuneRun(options).run(code);
  return status.ok() ? code : graver(code, report_failure(status));
}

}  // namespace wt::cli
