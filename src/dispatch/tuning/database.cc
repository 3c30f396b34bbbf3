// SPDX-License-Identifier: Apache-2.0
#include "dispatch/tuning/database.h"

#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "base/environment.h"
#include "base/files.h"
#include "base/installed_file.h"
#include "dispatch/tuning/database_rows.h"
#include "dispatch/tuning/row_checksum.h"

namespace wt::tuning {
namespace fs = std::filesystem;
namespace {

constexpr int64_t kApplication = 0x5754756e;  // "WTun", in the file's header
constexpr int64_t kFutureMs = 86400 * 1000;   // clocks differ by less
constexpr double kBusySeconds = 20;

constexpr const char* kTables = R"sql(
CREATE TABLE entry (
  gpu TEXT NOT NULL, multiprocessors INTEGER NOT NULL, target TEXT NOT NULL, problem TEXT NOT NULL,
  kernel TEXT NOT NULL, config TEXT NOT NULL, content_key TEXT NOT NULL, machine_code TEXT NOT NULL,
  compiler TEXT NOT NULL, outcome INTEGER NOT NULL,
  median_us REAL NOT NULL, low_us REAL NOT NULL, high_us REAL NOT NULL, graph_us REAL NOT NULL, runs INTEGER NOT NULL,
  workspace_bytes INTEGER NOT NULL, detail TEXT NOT NULL, saved_at INTEGER NOT NULL,
  candidates INTEGER NOT NULL, tried INTEGER NOT NULL, complete INTEGER NOT NULL, library TEXT NOT NULL,
  checksum TEXT NOT NULL,
  PRIMARY KEY (problem, gpu, multiprocessors, target)) WITHOUT ROWID;
CREATE TABLE measurement (
  gpu TEXT NOT NULL, multiprocessors INTEGER NOT NULL, target TEXT NOT NULL, problem TEXT NOT NULL,
  kernel TEXT NOT NULL, config TEXT NOT NULL, content_key TEXT NOT NULL, machine_code TEXT NOT NULL,
  compiler TEXT NOT NULL, outcome INTEGER NOT NULL,
  median_us REAL NOT NULL, low_us REAL NOT NULL, high_us REAL NOT NULL, graph_us REAL NOT NULL, runs INTEGER NOT NULL,
  workspace_bytes INTEGER NOT NULL, detail TEXT NOT NULL, saved_at INTEGER NOT NULL, checksum TEXT NOT NULL,
  PRIMARY KEY (problem, gpu, multiprocessors, target, kernel)) WITHOUT ROWID;
CREATE TABLE quarantine (
  target TEXT NOT NULL, kernel TEXT NOT NULL, content_key TEXT NOT NULL, machine_code TEXT NOT NULL,
  compiler TEXT NOT NULL, problem TEXT NOT NULL, detail TEXT NOT NULL, saved_at INTEGER NOT NULL,
  checksum TEXT NOT NULL,
  PRIMARY KEY (kernel, target, content_key)) WITHOUT ROWID;
)sql" WT_MACHINE_CODE_TABLE;

int64_t now_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

// A row whose time is not set is of now.
template <class Row>
Row dated(Row row) {
  if (row.saved_at == 0) row.saved_at = now_ms();
  return row;
}

// A time in the future says nothing of what is newer: such a row only fills a gap, and any other takes its place.
template <class Row>
Row incoming(Row row) {
  if (row.saved_at > now_ms() + kFutureMs) row.saved_at = 1;
  return row;
}

std::string only_where_newer() {
  return fmt::format(" WHERE excluded.saved_at > saved_at OR saved_at > {}", now_ms() + kFutureMs);
}

Status foreign(const fs::path& path, std::string_view what) {
  return bad_input(
      "{} is no tuning database of Wavetile: {}; it was left as it is: move it away, or set "
      "WAVETILE_TUNING_DB to another file",
      path.string(), what);
}

// SQLite would take any file shorter than its header for an empty database and write into it.
Status check_header(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return {};
  if (!fs::is_regular_file(path, error)) return foreign(path, "it is not a file");
  if (fs::file_size(path, error) == 0) return {};
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  std::array<char, kMagic.size()> head{};
  std::ifstream in(path, std::ios::binary);
  if (!in) return failure(Code::kIo, "cannot open the tuning database {}; check its permissions", path.string());
  in.read(head.data(), head.size());
  if (std::string_view(head.data(), head.size()) != kMagic) return foreign(path, "it is no SQLite file");
  return {};
}

Status make_folder(const fs::path& path) {
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  if (!error) return {};
  return failure(Code::kIo, "cannot make the folder {} of the tuning database: {}; set WAVETILE_TUNING_DB to a file",
                 path.parent_path().string(), error.message());
}

}  // namespace

