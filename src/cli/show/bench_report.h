// SPDX-License-Identifier: Apache-2.0
// cli/show/bench_report.h - a benchmark's results as a table, a summary and JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_value.h"
#include "cli/input/selection.h"
#include "cli/show/preview.h"
#include "cli/show/table.h"
#include "dispatch/trial/cudnn.h"
#include "dispatch/trial/roof.h"
#include "dispatch/trial/trial.h"

namespace wt::cli {

struct BenchRow {
  std::string name;
  TrialResult trial;
  std::optional<Preview> preview;
  std::optional<CudnnResult> cudnn;   // where a comparison was asked for
  std::optional<TrialResult> strict;  // of strict non-finite behaviour, where the kernel above cannot promise it
  std::string suite, model;           // empty: none

  double speedup() const;  // of the trial over cuDNN's best; 0: one of them has no time
};

Table bench_table(const std::vector<Row>& rows, int columns, bool compare);
std::vector<std::string> bench_cells(const BenchRow& row, const Roof& roof);
std::string kernel_line(const BenchRow& row, int columns);  // below the row; nothing for the CPU
std::string strict_line(const BenchRow& row, int columns);  // below that; nothing where there is no second choice

// Counts, what strict non-finite behaviour costs, and geometric means by direction.
std::string bench_summary(const std::vector<BenchRow>& rows, const Roof& roof, double seconds);

// A line for standard error where times of one row lie more than twice apart: the machine did other work. Empty: none.
std::string unsteady_warning(const std::vector<BenchRow>& rows);

// One line per row and a line of titles.
std::string bench_csv(const std::vector<BenchRow>& rows, const Roof& roof);

// Every failure with the command that repeats it, for standard error.
std::string bench_failures(const std::vector<BenchRow>& rows);

OrderedJson cudnn_json(const CudnnResult& cudnn);
OrderedJson bench_json(const std::vector<BenchRow>& rows, const Roof& roof, const DeviceInfo& device,
                       const std::string& target, const std::string& command);

int bench_exit_code(const std::vector<BenchRow>& rows);

}  // namespace wt::cli
