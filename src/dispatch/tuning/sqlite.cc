// SPDX-License-Identifier: Apache-2.0
#include "dispatch/tuning/sqlite.h"

#include <sqlite3.h>

#include <utility>

namespace wt::tuning {

Statement::Statement(Statement&& other) noexcept
    : connection_(other.connection_),
      statement_(std::exchange(other.statement_, nullptr)),
      bound_(other.bound_),
      bind_code_(other.bind_code_) {}

Statement& Statement::operator=(Statement&& other) noexcept {
  std::swap(connection_, other.connection_);
  std::swap(statement_, other.statement_);
  std::swap(bound_, other.bound_);
  std::swap(bind_code_, other.bind_code_);
  return *this;
}

Statement::~Statement() { sqlite3_finalize(statement_); }

Statement& Statement::reset() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
  bound_ = 0;
  bind_code_ = SQLITE_OK;
  return *this;
}

void Statement::check_bound(int code) {
  if (code != SQLITE_OK && bind_code_ == SQLITE_OK) bind_code_ = code;
}

Statement& Statement::bind(int64_t value) {
  check_bound(sqlite3_bind_int64(statement_, ++bound_, value));
  return *this;
}

Statement& Statement::bind(double value) {
  check_bound(sqlite3_bind_double(statement_, ++bound_, value));
  return *this;
}

Statement& Statement::bind(std::string_view value) {
  check_bound(sqlite3_bind_text64(statement_, ++bound_, value.data() ? value.data() : "", value.size(),
                                  SQLITE_TRANSIENT, SQLITE_UTF8));
  return *this;
}

Result<bool> Statement::step() {
  if (bind_code_ != SQLITE_OK) return connection_->failed(bind_code_, "bind a value");
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  Status status = connection_->failed(code, "read or write");
  sqlite3_reset(statement_);
  return status;
}

Status Statement::run() {
  for (;;) {
    WT_TRY_ASSIGN(const bool row, step());
    if (!row) return {};
  }
}

int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }
double Statement::real(int column) const { return sqlite3_column_double(statement_, column); }

std::string Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return bytes ? std::string(bytes, static_cast<size_t>(sqlite3_column_bytes(statement_, column))) : std::string();
}

namespace {

// A path as part of a URI.
std::string escaped(const std::string& path) {
  std::string text;
  for (const char letter : path) {
    if (letter == '%' || letter == '?' || letter == '#') {
      text += fmt::format("%{:02x}", static_cast<unsigned char>(letter));
    } else {
      text += letter;
    }
  }
  return text;
}

}  // namespace

Result<std::unique_ptr<Connection>> Connection::open(const std::filesystem::path& path, Access access,
                                                     double busy_seconds) {
  int flags = SQLITE_OPEN_NOMUTEX;
  std::string name = path.string();
  switch (access) {
    case Access::kRead:
      flags |= SQLITE_OPEN_READONLY;
      break;
    case Access::kWrite:
      flags |= SQLITE_OPEN_READWRITE;
      break;
    case Access::kCreate:
      flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
      break;
    case Access::kImmutable:
      flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
      name = "file:" + escaped(name) + "?immutable=1";
      break;
  }
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &handle, flags, nullptr);
  std::unique_ptr<Connection> connection(new Connection(handle, path));
  if (code != SQLITE_OK) return connection->failed(code, "open");
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, static_cast<int>(busy_seconds * 1000));
  // A file from elsewhere must not run anything of its own.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  return connection;
}

Connection::~Connection() { sqlite3_close_v2(handle_); }

Result<Statement> Connection::prepare(std::string_view sql) const {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(handle_, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) return failed(code, "read");
  return Statement(this, statement);
}

Status Connection::execute(const char* sql) const {
  const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? Status() : failed(code, "change");
}

Result<int64_t> Connection::integer(std::string_view sql) const {
  WT_TRY_ASSIGN(Statement statement, prepare(sql));
  WT_TRY_ASSIGN(const bool row, statement.step());
  return row ? statement.integer(0) : 0;
}

Result<std::string> Connection::text(std::string_view sql) const {
  WT_TRY_ASSIGN(Statement statement, prepare(sql));
  WT_TRY_ASSIGN(const bool row, statement.step());
  return row ? statement.text(0) : std::string();
}

int Connection::changes() const { return sqlite3_changes(handle_); }

Status Connection::failed(int code, std::string_view doing) const {
  const char* words = handle_ ? sqlite3_errmsg(handle_) : sqlite3_errstr(code);
  const char* remedy = "";
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
      remedy = "; it is damaged and was left as it is: move it away and tune again, or import an export of it";
      break;
    case SQLITE_ERROR:
    case SQLITE_SCHEMA:
    case SQLITE_MISMATCH:
      remedy = "; its tables are not as this version made them, and it was left as it is: move it away";
      break;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      remedy = "; another process has held it for long: wait for it, or set WAVETILE_TUNING_DB to another file";
      break;
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      remedy = "; check its permissions and its folder's, or set WAVETILE_TUNING_DB to another file";
      break;
    case SQLITE_FULL:
    case SQLITE_IOERR:
      remedy = "; check the disk it is on: nothing of this change was kept";
      break;
    default:
      break;
  }
  return failure(Code::kIo, "tuning database {}: cannot {} it: {} (SQLite {}){}", path_.string(), doing, words, code,
                 remedy);
}

Result<Transaction> Transaction::begin(const Connection& connection) {
  WT_TRY(connection.execute("BEGIN IMMEDIATE"));
  return Transaction(connection);
}

Transaction::~Transaction() {
  if (connection_) (void)connection_->execute("ROLLBACK");
}

Status Transaction::commit() {
  WT_TRY(connection_->execute("COMMIT"));
  connection_ = nullptr;
  return {};
}

}  // namespace wt::tuning
