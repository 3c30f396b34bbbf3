// SPDX-License-Identifier: Apache-2.0
// dispatch/tuning/sqlite.h - the part of SQLite that the tuning database uses, with its failures as Status.
//
// sqlite3.h stays in sqlite.cc. A connection belongs to one thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

struct sqlite3;
struct sqlite3_stmt;

namespace wt::tuning {

class Connection;

// One prepared statement; bind, then step. Indices count from 0.
class Statement {
 public:
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&& other) noexcept;
  ~Statement();

  Statement& reset();  // to run it again; what was bound is forgotten
  Statement& bind(int64_t value);
  Statement& bind(int value) { return bind(static_cast<int64_t>(value)); }
  Statement& bind(double value);
  Statement& bind(std::string_view value);  // copied

  Result<bool> step();  // whether there is a row
  Status run();         // to the end, rows ignored

  int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;

 private:
  friend class Connection;
  Statement(const Connection* connection, sqlite3_stmt* statement) : connection_(connection), statement_(statement) {}
  void check_bound(int code);

  const Connection* connection_;
  sqlite3_stmt* statement_;
  int bound_ = 0;
  int bind_code_ = 0;
};

enum class Access : uint8_t {
  kRead,
  kWrite,
  kCreate,
  kImmutable,  // as kRead, of a file that nobody changes, in a folder that nobody may write to
};

class Connection {
 public:
  // Waits up to `busy_seconds` for other processes at every statement.
  static Result<std::unique_ptr<Connection>> open(const std::filesystem::path& path, Access access,
                                                  double busy_seconds);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Result<Statement> prepare(std::string_view sql) const;
  Status execute(const char* sql) const;                  // one or several statements
  Result<int64_t> integer(std::string_view sql) const;    // the first value of the first row
  Result<std::string> text(std::string_view sql) const;   // the same as text
  int changes() const;                                    // rows that the last statement changed
  Status failed(int code, std::string_view doing) const;  // in SQLite's words, with the file and a remedy
  const std::filesystem::path& path() const { return path_; }

 private:
  Connection(sqlite3* handle, std::filesystem::path path) : handle_(handle), path_(std::move(path)) {}
  sqlite3* handle_;
  std::filesystem::path path_;
};

// Begins a transaction that will write; rolls back unless committed.
class Transaction {
 public:
  static Result<Transaction> begin(const Connection& connection);
  Transaction(Transaction&& other) noexcept : connection_(other.connection_) { other.connection_ = nullptr; }
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Status commit();

 private:
  explicit Transaction(const Connection& connection) : connection_(&connection) {}
  const Connection* connection_;
};

}  // namespace wt::tuning
