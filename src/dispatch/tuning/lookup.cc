// SPDX-License-Identifier: Apache-2.0
#include "dispatch/tuning/lookup.h"

#include <unistd.h>

#include <map>
#include <mutex>

#include "base/log.h"
#include "config/fields.h"
#include "config/signature.h"
#include "config/targets.h"
#include "dispatch/choice/proven.h"
#include "dispatch/tuning/key.h"
#include "kernels/constraints.h"

namespace wt::tuning {
namespace {

namespace fs = std::filesystem;

// The database behind one path, as this process sees it.
class Source {
 public:
  Source(fs::path path, Access access) : path_(std::move(path)), access_(access) {}

  // Null where the file does not exist. A file that is refused is tried again when its time stamp changes.
  Result<Database*> open() {
    if (database_) return database_.get();
    std::error_code error;
    const fs::file_time_type stamp = fs::last_write_time(path_, error);
    if (error) return nullptr;
    if (!refused_.ok() && stamp == refused_stamp_) return refused_;
    Result<std::unique_ptr<Database>> database = Database::open(path_, access_);
    if (!database.ok()) {
      refused_ = database.status();
      refused_stamp_ = stamp;
      return refused_;
    }
    if (!(*database)->has_tables()) return nullptr;
    database_ = std::move(*database);
    return database_.get();
  }

  Result<Quarantined> quarantined() {
    WT_TRY_ASSIGN(Database * database, open());
    if (!database) return Quarantined();
    WT_TRY_ASSIGN(const int64_t version, database->version());
    if (version != version_) {
      WT_TRY_ASSIGN(const std::vector<Quarantine> all, database->quarantined());
      auto rows = std::make_shared<std::multimap<std::string, Quarantine>>();
      for (const Quarantine& row : all) rows->emplace(row.kernel, row);
      quarantined_ = rows->empty() ? nullptr : std::move(rows);
      version_ = version;
    }
    return quarantined_;
  }

  void warn_once(const Status& status) {
    if (!std::exchange(warned_, true)) log::warn("plans are made without tuning: {}", status.message());
  }

  std::mutex mutex;

