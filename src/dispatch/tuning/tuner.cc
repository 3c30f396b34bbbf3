// SPDX-License-Identifier: Apache-2.0
#include "dispatch/tuning/tuner.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "base/log.h"
#include "base/version.h"
#include "compile/machine_code.h"
#include "config/fields.h"
#include "config/targets.h"
#include "dispatch/choice/candidates.h"
#include "dispatch/choice/packs.h"
#include "dispatch/choice/selection.h"
#include "dispatch/plan/kernel.h"
#include "dispatch/trial/trial.h"
#include "dispatch/tuning/compile_ahead.h"
#include "dispatch/tuning/key.h"
#include "dispatch/tuning/lookup.h"
#include "kernels/kind.h"
#include "launch/binding.h"

namespace wt::tuning {
namespace {

using Clock = std::chrono::steady_clock;

// A few runs decide whether a kernel is worth more of them.
constexpr TimerOptions kFirst{.warmup_runs = 1, .warmup_seconds = 0, .min_runs = 3, .max_runs = 3};
constexpr TimerOptions kFull{.warmup_runs = 2, .warmup_seconds = 0.003, .max_runs = 100, .budget_seconds = 0.06};
constexpr TimerOptions kFinal{.max_runs = 200, .budget_seconds = 0.2};
constexpr TimerOptions kQuickFull{.warmup_runs = 1, .warmup_seconds = 0.001, .max_runs = 15, .budget_seconds = 0.006};
constexpr TimerOptions kQuickFinal{.warmup_runs = 1, .warmup_seconds = 0.002, .max_runs = 60, .budget_seconds = 0.03};
constexpr TimerOptions kGraph{.warmup_seconds = 0, .max_runs = 256, .budget_seconds = 0.05, .cold_l2 = false};
// The GPU's reference is computed once for all candidates, the host's for each.
constexpr int64_t kHostWork = 1 << 24;    // multiply-adds
constexpr int64_t kQuickWhole = 1 << 17;  // elements; of more, corners of tiles, borders and random ones are compared
constexpr double kGiveUp = 1.25;          // times the best: slower than that after a few runs is not timed further
constexpr double kSlowFirstRun = 4;       // times the best, and a millisecond: not timed at all
constexpr double kModelMargin = 1.3;      // the model's most favourable error so far may be off by this much
constexpr double kUnknownKind = 0.25;     // of the most favourable error, for a kind of kernel that was hardly measured
constexpr int kEnoughOfAKind = 3;
constexpr size_t kFinalists = 4;
constexpr double kSmallUs = 20;  // below it, the clock's resolution hides differences that graph replay shows

class Tuner {
 public:
  Tuner(const std::shared_ptr<Device>& device, const ConvProblem& problem, const TuneOptions& options,
        Database* database)
      : device_(device), info_(device->info()), options_(options), database_(database) {
    report_.problem = kernel_problem(problem);
    report_.key = key_of(info_, report_.problem, options.plan);
    trial_.plan = options.plan;
    trial_.seed = options.seed;
    trial_.time = false;
    const bool on_device =
        !report_.problem.history && !report_.problem.has_scales() && report_.problem.epilogue.store.empty();
    if (times() && on_device) trial_.verify_work_limit = kHostWork;
    if (options.quick) trial_.verify_whole_limit = kQuickWhole;
  }

  Result<TuneReport> run(const TuneProgress& progress) {
    if (options_.precompiled) WT_TRY(installed_packs(info_).status());  // what was named must not be passed over
    find_candidates();
    if (candidates_.empty() && report_.not_compiled > 0) {
      return unsupported(
          "none of the {} kernels that accept '{}' is compiled; name a pack of them in WAVETILE_PACK "
          "('wavetile pack build --problems' makes one), or leave --precompiled away",
          report_.not_compiled, to_text(report_.problem));
    }
    if (candidates_.empty()) {
      return unsupported("no kernel for {} accepts '{}' within these limits; 'wavetile explain' says why",
                         info_of(info_.target).name, to_text(report_.problem));
    }
    WT_TRY(recall());
    WT_TRY_ASSIGN(tensors_, TrialTensors::make(device_, report_.problem, false, options_.seed));
    if (times()) {
      WT_TRY_ASSIGN(timer_, Timer::make(device_));
    }
    std::vector<const KernelConfig*> configs;
    for (const RankedConfig& candidate : candidates_) configs.push_back(candidate.config);
    CompileAhead modules(info_, std::move(configs), options_.plan.kernels);
    report_.complete = true;
    for (size_t i = 0; i < candidates_.size() && report_.status.ok(); ++i) {
      if (i > 0 && time_is_up()) {
        report_.complete = false;
        break;
      }
      std::optional<TuneRow> row = without_running(i);
      const bool skipped = row.has_value() || cannot_win(i);
      if (skipped) {
        modules.skip(i);
        if (!row) {
          ++report_.cut;
          continue;
        }
      } else {
        row = try_candidate(i, modules.take(i));
        if (!row->remembered) save(*row);
      }
      note(i, *row);
      if (progress) progress(i + 1, candidates_.size(), report_.rows.back());
    }
    if (times() && report_.status.ok()) choose();
    std::ranges::stable_sort(report_.rows, [](const TuneRow& a, const TuneRow& b) { return before(a, b); });
    return std::move(report_);
  }

