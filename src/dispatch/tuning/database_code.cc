// SPDX-License-Identifier: Apache-2.0
// dispatch/tuning/database_code.cc - what the tuning database keeps of code: kernels in quarantine, and machine code.
#include "dispatch/tuning/database_rows.h"
#include "dispatch/tuning/row_checksum.h"

namespace wt::tuning {

Result<std::vector<Quarantine>> Database::quarantined() {
  const std::lock_guard lock(mutex_);
  WT_TRY_ASSIGN(Statement rows, connection_->prepare("SELECT " WT_QUARANTINE_COLUMNS
                                                     " FROM quarantine ORDER BY kernel, target, content_key"));
  std::vector<Quarantine> list;
  for (;;) {
    WT_TRY_ASSIGN(const bool more, rows.step());
    if (!more) return list;
    list.push_back(read_quarantine(rows));
  }
}

Result<int> Database::release(const std::string& kernel) {
  const std::lock_guard lock(mutex_);
  WT_TRY_ASSIGN(Transaction transaction, Transaction::begin(*connection_));
  WT_TRY_ASSIGN(Statement statement, connection_->prepare("DELETE FROM quarantine WHERE kernel=?"));
  WT_TRY(statement.bind(kernel).run());
  const int released = connection_->changes();
  WT_TRY(transaction.commit());
  return released;
}

Result<std::string> Database::machine_code(const std::string& content_key) {
  const std::lock_guard lock(mutex_);
  WT_TRY_ASSIGN(Statement row, connection_->prepare("SELECT machine_code FROM machine_code WHERE content_key=?"));
  WT_TRY_ASSIGN(const bool found, row.bind(content_key).step());
  return found ? row.text(0) : std::string();
}

Status Database::keep_machine_code(const KernelCode& code) {
  const std::lock_guard lock(mutex_);
  WT_TRY_ASSIGN(Transaction transaction, Transaction::begin(*connection_));
  WT_TRY_ASSIGN(Statement statement, connection_->prepare("INSERT OR REPLACE INTO machine_code (content_key, "
                                                          "machine_code, compiler, checksum) VALUES (?,?,?,?)"));
  WT_TRY(statement.bind(code.content_key).bind(code.machine_code).bind(code.compiler).bind(checksum_of(code)).run());
  return transaction.commit();
}

}  // namespace wt::tuning