const char* name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kTimed:
      return "timed";
    case Outcome::kSlower:
      return "slower";
    case Outcome::kWrong:
      return "wrong";
    case Outcome::kFailed:
      return "failed";
  }
  return "?";
}

std::optional<Outcome> outcome_from(std::string_view name) {
  for (const Outcome outcome : {Outcome::kTimed, Outcome::kSlower, Outcome::kWrong, Outcome::kFailed}) {
    if (name == name_of(outcome)) return outcome;
  }
  return std::nullopt;
}

fs::path Database::system_path() {
  if (const char* asked = environment_or_null("WAVETILE_SYSTEM_TUNING_DB")) return asked;
  const std::vector<std::string> installed = installed_file("tuning.db");
  return installed.empty() ? fs::path() : fs::path(installed.front());
}

Result<fs::path> Database::default_path() {
  if (const char* named = environment_or_null("WAVETILE_TUNING_DB"); named && *named) return fs::path(named);
  WT_TRY_ASSIGN(const fs::path folder, data_folder());
  return folder / "tuning.db";
}

Result<std::unique_ptr<Database>> Database::open(const fs::path& path, Access access) {
  WT_TRY(check_header(path));
  if (access == Access::kCreate) WT_TRY(make_folder(path));
  WT_TRY_ASSIGN(auto connection, Connection::open(path, access, kBusySeconds));
  std::unique_ptr<Database> database(new Database(std::move(connection)));
  WT_TRY(database->prepare(access));
  return database;
}

// Whose file it is: ours, nobody's yet (all zero and empty), or another's.
Status Database::check_owner() const {
  WT_TRY_ASSIGN(const int64_t application, connection_->integer("PRAGMA application_id"));
  WT_TRY_ASSIGN(const int64_t schema, connection_->integer("PRAGMA user_version"));
  if (application == kApplication && schema >= 1 && schema <= kSchema) return {};
  if (application == kApplication) {
    return unsupported(
        "tuning database {} has format {} and this version of Wavetile reads {}; it was left as it is: update "
        "Wavetile, or set WAVETILE_TUNING_DB to another file",
        path().string(), schema, kSchema);
  }
  WT_TRY_ASSIGN(const int64_t tables, connection_->integer("SELECT count(*) FROM sqlite_master"));
  if (application == 0 && schema == 0 && tables == 0) return {};
  // WHY again: another process may have made the file's tables between these questions; its commit brings all at once.
  WT_TRY_ASSIGN(const int64_t by_now, connection_->integer("PRAGMA application_id"));
  if (application != kApplication && by_now == kApplication) return check_owner();
  return foreign(path(), fmt::format("application {:#x} with {} tables", application, tables));
}