 private:
  static bool is_timed(const TuneRow& row) { return row.measurement.outcome == Outcome::kTimed; }
  static bool before(const TuneRow& a, const TuneRow& b) {
    if (is_timed(a) != is_timed(b)) return is_timed(a);
    return is_timed(a) && a.measurement.median_us < b.measurement.median_us;
  }
  bool times() const { return is_gpu(info_.kind); }
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  bool time_is_up() const {
    return (options_.seconds > 0 && elapsed() > options_.seconds) || (options_.stop && options_.stop());
  }

  void find_candidates() {
    const Quarantined quarantined = quarantined_now(info_);
    if (!options_.own_only) candidates_ = rank(report_.problem, rates_of(info_), options_.plan, options_.candidates);
    add_own();
    std::erase_if(candidates_, [&](const RankedConfig& candidate) {
      const std::optional<int64_t>& limit = options_.plan.workspace_limit;
      if (limit && bind(*candidate.config, report_.problem, info_, options_.plan.splits).workspace_bytes > *limit)
        return true;
      return !quarantine_reason(quarantined, info_, *candidate.config).empty();
    });
    report_.candidates = candidates_.size();
    if (!options_.precompiled) return;
    report_.not_compiled = std::erase_if(
        candidates_, [&](const RankedConfig& candidate) { return !is_compiled(info_, *candidate.config); });
  }

  // The caller's kernels, which live as long as the options.
  void add_own() {
    if (!options_.plan.kernels) return;
    const View view(report_.problem, rates_of(info_));
    const Requests requests{.deterministic = options_.plan.deterministic,
                            .strict_nonfinite = options_.plan.strict_nonfinite};
    for (const RegisteredKernel* kernel : options_.plan.kernels->matching(report_.problem)) {
      const auto is_same = [&](const RankedConfig& known) { return *known.config == kernel->config; };
      if (std::ranges::any_of(candidates_, is_same) || !declines(kernel->config, view, requests).empty()) continue;
      candidates_.push_back({&kernel->config, predicted_us(kernel->config, view, options_.plan.splits)});
    }
    std::ranges::stable_sort(candidates_, {}, &RankedConfig::predicted_us);
  }

  Status recall() {
    if (!database_ || options_.again || !times()) return {};
    WT_TRY_ASSIGN(const std::vector<Measurement> rows, database_->measurements(report_.key));
    for (const Measurement& row : rows) known_.emplace(row.kernel, row);
    return {};
  }

  bool is_as_measured(const KernelConfig& config, const Measurement& measurement) const {
    const CodeCheck check = options_.precompiled ? CodeCheck::kKnown : CodeCheck::kCompile;
    const Result<Comparison> comparison = compare_code(info_, config, measurement.code, check);
    return comparison.ok() && *comparison == Comparison::kSame;
  }

  // What an earlier run found out about this very machine code.
  std::optional<TuneRow> without_running(size_t index) const {
    const KernelConfig& config = *candidates_[index].config;
    const auto found = known_.empty() ? known_.end() : known_.find(name_of(config));
    if (found == known_.end()) return std::nullopt;
    if (!is_as_measured(config, found->second)) return std::nullopt;
    return TuneRow{found->second, candidates_[index].predicted_us, true};
  }

  // Even with the most favourable error that the model has shown for this kind of kernel. The first is always tried.
  bool cannot_win(size_t index) const {
    if (options_.exhaustive || best_us_ == 0 || !times()) return false;
    const auto found = ratios_.find(kind_of(*candidates_[index].config));
    const bool known = found != ratios_.end() && found->second.count >= kEnoughOfAKind;
    const double ratio = known ? found->second.least : least_ratio_ * kUnknownKind;
    return candidates_[index].predicted_us * ratio > kModelMargin * best_us_;
  }

