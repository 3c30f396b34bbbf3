// SPDX-License-Identifier: Apache-2.0
#include "cli/input/log_file.h"

#include <map>

#include "base/files.h"

namespace wt::cli {

Result<std::vector<Row>> rows_of_log(const std::string& file, SuiteCode code) {
  constexpr std::string_view kStart = "wavetile run '", kEnd = "' --device ";
  WT_TRY_ASSIGN(const std::string text, read_file(file));
  std::vector<std::string> order;
  std::map<std::string, int> counts;
  for (size_t at = 0; (at = text.find(kStart, at)) != std::string::npos;) {
    at += kStart.size();
    const size_t line = std::min(text.find('\n', at), text.size());
    const size_t end = text.find(kEnd, at);
    if (end == std::string::npos || end > line) continue;
    const std::string problem = text.substr(at, end - at);
    if (++counts[problem] == 1) order.push_back(problem);
    at = line;
  }
  if (order.empty())
    return bad_input("{} has no execution in it; a program writes them with WAVETILE_LOG=info WAVETILE_LOG_FILE={}",
                     file, file);
  std::vector<Row> rows;
  for (const std::string& words : order) {
    Result<ConvProblem> problem = parse_problem(words);
    if (!problem.ok()) return problem.status().with_context(file);
    if (code == SuiteCode::kRefused && !(problem->epilogue.expression.empty() && problem->epilogue.store.empty()))
      return bad_input(
          "{} has a problem with C++ that would be compiled and run: {}; if you trust the file repeat with "
          "--allow-code",
          file, words);
    rows.push_back({fmt::format("{} x{}", rows.size() + 1, counts[words]), std::move(*problem), "", ""});
  }
  return rows;
}

}  // namespace wt::cli
