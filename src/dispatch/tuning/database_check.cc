// SPDX-License-Identifier: Apache-2.0
// dispatch/tuning/database_check.cc - whether the tuning database holds what was saved, by a checksum of each row.
#include "dispatch/tuning/database_rows.h"
#include "dispatch/tuning/row_checksum.h"

namespace wt::tuning {

// Brings a file of an earlier schema up to date, whole or not at all. 1: without checksums; 2: without machine code.
Status Database::bring_up_to_date() {
  WT_TRY_ASSIGN(const int64_t before, connection_->integer("PRAGMA user_version"));
  if (before == kSchema) return {};
  WT_TRY_ASSIGN(Transaction transaction, Transaction::begin(*connection_));
  WT_TRY_ASSIGN(const int64_t schema, connection_->integer("PRAGMA user_version"));
  if (schema == kSchema) return {};  // another process was first
  const auto add_column = [&](const char* table, const char* column) {
    return connection_->execute(
        fmt::format("ALTER TABLE {} ADD COLUMN {} TEXT NOT NULL DEFAULT ''", table, column).c_str());
  };
  for (const char* table : {"entry", "measurement", "quarantine"}) {
    if (schema < 2) WT_TRY(add_column(table, "checksum"));
    WT_TRY(add_column(table, "machine_code"));
    WT_TRY(add_column(table, "compiler"));
  }
  WT_TRY(connection_->execute(WT_MACHINE_CODE_TABLE));
  WT_TRY_ASSIGN(const std::vector<Entry> entries, list());
  WT_TRY_ASSIGN(const auto rows, all_measurements());
  WT_TRY_ASSIGN(const std::vector<Quarantine> bad, quarantined());
  for (const Entry& entry : entries) WT_TRY(put(entry, false));
  for (const auto& [key, measurement] : rows) WT_TRY(put(key, measurement, false));
  for (const Quarantine& row : bad) WT_TRY(put(row, false));
  WT_TRY(connection_->execute(fmt::format("PRAGMA user_version={}", kSchema).c_str()));
  return transaction.commit();
}

Status Database::check() {
  std::string verdict;
  {
    const std::lock_guard lock(mutex_);
    WT_TRY_ASSIGN(verdict, connection_->text("PRAGMA integrity_check(1)"));
  }
  if (verdict == "ok") {
    WT_TRY_ASSIGN(verdict, changed_row());
    if (verdict.empty()) return {};
  }
  return failure(Code::kIo,
                 "tuning database {} is damaged: {}; it was left as it is: move it away and tune again, or import an "
                 "export of it",
                 path().string(), verdict);
}

// The first row that is not what was saved; empty where all are.
Result<std::string> Database::changed_row() {
  const std::lock_guard lock(mutex_);
  const auto differs = [](const Statement& row, int column, const std::string& checksum) {
    return row.text(column) != checksum;
  };
  constexpr int kMeasured = kKeyColumns + kMeasurementColumns;
  WT_TRY_ASSIGN(Statement entries, connection_->prepare("SELECT " WT_KEY_COLUMNS ", " WT_MEASUREMENT_COLUMNS
                                                        ", candidates, tried, complete, library, checksum FROM entry"));
  for (;;) {
    WT_TRY_ASSIGN(const bool more, entries.step());
    if (!more) break;
    const Entry row = read_entry(entries);
    if (differs(entries, kMeasured + 4, checksum_of(row)))
      return fmt::format("the entry of '{}' on {} is not what was saved", row.key.problem, row.key.gpu);
  }
  WT_TRY_ASSIGN(Statement rows, connection_->prepare("SELECT " WT_KEY_COLUMNS ", " WT_MEASUREMENT_COLUMNS
                                                     ", checksum FROM measurement"));
  for (;;) {
    WT_TRY_ASSIGN(const bool more, rows.step());
    if (!more) break;
    const Key key = read_key(rows);
    const Measurement row = read_measurement(rows, kKeyColumns);
    if (differs(rows, kMeasured, checksum_of(key, row)))
      return fmt::format("the measurement of {} for '{}' is not what was saved", row.kernel, key.problem);
  }
  WT_TRY_ASSIGN(Statement bad, connection_->prepare("SELECT " WT_QUARANTINE_COLUMNS ", checksum FROM quarantine"));
  for (;;) {
    WT_TRY_ASSIGN(const bool more, bad.step());
    if (!more) break;
    const Quarantine row = read_quarantine(bad);
    if (differs(bad, 8, checksum_of(row))) return fmt::format("the quarantine of {} is not what was saved", row.kernel);
  }
  WT_TRY_ASSIGN(Statement codes,
                connection_->prepare("SELECT content_key, machine_code, compiler, checksum FROM machine_code"));
  for (;;) {
    WT_TRY_ASSIGN(const bool more, codes.step());
    if (!more) return std::string();
    const KernelCode row{codes.text(0), codes.text(1), codes.text(2)};
    if (differs(codes, 3, checksum_of(row)))
      return fmt::format("the machine code of {} is not what was saved", row.content_key);
  }
}

}  // namespace wt::tuning