  TuneRow try_candidate(size_t index, const Result<compile::Module>& module) {
    const KernelConfig& config = *candidates_[index].config;
    TuneRow row;
    row.predicted_us = candidates_[index].predicted_us;
    row.measurement.kernel = name_of(config);
    row.measurement.config = to_json(config);
    if (module.ok()) {
      row.measurement.code = {module->key, compile::machine_code_of(module->image), module->compiler};
    }
    const Status status = module.ok() ? measure(config, *module, row.measurement) : module.status();
    if (status.ok()) return row;
    row.measurement.outcome = status.code() == Code::kVerificationFailed ? Outcome::kWrong : Outcome::kFailed;
    row.measurement.detail = status.message();
    if (status.code() != Code::kDevice) return row;
    // A kernel that faulted may have taken the device with it; then nothing more can be tried here.
    if (const Status lost = device_->synchronize(nullptr); !lost.ok()) report_.status = lost;
    return row;
  }

  Status measure(const KernelConfig& config, const compile::Module& module, Measurement& m) {
    WT_TRY_ASSIGN(const std::shared_ptr<const Plan> plan,
                  make_kernel_plan(device_, report_.problem, config, module, "tried by tuning", options_.plan.splits));
    m.workspace_bytes = plan->workspace_bytes();
    trial_.plan.kernel = m.kernel;  // in the command that repeats it
    const TrialResult result = run_trial(*tensors_, *plan, trial_);
    WT_TRY(result.status);
    if (!times()) return {};
    m.outcome = Outcome::kSlower;
    const double first_us = result.first_seconds * 1e6;
    if (best_us_ > 0 && first_us > kSlowFirstRun * best_us_ + 1000) {
      m.median_us = m.low_us = m.high_us = first_us;
      m.runs = 1;
      return {};
    }
    WT_TRY_ASSIGN(Timing timing, time(*plan, kFirst));
    if (best_us_ == 0 || timing.minimum_us <= kGiveUp * best_us_) {
      m.outcome = Outcome::kTimed;
      WT_TRY_ASSIGN(timing, time(*plan, options_.quick ? kQuickFull : kFull));
    }
    set_timing(m, timing);
    return {};
  }

  Result<Timing> time(const Plan& plan, const TimerOptions& options) {
    return timer_->time([&](int, Stream stream) { return plan.execute(tensors_->pointers(), stream); }, options);
  }

  static void set_timing(Measurement& m, const Timing& timing) {
    m.median_us = timing.median_us;
    m.low_us = std::max(0.0, timing.low_us);
    m.high_us = timing.high_us;
    m.runs = timing.runs;
  }

  void note(size_t index, const TuneRow& row) {
    const Measurement& m = row.measurement;
    report_.rows.push_back(row);
    indices_.emplace(m.kernel, index);
    switch (m.outcome) {
      case Outcome::kTimed:
      case Outcome::kSlower:
        if (m.median_us > 0) {
          const double ratio = m.median_us / row.predicted_us;
          Ratio& kind = ratios_[kind_of(*candidates_[index].config)];
          kind.least = kind.count++ == 0 ? ratio : std::min(kind.least, ratio);
          least_ratio_ = least_ratio_ == 0 ? ratio : std::min(least_ratio_, ratio);
        }
        if (is_timed(row) && (best_us_ == 0 || m.median_us < best_us_)) best_us_ = m.median_us;
        break;
      case Outcome::kWrong:
        ++report_.wrong;
        if (!row.remembered) shout(m);
        break;
      case Outcome::kFailed:
        ++report_.failed;
        if (!row.remembered) log::warn("{} could not be tried: {}", m.kernel, m.detail);
        break;
    }
  }

  void shout(const Measurement& m) {
    log::error("WRONG RESULT by {}: {}; repeat with: {}", m.kernel, m.detail,
               replay_command(report_.problem, info_.id, trial_));
    if (!database_ || !times()) return;
    keep(database_->quarantine({report_.key.target, m.kernel, m.code, report_.key.problem, m.detail, 0}));
  }

  void save(const TuneRow& row) {
    // A kernel without a module has no content key: it is tried again the next time.
    if (!database_ || !times() || row.measurement.code.content_key.empty()) return;
    keep(database_->save(report_.key, row.measurement));
  }

  void keep(const Status& status) {
    if (!status.ok() && report_.status.ok()) report_.status = status;
  }

