// SPDX-License-Identifier: Apache-2.0
#include "problem/suite.h"

#include <fnmatch.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/environment.h"
#include "base/files.h"

namespace wt {
namespace fs = std::filesystem;
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

Status parse_line(std::string_view line, Suite& suite) {
  const size_t colon = line.find(": ");
  if (colon == line.npos) {
    return bad_input("expected 'name: problem', as in 'conv1: fwd bf16 n16 c256 k256 i100x100 f3x3 p1', not '{}'",
                     line);
  }
  const std::string_view name = trimmed(line.substr(0, colon));
  if (name.empty() || name.find_first_of(" \t") != name.npos) {
    return bad_input("'{}' is not a name; a name is one word before the colon", name);
  }
  if (suite.find(name)) return bad_input("the name '{}' is used twice; names are unique in a suite", name);
  const Result<ConvProblem> problem = parse_problem(trimmed(line.substr(colon + 1)));
  if (!problem.ok()) return problem.status().with_context(name);
  suite.entries.push_back({std::string(name), *problem, ""});
  return {};
}

using Models = std::vector<std::pair<std::string, std::string>>;  // a glob over names and a network, in order

// The comment "models: GLOB NAME, GLOB NAME"; other comments are the reader's own.
Status parse_comment(std::string_view comment, Models& models) {
  constexpr std::string_view kStart = "models:";
  comment = trimmed(comment);
  if (!comment.starts_with(kStart)) return {};
  comment.remove_prefix(kStart.size());
  while (!comment.empty()) {
    const std::string_view item = trimmed(comment.substr(0, comment.find(',')));
    comment.remove_prefix(
        std::min(comment.size(), comment.find(',') == comment.npos ? comment.size() : comment.find(',') + 1));
    const size_t space = item.find(' ');
    if (space == item.npos)
      return bad_input("'{}' does not say which names are of which model; write '# models: mbv2_* MobileNetV2'", item);
    models.emplace_back(item.substr(0, space), trimmed(item.substr(space)));
  }
  return {};
}

void name_models(Suite& suite, const Models& models) {
  for (SuiteEntry& entry : suite.entries) {
    const auto found = std::find_if(models.begin(), models.end(), [&](const auto& model) {
      return fnmatch(model.first.c_str(), entry.name.c_str(), 0) == 0;
    });
    if (found != models.end()) entry.model = found->second;
  }
}

}  // namespace

const SuiteEntry* Suite::find(std::string_view entry) const {
  const auto at = std::find_if(entries.begin(), entries.end(), [&](const SuiteEntry& e) { return e.name == entry; });
  return at == entries.end() ? nullptr : &*at;
}

Result<Suite> parse_suite(std::string_view text, const std::string& source) {
  Suite suite;
  suite.name = fs::path(source).stem().string();
  Models models;
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    const size_t comment = std::min(line.find('#'), line.size());
    Status status = comment < line.size() ? parse_comment(line.substr(comment + 1), models) : Status();
    line = trimmed(line.substr(0, comment));
    if (status.ok() && !line.empty()) status = parse_line(line, suite);
    if (!status.ok()) return status.with_context(fmt::format("{}:{}", source, number));
  }
  if (suite.entries.empty()) return bad_input("{}: the suite has no problems; add lines 'name: problem'", source);
  name_models(suite, models);
  return suite;
}

Result<Suite> read_suite(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return bad_input("{} is a folder; name a suite file in it", path.string());
  WT_TRY_ASSIGN(const std::string text, read_file(path));
  return parse_suite(text, path.string());
}

std::vector<fs::path> suite_folders() {
  std::vector<fs::path> folders;
  if (const char* folder = environment_or_null("WAVETILE_SUITES"); folder && *folder) folders.emplace_back(folder);
  folders.emplace_back("bench/suites");
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) folders.push_back(program.parent_path().parent_path() / "share/wavetile/suites");
  return folders;
}

Result<Suite> find_suite(const std::string& name_or_path) {
  std::error_code error;
  if (fs::is_regular_file(name_or_path, error)) return read_suite(name_or_path);
  std::string places;
  for (const fs::path& folder : suite_folders()) {
    const fs::path path = folder / (name_or_path + ".txt");
    if (fs::exists(path, error)) return read_suite(path);
    places += (places.empty() ? "" : ", ") + folder.string();
  }
  return failure(Code::kBadInput,
                 "there is no suite '{}': not a file, and not in {}; set WAVETILE_SUITES to its folder", name_or_path,
                 places);
}

}  // namespace wt
