// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/main.cc - runs the fuzzers.
//
//   fuzz [--only NAME] [--seconds S] [--seed N] [--record FILE] [--regressions FOLDER]
//        new cases; a failure is shrunk into a file of the folder. With --record, it goes on where the last run of
//        that seed ended, and the file adds up what was done.
//   fuzz --team NAME=PROCESSES,... [--seconds S] [--seed N] [--record FILE] [--regressions FOLDER]
//        the same by several processes (team.h), with seeds from N on; what fails is kept as it is, and the others go
//        on
//   fuzz --again NAME --seed N --record FILE [--seconds S] [--regressions FOLDER]
//        the cases of that seed that the record has, once more (repeat.h), and how they ended into the record
//   fuzz --shrink FILE          what failed, made small, as another file of the folder
//   fuzz --replay FILE|FOLDER   what failed once
//   fuzz --self-test            planted faults must be found and made small
//
// Exit code 1 where a case failed.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/files.h"
#include "base/format.h"
#include "tests/fuzz/record.h"
#include "tests/fuzz/repeat.h"
#include "tests/fuzz/self_test.h"
#include "tests/fuzz/subjects.h"
#include "tests/fuzz/team.h"

namespace wt::fuzz {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string only, replay, record, team, again, shrink;
  fs::path regressions = "tests/fuzz/regressions";
  double seconds = 60;
  uint64_t seed = 1;
  bool self_test = false;
};

std::string printable(const std::string& text) {
  std::string out;
  for (const char c : text.substr(0, 300)) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte >= 32 && byte < 127 ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return text.size() > 300 ? out + "..." : out;
}

int keep(const Options& options, const Subject& subject, const Failure& failure) {
  const Result<fs::path> file = keep_input(options.regressions, subject, failure.input);
  fmt::print("FAILED {}: {}\n  seed {}, {} bytes: {}\n  {}\n", subject.name(), failure.reason, options.seed,
             failure.input.size(), printable(failure.input),
             file.ok() ? "repeat with: fuzz --replay " + file->string() : file.status().message());
  return 1;
}

void save(const Record& record) {
  const Status status = record.save();
  if (!status.ok()) fmt::print(stderr, "fuzz: {}\n", status.message());
}

int run_new(const Options& options, const std::vector<std::unique_ptr<Subject>>& all) {
  std::vector<const Subject*> chosen;
  for (const auto& subject : all)
    if (options.only.empty() ? !subject->only_by_name() : subject->name() == options.only)
      chosen.push_back(subject.get());
  if (chosen.empty()) {
    fmt::print(stderr, "fuzz: there is no subject '{}'\n", options.only);
    return 2;
  }
  Result<Record> record = Record::open(options.record);
  if (!record.ok()) {
    fmt::print(stderr, "fuzz: {}\n", record.status().message());
    return 2;
  }
  int code = 0;
  for (const Subject* subject : chosen) {
    const std::string name = subject->name();
    const auto told = [&](int64_t cases, double seconds, const std::vector<std::string>& accounts) {
      record->add(name, options.seed, cases, seconds, accounts);
      save(*record);
    };
    const Tally tally = fuzz(*subject, options.seed, options.seconds / static_cast<double>(chosen.size()),
                             record->next(name, options.seed), told);
    fmt::print("{:10} {:>9} cases in {:.0f} s{}\n", name, tally.cases, tally.seconds,
               tally.failure ? "" : ", all handled well");
    std::fflush(stdout);
    if (!tally.failure) continue;
    record->add_failure(name, options.seed);
    save(*record);
    code = keep(options, *subject, shrink(*subject, *tally.failure));
  }
  if (const std::string summary = record->summary(); !summary.empty()) fmt::print("{}\n", summary);
  return code;
}

const Subject* find_subject(const std::vector<std::unique_ptr<Subject>>& all, const std::string& name) {
  const auto found = std::ranges::find_if(all, [&](const auto& subject) { return subject->name() == name; });
  return found == all.end() ? nullptr : found->get();
}

// "simulated=10,text=2": ten processes with the seeds from options.seed on, and two.
int run_many(const Options& options, const std::vector<std::unique_ptr<Subject>>& all) {
  std::vector<Worker> workers;
  std::istringstream parts(options.team);
  for (std::string part; std::getline(parts, part, ',');) {
    const size_t equal = part.find('=');
    const Subject* subject = find_subject(all, part.substr(0, equal));
    const int count = equal == std::string::npos ? 1 : std::atoi(part.c_str() + equal + 1);
    if (!subject || count < 1 || count > 1000) {
      fmt::print(stderr, "fuzz: --team wants SUBJECT=PROCESSES,...; '{}' is none\n", part);
      return 2;
    }
    for (int i = 0; i < count; ++i) workers.push_back({subject, options.seed + static_cast<uint64_t>(i)});
  }
  Result<Record> record = Record::open(options.record);
  const Result<Scratch> scratch = Scratch::make();
  if (!record.ok() || !scratch.ok()) {
    fmt::print(stderr, "fuzz: {}\n", record.ok() ? scratch.status().message() : record.status().message());
    return 2;
  }
  const int failed = run_team(workers, {options.seconds, scratch->folder(), options.regressions}, *record);
  fmt::print("{}\n{}\n", record->runs(), record->summary());
  if (failed > 0) fmt::print("{} cases failed; fuzz --shrink FILE makes one small\n", failed);
  return failed == 0 ? 0 : 1;
}