  // The fastest few once more, one after the other: what lies within the spread of single timings is decided here.
  void choose() {
    std::ranges::stable_sort(report_.rows, [](const TuneRow& a, const TuneRow& b) { return before(a, b); });
    size_t finalists = 0;
    for (TuneRow& row : report_.rows) {
      if (!is_timed(row) || finalists == kFinalists ||
          row.measurement.low_us > 1.02 * report_.rows[0].measurement.high_us)
        break;
      ++finalists;
    }
    if (finalists == 0) return;
    const bool fresh = std::ranges::any_of(report_.rows, [](const TuneRow& row) { return !row.remembered; });
    if (finalists > 1 && fresh && !time_is_up()) {
      for (size_t i = 0; i < finalists; ++i) {
        if (const Status status = time_again(report_.rows[i]); !status.ok()) return keep(status);
      }
    }
    const auto best = std::min_element(report_.rows.begin(), report_.rows.begin() + static_cast<ptrdiff_t>(finalists),
                                       [](const TuneRow& a, const TuneRow& b) { return final_before(a, b); });
    Entry entry{report_.key,
                best->measurement,
                static_cast<int>(report_.candidates),
                static_cast<int>(report_.rows.size()),
                report_.complete && report_.not_compiled == 0,
                std::string(kVersion)};
    entry.best.saved_at = 0;
    report_.entry = faster_known(entry);
    if (report_.entry) return;
    if (database_) keep(database_->save(entry));
    report_.entry = std::move(entry);
  }

  // The entry of before, where its kernel is as it was, was not tried this time, and is faster than the best that was:
  // there was too little time, or it is not compiled.
  std::optional<Entry> faster_known(const Entry& entry) {
    if (!database_ || options_.again) return std::nullopt;
    Result<std::optional<Entry>> found = database_->find(report_.key);
    if (!found.ok() || !*found) return std::nullopt;
    const Measurement& known = (*found)->best;
    if (indices_.contains(known.kernel) || known.median_us >= entry.best.median_us) return std::nullopt;
    const Result<KernelConfig> config = config_from_json(known.config);
    if (!config.ok() || name_of(*config) != known.kernel) return std::nullopt;
    if (!quarantine_reason(quarantined_now(info_), info_, *config).empty()) return std::nullopt;
    if (!is_as_measured(*config, known)) return std::nullopt;
    return std::move(*found);
  }

  // Small kernels whose spreads overlap are told apart by graph replay.
  static bool final_before(const TuneRow& a, const TuneRow& b) {
    const Measurement &x = a.measurement, &y = b.measurement;
    const bool overlap = x.low_us <= y.high_us && y.low_us <= x.high_us;
    if (overlap && x.graph_us > 0 && y.graph_us > 0) return x.graph_us < y.graph_us;
    return x.median_us < y.median_us;
  }

  Status time_again(TuneRow& row) {
    const KernelConfig& config = *candidates_[indices_.at(row.measurement.kernel)].config;
    WT_TRY_ASSIGN(const std::shared_ptr<const Plan> plan,
                  make_kernel_plan(device_, report_.problem, config, "timed again by tuning", {}, options_.plan.splits,
                                   nullptr, options_.plan.kernels.get()));
    WT_TRY(tensors_->reserve_workspace(plan->workspace_bytes()));
    WT_TRY_ASSIGN(const Timing timing, time(*plan, options_.quick ? kQuickFinal : kFinal));
    set_timing(row.measurement, timing);
    if (timing.median_us < kSmallUs) {
      WT_TRY_ASSIGN(const Timing graph, time(*plan, kGraph));
      row.measurement.graph_us = graph.median_us;
    }
    row.measurement.saved_at = 0;
    save(row);
    return {};
  }

  struct Ratio {
    int count = 0;
    double least = 0;  // of measured to predicted time
  };

  std::shared_ptr<Device> device_;
  const DeviceInfo& info_;
  const TuneOptions& options_;
  Database* database_;
  TuneReport report_;
  TrialOptions trial_;
  std::vector<RankedConfig> candidates_;
  std::map<std::string, Measurement> known_;  // by kernel
  std::map<std::string, size_t> indices_;     // of candidates, by kernel
  std::unique_ptr<TrialTensors> tensors_;
  std::unique_ptr<Timer> timer_;
  double best_us_ = 0;      // 0: none yet
  double least_ratio_ = 0;  // over all kinds
  std::map<const KernelKind*, Ratio> ratios_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace

Result<TuneReport> tune(const std::shared_ptr<Device>& device, const ConvProblem& problem, const TuneOptions& options,
                        Database* database, const TuneProgress& progress) {
  if (device->info().kind == DeviceKind::kCpu) {
    return unsupported("device {} has no generated kernels to tune; use a GPU, or sim:sm_90a to verify kernels",
                       device->info().id);
  }
  WT_TRY(validate(problem));
  return Tuner(device, problem, options, database).run(progress);
}

}  // namespace wt::tuning