Status Database::prepare(Access access) {
  WT_TRY(check_owner());
  if (access == Access::kRead || access == Access::kImmutable) {
    WT_TRY_ASSIGN(const int64_t application, connection_->integer("PRAGMA application_id"));
    has_tables_ = application == kApplication;
    WT_TRY_ASSIGN(const int64_t schema, connection_->integer("PRAGMA user_version"));
    // A file of an earlier version is brought up to date by the first who opens it.
    if (!has_tables_ || schema == kSchema) return {};
    if (access == Access::kImmutable)
      return unsupported("tuning database {} has format {} and this version reads {}; it is left out", path().string(),
                         schema, kSchema);
    return open(path(), Access::kWrite).status();
  }
  // WHY the loop: two processes that turn a new file to WAL at once get SQLITE_BUSY without the busy time-out.
  const auto start = std::chrono::steady_clock::now();
  for (;;) {
    const Result<std::string> mode = connection_->text("PRAGMA journal_mode=WAL");
    if (mode.ok() && *mode == "wal") break;
    if (mode.ok()) {
      return failure(Code::kIo,
                     "tuning database {} cannot be shared between processes there (journal mode {}); set "
                     "WAVETILE_TUNING_DB to a file on a local disk",
                     path().string(), *mode);
    }
    const bool in_time = std::chrono::steady_clock::now() - start < std::chrono::duration<double>(kBusySeconds);
    if (mode.status().message().find("locked") == std::string::npos || !in_time) return mode.status();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  // What is reported as saved must be on the disk.
  WT_TRY(connection_->execute("PRAGMA synchronous=FULL"));
  WT_TRY(create_tables());
  return bring_up_to_date();
}

Status Database::create_tables() {
  WT_TRY_ASSIGN(const int64_t application, connection_->integer("PRAGMA application_id"));
  if (application == kApplication) return {};
  WT_TRY_ASSIGN(Transaction transaction, Transaction::begin(*connection_));
  // Another process may have been first, or the file may have become another's meanwhile.
  WT_TRY(check_owner());
  WT_TRY_ASSIGN(const int64_t tables, connection_->integer("SELECT count(*) FROM sqlite_master"));
  if (tables > 0) return {};
  WT_TRY(connection_->execute(kTables));
  WT_TRY(connection_->execute(
      fmt::format("PRAGMA application_id={}; PRAGMA user_version={}", kApplication, kSchema).c_str()));
  return transaction.commit();
}

Result<std::optional<Entry>> Database::find(const Key& key) {
  const std::lock_guard lock(mutex_);
  if (!find_) {
    WT_TRY_ASSIGN(find_, connection_->prepare("SELECT " WT_KEY_COLUMNS ", " WT_MEASUREMENT_COLUMNS
                                              ", candidates, tried, complete, library FROM entry WHERE gpu=? AND "
                                              "multiprocessors=? AND target=? AND problem=?"));
  }
  bind_key(find_->reset(), key);
  WT_TRY_ASSIGN(const bool found, find_->step());
  std::optional<Entry> entry;
  if (found) entry = read_entry(*find_);
  find_->reset();  // ends the read, so that the log can be checkpointed
  return entry;
}

Status Database::put(const Entry& entry, bool only_newer) {
  std::string sql = "INSERT INTO entry (" WT_KEY_COLUMNS ", " WT_MEASUREMENT_COLUMNS
                    ", candidates, tried, complete, library, checksum) "
                    "VALUES (?,?,?,?, ?,?,?,?,?,?,?,?,?,?,?,?,?,?, ?,?,?,?, ?) "
                    "ON CONFLICT DO UPDATE SET kernel=excluded.kernel, config=excluded.config, "
                    "content_key=excluded.content_key, machine_code=excluded.machine_code, compiler=excluded.compiler, "
                    "outcome=excluded.outcome, median_us=excluded.median_us, "
                    "low_us=excluded.low_us, high_us=excluded.high_us, graph_us=excluded.graph_us, "
                    "runs=excluded.runs, workspace_bytes=excluded.workspace_bytes, detail=excluded.detail, "
                    "saved_at=excluded.saved_at, candidates=excluded.candidates, tried=excluded.tried, "
                    "complete=excluded.complete, library=excluded.library, checksum=excluded.checksum";
  if (only_newer) sql += only_where_newer();
  WT_TRY_ASSIGN(Statement statement, connection_->prepare(sql));
  Entry row = entry;
  row.best = dated(std::move(row.best));
  bind_key(statement, row.key);
  bind_measurement(statement, row.best);
  statement.bind(row.candidates).bind(row.tried).bind(row.complete ? 1 : 0).bind(row.library).bind(checksum_of(row));
  return statement.run();
}

Status Database::put(const Key& key, const Measurement& measurement, bool only_newer) {
  std::string sql = "INSERT INTO measurement (" WT_KEY_COLUMNS ", " WT_MEASUREMENT_COLUMNS
                    ", checksum) VALUES (?,?,?,?, ?,?,?,?,?,?,?,?,?,?,?,?,?,?, ?) "
                    "ON CONFLICT DO UPDATE SET config=excluded.config, content_key=excluded.content_key, "
                    "machine_code=excluded.machine_code, compiler=excluded.compiler, "
                    "outcome=excluded.outcome, median_us=excluded.median_us, low_us=excluded.low_us, "
                    "high_us=excluded.high_us, graph_us=excluded.graph_us, runs=excluded.runs, "
                    "workspace_bytes=excluded.workspace_bytes, detail=excluded.detail, saved_at=excluded.saved_at, "
                    "checksum=excluded.checksum";
  if (only_newer) sql += only_where_newer();
  WT_TRY_ASSIGN(Statement statement, connection_->prepare(sql));
  const Measurement row = dated(measurement);
  bind_key(statement, key);
  bind_measurement(statement, row);
  return statement.bind(checksum_of(key, row)).run();
}

Status Database::put(const Quarantine& quarantine, bool only_newer) {
  std::string sql = "INSERT INTO quarantine (" WT_QUARANTINE_COLUMNS
                    ", checksum) VALUES (?,?,?,?,?,?,?,?,?) "
                    "ON CONFLICT DO UPDATE SET machine_code=excluded.machine_code, problem=excluded.problem, "
                    "detail=excluded.detail, saved_at=excluded.saved_at, "
                    "checksum=excluded.checksum";
  if (only_newer) sql += only_where_newer();
  const Quarantine row = dated(quarantine);
  WT_TRY_ASSIGN(Statement statement, connection_->prepare(sql));
  statement.bind(row.target).bind(row.kernel);
  statement.bind(row.code.content_key).bind(row.code.machine_code).bind(row.code.compiler);
  return statement.bind(row.problem).bind(row.detail).bind(row.saved_at).bind(checksum_of(row)).run();
}

Status Database::save(const Entry& entry) {
  const std::lock_guard lock(mutex_);
  WT_TRY_ASSIGN(Transaction transaction, Transaction::begin(*connection_));
  WT_TRY(put(entry, false));
  return transaction.commit();
}

Status Database::save(const Key& key, const Measurement& measurement) {
  const std::lock_guard lock(mutex_);
  WT_TRY_ASSIGN(Transaction transaction, Transaction::begin(*connection_));
  WT_TRY(put(key, measurement, false));
  return transaction.commit();
}

Status Database::quarantine(const Quarantine& row) {
  const std::lock_guard lock(mutex_);
  WT_TRY_ASSIGN(Transaction transaction, Transaction::begin(*connection_));
  WT_TRY(put(row, false));
  return transaction.commit();
}

Result<std::vector<Entry>> Database::list() {
  const std::lock_guard lock(mutex_);
  WT_TRY_ASSIGN(Statement rows, connection_->prepare("SELECT " WT_KEY_COLUMNS ", " WT_MEASUREMENT_COLUMNS
                                                     ", candidates, tried, complete, library FROM entry ORDER BY gpu, "
                                                     "multiprocessors, target, problem"));
  std::vector<Entry> entries;
  for (;;) {
    WT_TRY_ASSIGN(const bool more, rows.step());
    if (!more) return entries;
    entries.push_back(read_entry(rows));
  }
}

Result<int> Database::erase(const std::vector<std::pair<Key, int64_t>>& keys) {
  const std::lock_guard lock(mutex_);
  WT_TRY_ASSIGN(Transaction transaction, Transaction::begin(*connection_));
  WT_TRY_ASSIGN(Statement entry, connection_->prepare("DELETE FROM entry WHERE gpu=? AND multiprocessors=? AND "
                                                      "target=? AND problem=? AND saved_at<=?"));
  WT_TRY_ASSIGN(Statement rows, connection_->prepare("DELETE FROM measurement WHERE gpu=? AND multiprocessors=? AND "
                                                     "target=? AND problem=? AND saved_at<=?"));
  int erased = 0;
  for (const auto& [key, saved_at] : keys) {
    bind_key(entry.reset(), key);
    WT_TRY(entry.bind(saved_at).run());
    if (connection_->changes() == 0) continue;
    ++erased;
    bind_key(rows.reset(), key);
    WT_TRY(rows.bind(saved_at).run());
  }
  WT_TRY(transaction.commit());
  return erased;
}

Result<std::vector<Measurement>> Database::measurements(const Key& key) {
  const std::lock_guard lock(mutex_);
  WT_TRY_ASSIGN(Statement rows, connection_->prepare("SELECT " WT_MEASUREMENT_COLUMNS
                                                     " FROM measurement WHERE gpu=? AND multiprocessors=? AND "
                                                     "target=? AND problem=? ORDER BY kernel"));
  bind_key(rows, key);
  std::vector<Measurement> list;
  for (;;) {
    WT_TRY_ASSIGN(const bool more, rows.step());
    if (!more) return list;
    list.push_back(read_measurement(rows, 0));
  }
}

Result<std::vector<std::pair<Key, Measurement>>> Database::all_measurements() {
  const std::lock_guard lock(mutex_);
  WT_TRY_ASSIGN(Statement rows, connection_->prepare("SELECT " WT_KEY_COLUMNS ", " WT_MEASUREMENT_COLUMNS
                                                     " FROM measurement ORDER BY gpu, multiprocessors, target, "
                                                     "problem, kernel"));
  std::vector<std::pair<Key, Measurement>> list;
  for (;;) {
    WT_TRY_ASSIGN(const bool more, rows.step());
    if (!more) return list;
    list.emplace_back(read_key(rows), read_measurement(rows, kKeyColumns));
  }
}

Result<int> Database::merge(const std::vector<Entry>& entries,
                            const std::vector<std::pair<Key, Measurement>>& measurements,
                            const std::vector<Quarantine>& quarantined) {
  const std::lock_guard lock(mutex_);
  WT_TRY_ASSIGN(Transaction transaction, Transaction::begin(*connection_));
  WT_TRY_ASSIGN(const int64_t before, connection_->integer("SELECT total_changes()"));
  for (Entry entry : entries) {
    entry.best = incoming(std::move(entry.best));
    WT_TRY(put(entry, true));
  }
  for (const auto& [key, measurement] : measurements) WT_TRY(put(key, incoming(measurement), true));
  for (const Quarantine& row : quarantined) WT_TRY(put(incoming(row), true));
  WT_TRY_ASSIGN(const int64_t after, connection_->integer("SELECT total_changes()"));
  WT_TRY(transaction.commit());
  return static_cast<int>(after - before);
}

Result<int64_t> Database::version() {
  const std::lock_guard lock(mutex_);
  if (!version_) {
    WT_TRY_ASSIGN(version_, connection_->prepare("PRAGMA data_version"));
  }
  WT_TRY_ASSIGN(const bool row, version_->reset().step());
  const int64_t version = row ? version_->integer(0) : 0;
  version_->reset();
  return version;
}

}  // namespace wt::tuning
