// SPDX-License-Identifier: Apache-2.0
#include "dispatch/tuning/lookup.h"

#include <unistd.h>

#include <map>
#include <mutex>

#include "base/log.h"
#include "config/constraints.h"
#include "config/fields.h"
#include "config/targets.h"
#include "dispatch/tuning/key.h"

namespace wt::tuning {
namespace {

namespace fs = std::filesystem;

// The database behind one path, as this process sees it.
class Source {
 public:
  explicit Source(fs::path path) : path_(std::move(path)) {}

  // Null where the file does not exist. A file that is refused is tried again when its time stamp changes.
  Result<Database*> open() {
    if (database_) return database_.get();
    std::error_code error;
    const fs::file_time_type stamp = fs::last_write_time(path_, error);
    if (error) return nullptr;
    if (!refused_.ok() && stamp == refused_stamp_) return refused_;
    Result<std::unique_ptr<Database>> database = Database::open(path_, Access::kRead);
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
  std::unique_ptr<Database> database_;
  Status refused_;
  fs::file_time_type refused_stamp_;
  Quarantined quarantined_;
  int64_t version_ = -1;
  bool warned_ = false;
};

// The source of the path that the environment names now. WHY by process: SQLite's handles do not survive a fork.
Result<Source*> current_source() {
  WT_TRY_ASSIGN(const fs::path path, Database::default_path());
  static std::mutex mutex;
  static auto& sources = *new std::map<std::pair<pid_t, std::string>, std::unique_ptr<Source>>;
  const std::lock_guard lock(mutex);
  std::unique_ptr<Source>& source = sources[{::getpid(), path.string()}];
  if (!source) source = std::make_unique<Source>(path);
  return source.get();
}

Result<std::optional<Entry>> find_entry(Source& source, const DeviceInfo& device, const ConvProblem& problem,
                                        PlanOptions options) {
  const std::lock_guard lock(source.mutex);
  WT_TRY_ASSIGN(Database * database, source.open());
  if (!database) return std::optional<Entry>();
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

// Why the entry's kernel must not be used; empty: it may.
std::string fault_of(const Entry& entry, const Result<KernelConfig>& config, const DeviceInfo& device,
                     const ConvProblem& problem, const PlanOptions& options) {
  if (!config.ok()) return config.status().message();
  if (name_of(*config) != entry.best.kernel) return "its kernel has another name in this version";
  const Requests requests{.deterministic = options.deterministic, .strict_nonfinite = options.strict_nonfinite};
  if (config->target != device.target || !accepts(*config, problem, requests)) {
    return fmt::format("{} declines the problem in this version", entry.best.kernel);
  }
  if (std::string reason = quarantine_reason(quarantined_now(device), device, *config); !reason.empty()) return reason;
  const Result<std::string> key = content_key_of(device, *config);
  if (!key.ok()) return fmt::format("{} cannot be had: {}", entry.best.kernel, key.status().message());
  if (*key != entry.best.content_key) return fmt::format("{} has changed since it was measured", entry.best.kernel);
  return "";
}

}  // namespace

Tuned find_tuned(const DeviceInfo& device, const ConvProblem& problem, const PlanOptions& options) {
  Tuned tuned;
  if (device.kind != DeviceKind::kCuda) return tuned;
  const Result<Source*> source = current_source();
  if (!source.ok()) return tuned;  // no home folder, so nothing was ever saved there
  Result<std::optional<Entry>> entry = find_entry(**source, device, problem, options);
  if (!entry.ok()) {
    (*source)->warn_once(entry.status());
    tuned.note = "the tuning database was refused: " + entry.status().message();
    return tuned;
  }
  tuned.entry = std::move(*entry);
  if (!tuned.entry) return tuned;
  const Result<KernelConfig> config = config_from_json(tuned.entry->best.config);
  tuned.note = fault_of(*tuned.entry, config, device, problem, options);
  if (tuned.note.empty()) {
    tuned.config = *config;
  } else {
    tuned.note = "the tuned entry is not used: " + tuned.note;
  }
  return tuned;
}

Quarantined quarantined_now(const DeviceInfo& device) {
  if (device.kind != DeviceKind::kCuda) return nullptr;
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
  const Result<std::string> key = content_key_of(device, config);
  for (auto item = first; item != last; ++item) {
    const Quarantine& row = item->second;
    if (row.target != info_of(device.target).name || (key.ok() && row.content_key != *key)) continue;
    return fmt::format("{} gave a wrong result on '{}': {}; 'wavetile tuning release' lets it run again", row.kernel,
                       short_text({"", 0, row.target, row.problem}), row.detail);
  }
  return "";
}

std::vector<Measurement> find_measurements(const DeviceInfo& device, const ConvProblem& problem,
                                           const PlanOptions& options) {
  if (device.kind != DeviceKind::kCuda) return {};
  const Result<Source*> source = current_source();
  if (!source.ok()) return {};
  const std::lock_guard lock((*source)->mutex);
  const Result<Database*> database = (*source)->open();
  if (!database.ok() || !*database) return {};
  Result<std::vector<Measurement>> rows = (*database)->measurements(key_of(device, problem, options));
  return rows.ok() ? std::move(*rows) : std::vector<Measurement>();
}

}  // namespace wt::tuning
