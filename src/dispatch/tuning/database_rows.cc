// SPDX-License-Identifier: Apache-2.0
#include "dispatch/tuning/database_rows.h"

#include <algorithm>
#include <climits>

namespace wt::tuning {
namespace {

// WHY not a cast: a number that is too large must not turn into a good one.
int int_at(const Statement& row, int column) {
  return static_cast<int>(std::clamp<int64_t>(row.integer(column), INT_MIN, INT_MAX));
}

}  // namespace

void bind_key(Statement& statement, const Key& key) {
  statement.bind(key.gpu).bind(key.multiprocessors).bind(key.target).bind(key.problem);
}

void bind_measurement(Statement& statement, const Measurement& m) {
  statement.bind(m.kernel).bind(m.config);
  statement.bind(m.code.content_key).bind(m.code.machine_code).bind(m.code.compiler).bind(static_cast<int>(m.outcome));
  statement.bind(m.median_us).bind(m.low_us).bind(m.high_us).bind(m.graph_us).bind(m.runs).bind(m.workspace_bytes);
  statement.bind(m.detail).bind(m.saved_at);
}

Key read_key(const Statement& row) { return {row.text(0), int_at(row, 1), row.text(2), row.text(3)}; }

Measurement read_measurement(const Statement& row, int at) {
  Measurement m;
  m.kernel = row.text(at), m.config = row.text(at + 1);
  m.code = {row.text(at + 2), row.text(at + 3), row.text(at + 4)};
  m.outcome = static_cast<Outcome>(std::clamp<int64_t>(row.integer(at + 5), 0, UINT8_MAX));
  m.median_us = row.real(at + 6), m.low_us = row.real(at + 7), m.high_us = row.real(at + 8);
  m.graph_us = row.real(at + 9);
  m.runs = int_at(row, at + 10);
  m.workspace_bytes = row.integer(at + 11);
  m.detail = row.text(at + 12);
  m.saved_at = row.integer(at + 13);
  return m;
}

Entry read_entry(const Statement& row) {
  constexpr int kRest = kKeyColumns + kMeasurementColumns;
  return {read_key(row),          read_measurement(row, kKeyColumns), int_at(row, kRest),
          int_at(row, kRest + 1), row.integer(kRest + 2) != 0,        row.text(kRest + 3)};
}

Quarantine read_quarantine(const Statement& row) {
  return {row.text(0), row.text(1), {row.text(2), row.text(3), row.text(4)}, row.text(5), row.text(6), row.integer(7)};
}

}  // namespace wt::tuning
