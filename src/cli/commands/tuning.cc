// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/tuning.h"

#include <ctime>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/parallel.h"
#include "base/printable.h"
#include "cli/exit_code.h"
#include "cli/show/numbers.h"
#include "cli/show/table.h"
#include "cli/show/terminal.h"
#include "cli/show/trial_json.h"
#include "config/fields.h"
#include "config/targets.h"
#include "dispatch/tuning/exchange.h"
#include "dispatch/tuning/key.h"
#include "dispatch/tuning/same_code.h"

namespace wt::cli {
namespace {

using tuning::Access;
using tuning::Content;
using tuning::Database;
using tuning::Entry;
using DatabaseResult = Result<std::unique_ptr<Database>>;

DatabaseResult open_database(Access access) {
  WT_TRY_ASSIGN(const std::filesystem::path path, Database::default_path());
  std::error_code error;
  if (access != Access::kCreate && !std::filesystem::exists(path, error)) {
    return bad_input("there is no tuning database {} yet; 'wavetile tune' makes it", path.string());
  }
  WT_TRY_ASSIGN(auto database, Database::open(path, access));
  if (!database->has_tables()) return bad_input("the tuning database {} holds nothing yet", path.string());
  return database;
}

std::string day(int64_t milliseconds) {
  const std::time_t time = milliseconds / 1000;
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d", &parts);
  return text;
}

using tuning::CodeCheck;
using tuning::Comparison;

// How the kernel of an entry, as it is now, stands to what was measured. Without its compiler that cannot be told.
Result<Comparison> compare(const Entry& entry) {
  const Result<KernelConfig> config = config_from_json(entry.best.config);
  if (!config.ok() || name_of(*config) != entry.best.kernel) return Comparison::kChanged;
  DeviceInfo device;
  device.kind = info_of(config->target).vendor == Vendor::kNvidia ? DeviceKind::kCuda : DeviceKind::kHip;
  device.target = config->target;
  return tuning::compare_code(device, *config, entry.best.code, CodeCheck::kCompile);
}

// On all cores: each may have to be compiled.
std::vector<Result<Comparison>> compare_all(const std::vector<Entry>& entries) {
  std::vector<Result<Comparison>> results(entries.size(), Comparison::kUnknown);
  parallel_for(static_cast<int64_t>(entries.size()), [&](int64_t i) {
    const auto at = static_cast<size_t>(i);
    results[at] = compare(entries[at]);
  });
  return results;
}

Status list(const TuningListOptions& options) {
  WT_TRY_ASSIGN(const auto database, open_database(Access::kRead));
  WT_TRY_ASSIGN(const Content content, tuning::read_content(*database, false));
  if (options.json == "-") {
    fmt::print("{}", tuning::to_json(content));
    return {};
  }
  if (!options.json.empty()) WT_TRY(write_file(options.json, tuning::to_json(content), FileKind::kDurable));
  size_t widest = 0;
  for (const Entry& entry : content.entries) widest = std::max(widest, short_text(entry.key).size());
  const Table table({{"problem", static_cast<int>(widest), false, true},
                     {"gpu", 16, false, true},
                     {"time", 9, true},
                     {"spread", 6, true},
                     {"tried", 9, true},
                     {"saved", 10},
                     {"kernel", 48, false, true, is_narrow(output_columns())}},
                    output_columns());
  fmt::print("{}", table.header());
  for (const Entry& entry : content.entries) {
    const tuning::Measurement& best = entry.best;
    fmt::print("{}", table.row({short_text(entry.key), fmt::format("{} {}", entry.key.gpu, entry.key.multiprocessors),
                                time_text(best.median_us),
                                fmt::format("{:.1f}%", 50 * (best.high_us - best.low_us) / best.median_us),
                                fmt::format("{}/{}{}", entry.tried, entry.candidates, entry.complete ? "" : "+"),
                                day(best.saved_at), best.kernel}));
  }
  fmt::print("{} entries, {}\n", content.entries.size(), database->path().string());
  for (const tuning::Quarantine& row : content.quarantined) {
    fmt::print("IN QUARANTINE {} ({}): wrong on '{}', {}: {}\n", printable(row.kernel), printable(row.target),
               printable(tuning::short_text({"", 0, row.target, row.problem})), day(row.saved_at),
               printable(row.detail));
  }
  return {};
}

Status export_to(const TuningExportOptions& options) {
  WT_TRY_ASSIGN(const auto database, open_database(Access::kRead));
  WT_TRY_ASSIGN(const Content content, tuning::read_content(*database, options.measurements));
  if (options.file == "-") {
    fmt::print("{}", tuning::to_json(content));
    return {};
  }
  WT_TRY(write_file(options.file, tuning::to_json(content), FileKind::kDurable));
  fmt::print("{} entries and {} kernels in quarantine written to {}\n", content.entries.size(),
             content.quarantined.size(), options.file);
  return {};
}

Status take_over(const Content& content, const std::string& from) {
  WT_TRY_ASSIGN(const auto database, open_database(Access::kCreate));
  WT_TRY_ASSIGN(const int taken, database->merge(content.entries, content.measurements, content.quarantined));
  fmt::print("{} of {} rows of {} were new or newer and are in {}\n", taken,
             content.entries.size() + content.measurements.size() + content.quarantined.size(), from,
             database->path().string());
  return {};
}

Status import_from(const std::string& file) {
  WT_TRY_ASSIGN(const std::string text, read_file(file));
  const Result<Content> content = tuning::content_from_json(text);
  if (!content.ok()) return content.status().with_context(file);
  return take_over(*content, file);
}

Status merge_from(const std::string& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return bad_input("there is no file {}", file);
  WT_TRY_ASSIGN(const auto other, Database::open(file, Access::kRead));
  if (!other->has_tables()) return bad_input("{} holds nothing yet", file);
  WT_TRY(other->check());
  WT_TRY_ASSIGN(const Content content, tuning::read_content(*other, true));
  return take_over(content, file);
}

Status prune(const TuningPruneOptions& options) {
  if (!options.all && !options.stale && options.older_days < 0 && options.gpu.empty()) {
    return bad_input("say what to drop: --stale, --older-than DAYS, --gpu NAME or --all");
  }
  WT_TRY_ASSIGN(const auto database, open_database(Access::kWrite));
  WT_TRY_ASSIGN(const std::vector<Entry> entries, database->list());
  const double now_ms = 1000.0 * static_cast<double>(std::time(nullptr));
  std::vector<std::pair<tuning::Key, int64_t>> keys;
  int unknown = 0;
  const std::vector<Result<Comparison>> comparisons =
      options.stale ? compare_all(entries) : std::vector<Result<Comparison>>();
  for (size_t i = 0; i < entries.size(); ++i) {
    const Entry& entry = entries[i];
    bool drop = options.all || (!options.gpu.empty() && entry.key.gpu == options.gpu);
    const double age_days = (now_ms - static_cast<double>(entry.best.saved_at)) / 86400e3;
    drop = drop || (options.older_days >= 0 && age_days > options.older_days);
    if (!drop && options.stale) {
      unknown += !comparisons[i].ok();
      drop = comparisons[i].ok() && *comparisons[i] == Comparison::kChanged;
    }
    if (drop) keys.emplace_back(entry.key, entry.best.saved_at);
  }
  WT_TRY_ASSIGN(const int erased, database->erase(keys));
  fmt::print("dropped {} of {} entries from {}\n", erased, entries.size(), database->path().string());
  if (unknown > 0) fmt::print("{} entries were kept: the compiler of their target is not here to ask\n", unknown);
  return {};
}

Status release(const std::string& kernel) {
  WT_TRY_ASSIGN(const auto database, open_database(Access::kWrite));
  WT_TRY_ASSIGN(const int released, database->release(kernel));
  if (released == 0) return bad_input("{} is not in quarantine; 'wavetile tuning list' shows what is", kernel);
  fmt::print("{} may run again\n", kernel);
  return {};
}

Status check() {
  WT_TRY_ASSIGN(const auto database, open_database(Access::kRead));
  WT_TRY_ASSIGN(const std::vector<Entry> entries, database->list());
  const std::vector<Result<Comparison>> comparisons = compare_all(entries);
  int same = 0, other_compiler = 0, changed = 0, unknown = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!comparisons[i].ok()) {
      ++unknown;
    } else if (*comparisons[i] == Comparison::kSame) {
      ++same;
    } else if (*comparisons[i] == Comparison::kOtherCompiler) {
      ++other_compiler;
    } else {
      ++changed;
      fmt::print("changed: {} for '{}' on {}\n", printable(entries[i].best.kernel),
                 printable(short_text(entries[i].key)), printable(entries[i].key.gpu));
    }
  }
  fmt::print("{} entries of {}: {} have the machine code that was measured, {} changed", entries.size(),
             database->path().string(), same, changed);
  if (other_compiler > 0) fmt::print(", {} were measured with another compiler and still rank first", other_compiler);
  if (unknown > 0) fmt::print(", {} cannot be compiled here", unknown);
  fmt::print("\n");
  if (changed > 0) fmt::print("'wavetile tune' measures what changed; 'wavetile tuning prune --stale' drops it\n");
  return {};
}

Status verify() {
  WT_TRY_ASSIGN(const auto database, open_database(Access::kRead));
  WT_TRY(database->check());
  WT_TRY_ASSIGN(const std::vector<Entry> entries, database->list());
  fmt::print("{} is sound: {} entries\n", database->path().string(), entries.size());
  return {};
}

int finish(const Status& status) { return status.ok() ? kExitGood : report_failure(status); }

}  // namespace

int run_tuning_list(const TuningListOptions& options) { return finish(list(options)); }
int run_tuning_export(const TuningExportOptions& options) { return finish(export_to(options)); }
int run_tuning_import(const std::string& file) { return finish(import_from(file)); }
int run_tuning_merge(const std::string& file) { return finish(merge_from(file)); }
int run_tuning_prune(const TuningPruneOptions& options) { return finish(prune(options)); }
int run_tuning_release(const std::string& kernel) { return finish(release(kernel)); }
int run_tuning_check() { return finish(check()); }
int run_tuning_verify() { return finish(verify()); }

}  // namespace wt::cli
