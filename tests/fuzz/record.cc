// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/record.h"

#include <time.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/files.h"
#include "base/json_rows.h"

namespace wt::fuzz {
namespace {

using Json = nlohmann::ordered_json;
constexpr size_t kDigits = 8;  // of a hash

}  // namespace

Result<Record> Record::open(const std::filesystem::path& file) {
  Record record;
  record.file_ = file;
  if (file.empty() || !std::filesystem::exists(file)) return record;
  WT_TRY_ASSIGN(const std::string text, read_file(file));
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || json.value("schema", 0) != 1) return bad_input("{} is no record of fuzzing", file.string());
  for (const Json& run : json.at("runs")) {
    Run& known = record.runs_[{run.at("subject").get<std::string>(), run.at("seed").get<uint64_t>()}];
    known.next = run.at("next").get<int64_t>();
    known.failed = run.at("failed").get<int64_t>();
    known.seconds = run.at("seconds").get<double>();
    if (const auto again = run.find("repeated"); again != run.end()) {
      known.repeated = {again->at("cases").get<int64_t>(), again->at("failed").get<int64_t>(),
                        again->at("date").get<std::string>()};
    }
  }
  for (const Json& row : json.at("parts")) {
    Part& part = record.parts_[{row.at("target").get<std::string>(), row.at("kind").get<std::string>()}];
    part.problems = row.at("problems").get<int64_t>();
    part.declined = row.at("declined").get<int64_t>();
    const std::string seen = row.at("seen").get<std::string>();
    for (size_t at = 0; at + kDigits <= seen.size(); at += kDigits) part.kernels.insert(seen.substr(at, kDigits));
  }
  return record;
}

int64_t Record::next(const std::string& subject, uint64_t seed) const {
  const auto run = runs_.find({subject, seed});
  return run == runs_.end() ? 0 : run->second.next;
}

void Record::add(const std::string& subject, uint64_t seed, int64_t cases, double seconds,
                 const std::vector<std::string>& accounts) {
  Run& run = runs_[{subject, seed}];
  run.next += cases;
  run.seconds += seconds;
  for (const std::string& account : accounts) {
    std::istringstream words(account);
    std::string target, kind, hash;
    int64_t problems = 0, declined = 0;
    words >> target >> kind >> hash >> problems >> declined;
    Part& part = parts_[{target, kind}];
    part.problems += problems, part.declined += declined;
    if (problems > 0) part.kernels.insert(hash.substr(0, kDigits));
  }
}

void Record::add_failure(const std::string& subject, uint64_t seed) { ++runs_[{subject, seed}].failed; }

void Record::set_repeated(const std::string& subject, uint64_t seed, int64_t cases, int64_t failed) {
  const time_t now = ::time(nullptr);
  tm day{};
  ::gmtime_r(&now, &day);
  runs_[{subject, seed}].repeated = {cases, failed,
                                     fmt::format("{:04}-{:02}-{:02}", day.tm_year + 1900, day.tm_mon + 1, day.tm_mday)};
}

Status Record::save() const {
  if (file_.empty()) return {};
  std::map<std::string, std::pair<int64_t, int64_t>> targets;
  for (const auto& [key, part] : parts_) {
    auto& [problems, kernels] = targets[key.first];
    problems += part.problems, kernels += static_cast<int64_t>(part.kernels.size());
  }
  Json json = {{"schema", 1}, {"runs", Json::array()}, {"targets", Json::array()}, {"parts", Json::array()}};
  for (const auto& [key, run] : runs_) {
    json["runs"].push_back({{"subject", key.first},
                            {"seed", key.second},
                            {"next", run.next},
                            {"failed", run.failed},
                            {"seconds", static_cast<int64_t>(run.seconds + 0.5)}});
    if (run.repeated) {
      json["runs"].back()["repeated"] = {
          {"cases", run.repeated->cases}, {"failed", run.repeated->failed}, {"date", run.repeated->date}};
    }
  }
  for (const auto& [target, sums] : targets)
    json["targets"].push_back({{"target", target}, {"problems", sums.first}, {"kernels", sums.second}});
  for (const auto& [key, part] : parts_) {
    std::string seen;
    for (const std::string& hash : part.kernels) seen += hash;
    json["parts"].push_back({{"target", key.first},
                             {"kind", key.second},
                             {"problems", part.problems},
                             {"declined", part.declined},
                             {"kernels", part.kernels.size()},
                             {"seen", seen}});
  }
  return write_file(file_, json_rows(json), FileKind::kDurable);
}

std::string Record::runs() const {
  std::map<std::string, Run> subjects;
  for (const auto& [key, run] : runs_) {
    Run& sum = subjects[key.first];
    sum.next += run.next, sum.failed += run.failed, sum.seconds += run.seconds;
    if (!run.repeated) continue;
    if (!sum.repeated) sum.repeated.emplace();
    sum.repeated->cases += run.repeated->cases, sum.repeated->failed += run.repeated->failed;
  }
  std::string text;
  for (const auto& [name, run] : subjects) {
    text += fmt::format("{}{:10} {:>9} cases so far, {} failed, {:.0f} s", text.empty() ? "" : "\n", name, run.next,
                        run.failed, run.seconds);
    if (run.repeated) text += fmt::format("; {} repeated, {} failed", run.repeated->cases, run.repeated->failed);
  }
  return text;
}

std::string Record::summary() const {
  int64_t problems = 0, declined = 0, kernels = 0;
  std::set<std::string> targets, kinds;
  for (const auto& [key, part] : parts_) {
    problems += part.problems, declined += part.declined, kernels += static_cast<int64_t>(part.kernels.size());
    targets.insert(key.first), kinds.insert(key.second);
  }
  if (parts_.empty()) return "";
  return fmt::format("simulated so far: {} problems by {} kernels of {} kinds on {} targets; {} were declined",
                     problems, kernels, kinds.size(), targets.size(), declined);
}

}  // namespace wt::fuzz