int run_again(const Options& options, const std::vector<std::unique_ptr<Subject>>& all) {
  const Subject* subject = find_subject(all, options.again);
  Result<Record> record = Record::open(options.record);
  if (!subject || !record.ok() || record->next(options.again, options.seed) == 0) {
    fmt::print(stderr, "fuzz: {}\n",
               !subject       ? fmt::format("there is no subject '{}'", options.again)
               : !record.ok() ? record.status().message()
                              : fmt::format("--record '{}' has no case of {} with seed {}", options.record,
                                            options.again, options.seed));
    return 2;
  }
  const int64_t cases = record->next(options.again, options.seed);
  const Repetition done = repeat(*subject, options.seed, options.seconds, options.regressions, *record);
  save(*record);
  fmt::print("{} of {} cases of {} with seed {} were run again, {} failed\n", done.cases, cases, options.again,
             options.seed, done.failed);
  return done.failed > 0 || done.cases < cases ? 1 : 0;
}

int shrink_file(const Options& options, const std::vector<std::unique_ptr<Subject>>& all) {
  const std::string file = fs::path(options.shrink).filename().string();
  const Subject* subject = find_subject(all, file.substr(0, file.find('-')));
  const Result<std::string> input = read_file(options.shrink);
  if (!subject || !input.ok()) {
    fmt::print(stderr, "fuzz: {} names no subject, or cannot be read\n", options.shrink);
    return 2;
  }
  const std::optional<std::string> reason = judge(*subject, *input);
  if (!reason) return fmt::print("{} passes\n", options.shrink), 0;
  return keep(options, *subject, shrink(*subject, {*input, *reason}));
}

int replay(const Options& options, const std::vector<std::unique_ptr<Subject>>& all) {
  for (const auto& subject : all) subject->demand();
  std::vector<fs::path> files;
  if (fs::is_directory(options.replay)) {
    for (const auto& item : fs::directory_iterator(options.replay))
      if (item.is_regular_file() && item.path().extension() != ".md") files.push_back(item.path());
  } else {
    files.emplace_back(options.replay);
  }
  std::ranges::sort(files);
  int failed = 0;
  for (const fs::path& file : files) {
    const std::string name = file.filename().string().substr(0, file.filename().string().find('-'));
    const Subject* subject = find_subject(all, name);
    const Result<std::string> input = read_file(file);
    if (!subject || !input.ok()) {
      fmt::print(stderr, "fuzz: {} names no subject, or cannot be read\n", file.string());
      return 2;
    }
    if (const std::optional<std::string> reason = judge(*subject, *input)) {
      fmt::print("FAILED {}: {}\n", file.string(), *reason);
      ++failed;
    }
  }
  fmt::print("{} of {} regressions passed\n", files.size() - static_cast<size_t>(failed), files.size());
  return failed > 0 ? 1 : 0;
}

int run(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&]() -> std::string { return i + 1 < argc ? argv[++i] : ""; };
    if (word == "--only") {
      options.only = value();
    } else if (word == "--seconds") {
      options.seconds = std::atof(value().c_str());
    } else if (word == "--seed") {
      options.seed = std::strtoull(value().c_str(), nullptr, 10);
    } else if (word == "--regressions") {
      options.regressions = value();
    } else if (word == "--record") {
      options.record = value();
    } else if (word == "--team") {
      options.team = value();
    } else if (word == "--again") {
      options.again = value();
    } else if (word == "--shrink") {
      options.shrink = value();
    } else if (word == "--replay") {
      options.replay = value();
    } else if (word == "--self-test") {
      options.self_test = true;
    } else {
      fmt::print(
          stderr,
          "usage: fuzz [--only NAME | --team NAME=PROCESSES,...] [--seconds S] [--seed N] [--record FILE]"
          " [--regressions FOLDER] | --again NAME --seed N --record FILE | --shrink FILE | --replay FILE|FOLDER |"
          " --self-test\n");
      return 2;
    }
  }
  ::setenv("WAVETILE_LOG", "error", 0);  // the provider that is left out on purpose is no news
  if (options.self_test) return self_test();
  const std::vector<std::unique_ptr<Subject>> all = subjects();
  if (!options.team.empty()) return run_many(options, all);
  if (!options.again.empty()) return run_again(options, all);
  if (!options.shrink.empty()) return shrink_file(options, all);
  return options.replay.empty() ? run_new(options, all) : replay(options, all);
}

}  // namespace
}  // namespace wt::fuzz

int main(int argc, char** argv) { return wt::fuzz::run(argc, argv); }
