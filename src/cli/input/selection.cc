// SPDX-License-Identifier: Apache-2.0
#include "cli/input/selection.h"

#include <fnmatch.h>

#include <algorithm>
#include <set>

#include "base/printable.h"
#include "cli/input/suggestion.h"
#include "problem/suite.h"

namespace wt::cli {

namespace {

bool is_direction(const std::string& word) { return direction_from(word).has_value(); }

std::string list_text(const std::vector<std::string>& names, size_t most) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < most; ++i) text += (text.empty() ? "" : ", ") + names[i];
  if (names.size() > most) text += fmt::format(" and {} more", names.size() - most);
  return text;
}

Result<Suite> suite_of(const std::string& word) {
  Result<Suite> suite = find_suite(word);
  if (suite.ok() || word.find('/') != std::string::npos || std::filesystem::exists(word)) return suite;
  const std::vector<std::string> names = suite_names();
  const std::string known = names.empty() ? "none was found" : list_text(names, 20);
  return bad_input("'{}' is no suite{} (suites: {}), no file and no problem text", word, did_you_mean(word, names),
                   known);
}

struct Written {
  Row row;
  bool from_suite;
};

Result<std::vector<Written>> written_rows(const std::vector<std::string>& what) {
  std::vector<Written> rows;
  int problems = 0;
  for (const std::string& word : what) {
    if (is_direction(word))
      return bad_input("'{}' alone is no problem; put the whole text in quotes: wavetile bench '{} bf16 n8 ...'", word,
                       word);
    const size_t space = word.find(' ');
    if (space != std::string::npos && !std::filesystem::exists(word)) {
      WT_TRY_ASSIGN(ConvProblem problem, parse_problem(word));
      rows.push_back({{fmt::format("problem{}", ++problems), problem, "", ""}, false});
      continue;
    }
    WT_TRY_ASSIGN(const Suite suite, suite_of(word));
    for (const SuiteEntry& entry : suite.entries) {
      const std::string name = printable(entry.name);  // a stranger's, and shown in tables and messages
      rows.push_back({{what.size() == 1 ? name : suite.name + "/" + name, entry.problem, printable(suite.name),
                       printable(entry.model)},
                      true});
    }
  }
  return rows;
}

Status check_no_code(const std::vector<Written>& rows) {
  for (const Written& written : rows) {
    const Epilogue& epilogue = written.row.problem.epilogue;
    if (!written.from_suite || (epilogue.expression.empty() && epilogue.store.empty())) continue;
    return bad_input(
        "'{}' comes with C++ that would be compiled and run: {}; read the suite file, and if you trust all of it "
        "repeat "
        "with --allow-code",
        written.row.name, epilogue.expression.empty() ? epilogue.store : epilogue.expression);
  }
  return {};
}

std::vector<Direction> directions_of(const std::string& wanted, const Written& written) {
  if (wanted.empty() && !written.from_suite) return {written.row.problem.direction};
  if (const std::optional<Direction> one = direction_from(wanted)) return {*one};
  return {Direction::kForward, Direction::kBackwardData, Direction::kBackwardWeight};
}

}  // namespace

bool is_suite(const std::string& word) {
  return word.find(' ') == std::string::npos && (std::filesystem::exists(word) || find_suite(word).ok());
}

std::vector<std::string> suite_names() {
  std::set<std::string> names;
  for (const std::filesystem::path& folder : suite_folders()) {
    std::error_code ignored;  // a folder that is not there has no suites
    for (const auto& file : std::filesystem::directory_iterator(folder, ignored))
      if (file.path().extension() == ".txt") names.insert(file.path().stem().string());
  }
  return {names.begin(), names.end()};
}

Result<std::vector<Row>> select_rows(const std::vector<std::string>& what, const std::string& filter,
                                     const std::string& direction, SuiteCode code) {
  WT_TRY_ASSIGN(const std::vector<Written> written, written_rows(what));
  if (code == SuiteCode::kRefused) WT_TRY(check_no_code(written));
  std::vector<Row> rows;
  std::vector<std::string> names;
  std::set<std::pair<std::string, std::string>> seen;  // a suite may already hold the directions that are asked for
  for (const Written& entry : written) {
    const Row& row = entry.row;
    if (names.empty() || names.back() != row.name) names.push_back(row.name);
    if (!filter.empty() && fnmatch(filter.c_str(), row.name.c_str(), 0) != 0) continue;
    for (const Direction wanted : directions_of(direction, entry)) {
      Row next = row;
      if (wanted != row.problem.direction) next.problem = with_direction(row.problem, wanted);
      if (seen.emplace(next.name, to_text(next.problem)).second) rows.push_back(std::move(next));
    }
  }
  if (rows.empty() && !written.empty())
    return bad_input("--filter '{}' matches none of the {} names: {}", filter, names.size(), list_text(names, 8));
  if (rows.empty()) return bad_input("there is nothing to do: no suite named here has an entry");
  return rows;
}

}  // namespace wt::cli
