// SPDX-License-Identifier: Apache-2.0
// dispatch/tuning/database_rows.h - columns of the database's tables to structs and back, for database*.cc.
#pragma once

#include "dispatch/tuning/database.h"

namespace wt::tuning {

inline constexpr int64_t kSchema = 3;

#define WT_MACHINE_CODE_TABLE                                                                                        \
  "CREATE TABLE machine_code (content_key TEXT NOT NULL PRIMARY KEY, machine_code TEXT NOT NULL, compiler TEXT NOT " \
  "NULL, checksum TEXT NOT NULL) WITHOUT ROWID;"
#define WT_KEY_COLUMNS "gpu, multiprocessors, target, problem"
#define WT_MEASUREMENT_COLUMNS                                                                                 \
  "kernel, config, content_key, machine_code, compiler, outcome, median_us, low_us, high_us, graph_us, runs, " \
  "workspace_bytes, detail, saved_at"
#define WT_QUARANTINE_COLUMNS "target, kernel, content_key, machine_code, compiler, problem, detail, saved_at"
inline constexpr int kKeyColumns = 4;
inline constexpr int kMeasurementColumns = 14;

void bind_key(Statement& statement, const Key& key);
void bind_measurement(Statement& statement, const Measurement& m);
Key read_key(const Statement& row);
Measurement read_measurement(const Statement& row, int at);
Entry read_entry(const Statement& row);
Quarantine read_quarantine(const Statement& row);

}  // namespace wt::tuning