 private:
  fs::path path_;
  Access access_;
  std::unique_ptr<Database> database_;
  Status refused_;
  fs::file_time_type refused_stamp_;
  Quarantined quarantined_;
  int64_t version_ = -1;
  bool warned_ = false;
};

// WHY by process: SQLite's handles do not survive a fork.
Source* source_at(const fs::path& path, Access access) {
  static std::mutex mutex;
  static auto& sources = *new std::map<std::pair<pid_t, std::string>, std::unique_ptr<Source>>;
  const std::lock_guard lock(mutex);
  std::unique_ptr<Source>& source = sources[{::getpid(), path.string()}];
  if (!source) source = std::make_unique<Source>(path, access);
  return source.get();
}

// The source of the path that the environment names now.
Result<Source*> current_source() {
  WT_TRY_ASSIGN(const fs::path path, Database::default_path());
  return source_at(path, Access::kRead);
}

// That of the installation, below the user's own: what was tuned where the package was made. Null: there is none.
Source* system_source() {
  const fs::path path = Database::system_path();
  return path.empty() ? nullptr : source_at(path, Access::kImmutable);
}

Result<std::optional<Entry>> find_entry(Database* database, const DeviceInfo& device, const ConvProblem& problem,
                                        PlanOptions options) {
  WT_TRY_ASSIGN(std::optional<Entry> entry, database->find(key_of(device, problem, options)));
  // The best of all kernels is the best of those that a plan is limited to, where it is one of them.
  const std::optional<int64_t> limit = options.workspace_limit;
  if (!entry && limit) {
    options.workspace_limit.reset();
    WT_TRY_ASSIGN(entry, database->find(key_of(device, problem, options)));
  }
  if (!entry && options.strict_nonfinite) {
    options.strict_nonfinite = false;
    WT_TRY_ASSIGN(entry, database->find(key_of(device, problem, options)));
    const auto finite_only = [](const Entry& found) {
      const Result<KernelConfig> config = config_from_json(found.best.config);
      return !config.ok() || config->finite_only;
    };
    if (entry && finite_only(*entry)) entry.reset();
  }
  if (entry && limit && entry->best.workspace_bytes > *limit) entry.reset();
  return entry;
}

struct Found {
  std::optional<Entry> entry;
  ConvProblem measured;  // the problem, or its plain layer
};

Result<Found> find_nearest(Source& source, const DeviceInfo& device, const ConvProblem& problem,
                           const PlanOptions& options) {
  const std::lock_guard lock(source.mutex);
  Found found{std::nullopt, problem};
  WT_TRY_ASSIGN(Database * database, source.open());
  if (!database) return found;
  WT_TRY_ASSIGN(found.entry, find_entry(database, device, problem, options));
  const std::optional<ConvProblem> plain = found.entry ? std::nullopt : plain_layer(problem);
  if (!plain) return found;
  found.measured = *plain;
  WT_TRY_ASSIGN(found.entry, find_entry(database, device, *plain, options));
  return found;
}

// Sets config and mark where the entry's kernel may be used; else gives the reason why not.
std::string take(Tuned& tuned, const Found& found, const DeviceInfo& device, const ConvProblem& problem,
                 const PlanOptions& options, CodeCheck check) {
  const Measurement& best = tuned.entry->best;
  const Result<KernelConfig> measured = config_from_json(best.config);
  if (!measured.ok()) return measured.status().message();
  if (name_of(*measured) != best.kernel) return "its kernel has another name in this version";
  KernelConfig config = *measured;
  if (const bool plain = found.measured != problem; plain) {
    const KernelConfig wanted = config_for(problem, device.target);
    config.x = wanted.x, config.w = wanted.w, config.y = wanted.y;
    config.epilogue = wanted.epilogue;
    tuned.mark = fmt::format("measured for '{}'", to_text(found.measured));
  }
  const Requests requests{.deterministic = options.deterministic, .strict_nonfinite = options.strict_nonfinite};
  if (config.target != device.target || !accepts(config, problem, requests)) {
    return fmt::format("{} declines the problem in this version", name_of(config));
  }
  if (std::string reason = quarantine_reason(quarantined_now(device), device, config); !reason.empty()) return reason;
  if (has_tensor_memory(device.target)) {
    if (std::string reason = unproven_reason(proven_forms(device), config); !reason.empty()) return reason;
  }
  const Result<Comparison> comparison = compare_code(device, *measured, best.code, check);
  if (!comparison.ok()) return fmt::format("{} cannot be had: {}", best.kernel, comparison.status().message());
  if (*comparison == Comparison::kChanged) return fmt::format("{} has changed since it was measured", best.kernel);
  const auto add_mark = [&](const std::string& text) { tuned.mark += (tuned.mark.empty() ? "" : "; ") + text; };
  if (*comparison == Comparison::kOtherCompiler)
    add_mark(fmt::format("measured as {} compiled it", best.code.compiler));
  if (*comparison == Comparison::kUnknown) {
    add_mark("its source has changed since; a plan compares the machine code and keeps to it only if that is the same");
  }
  tuned.config = config;
  return "";
}

}  // namespace

Tuned find_tuned(const DeviceInfo& device, const ConvProblem& problem, const PlanOptions& options, CodeCheck check) {
  Tuned tuned;
  if (!is_gpu(device.kind)) return tuned;
  std::vector<Source*> sources;                                                         // the user's own first
  if (const Result<Source*> own = current_source(); own.ok()) sources.push_back(*own);  // no home folder: none
  if (Source* installed = system_source()) sources.push_back(installed);
  std::string refused;
  for (Source* source : sources) {
    const Result<Found> found = find_nearest(*source, device, problem, options);
    if (!found.ok()) {
      source->warn_once(found.status());
      refused = "the tuning database was refused: " + found.status().message();
      continue;
    }
    if (!found->entry) continue;
    Tuned next;
    next.entry = found->entry;
    next.note = take(next, *found, device, problem, options, check);
    if (next.note.empty()) return next;
    next.note = "the tuned entry is not used: " + next.note;
    if (!tuned.entry) tuned = std::move(next);  // the installed one may serve where the user's own does not
  }
  if (!tuned.entry) tuned.note = refused;
  return tuned;
}

std::string kept_machine_code(const std::string& content_key) {
  const Result<Source*> own = current_source();
  for (Source* source : {own.ok() ? *own : nullptr, system_source()}) {
    if (!source) continue;
    const std::lock_guard lock(source->mutex);
    const Result<Database*> database = source->open();
    if (!database.ok() || !*database) continue;
    Result<std::string> code = (*database)->machine_code(content_key);
    if (code.ok() && !code->empty()) return std::move(*code);
  }
  return "";
}

Quarantined quarantined_now(const DeviceInfo& device) {
  if (!is_gpu(device.kind)) return nullptr;
  const Result<Source*> source = current_source();
  if (!source.ok()) return nullptr;
  const std::lock_guard lock((*source)->mutex);
  Result<Quarantined> rows = (*source)->quarantined();
  return rows.ok() ? std::move(*rows) : nullptr;
}

std::string quarantine_reason(const Quarantined& quarantined, const DeviceInfo& device, const KernelConfig& config) {
  if (!quarantined) return "";
  const auto [first, last] = quarantined->equal_range(name_of(config));
  if (first == last) return "";
  for (auto item = first; item != last; ++item) {
    const Quarantine& row = item->second;
    if (row.target != info_of(device.target).name) continue;
    // Only code that is known to be other code is free of the reproach, and code of another compiler is.
    const Result<Comparison> comparison = compare_code(device, config, row.code, CodeCheck::kKnown);
    const bool other =
        comparison.ok() && (*comparison == Comparison::kChanged || *comparison == Comparison::kOtherCompiler);
    if (other) continue;
    return fmt::format("{} gave a wrong result on '{}': {}; 'wavetile tuning release' lets it run again", row.kernel,
                       short_text({"", 0, row.target, row.problem}), row.detail);
  }
  return "";
}

std::vector<Measurement> find_measurements(const DeviceInfo& device, const ConvProblem& problem,
                                           const PlanOptions& options) {
  if (!is_gpu(device.kind)) return {};
  const Result<Source*> source = current_source();
  if (!source.ok()) return {};
  const std::lock_guard lock((*source)->mutex);
  const Result<Database*> database = (*source)->open();
  if (!database.ok() || !*database) return {};
  Result<std::vector<Measurement>> rows = (*database)->measurements(key_of(device, problem, options));
  return rows.ok() ? std::move(*rows) : std::vector<Measurement>();
}

}  // namespace wt::tuning
