// SPDX-License-Identifier: Apache-2.0
// cli/commands/report.h - wavetile report: the results of a benchmark, or of two, as one page for a browser.
//
//   JSON of `wavetile bench` or bench/compare.py --read_run--> rows --report/page.*--> one file without references
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_value.h"
#include "base/status.h"

namespace wt::cli {

struct ReportOptions {
  std::vector<std::string> files;  // one, or two to compare: the older first
  std::string output = "report.html";
  std::string history;  // of bench/history.py; empty: none
};

int run_report(const ReportOptions& options);

// One run as the page reads it. `text` is the content of `file`; a fault names it.
Result<OrderedJson> read_run(const std::string& text, const std::string& file);

// The whole page.
std::string report_page(const std::vector<OrderedJson>& runs, const OrderedJson& history);

}  // namespace wt::cli
