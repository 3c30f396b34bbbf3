// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/main.cc - runs the fuzzers.
//
//   fuzz [--only NAME] [--seconds S] [--seed N] [--record FILE] [--regressions FOLDER]
//        new cases; a failure is shrunk into a file of the folder. With --record, it goes on where the last run of
//        that seed ended, and the file adds up what was done.
//   fuzz --team NAME=PROCESSES,... [--seconds S] [--seed N] [--record FILE] [--regressions FOLDER]
//        the same by several processes (team.h), with seeds from N on; what fails is kept as it is, and the others go
//        on
//   fuzz --shrink FILE          what failed, made small, as another file of the folder
//   fuzz --replay FILE|FOLDER   what failed once
//   fuzz --self-test            planted faults must be found and made small
//
// Exit code 1 where a case failed.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/files.h"
#include "base/format.h"
#include "compile/embedded_headers.h"
#include "tests/fuzz/record.h"
#include "tests/fuzz/simulated.h"
#include "tests/fuzz/subjects.h"
#include "tests/fuzz/team.h"

namespace wt::fuzz {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string only, replay, record, team, shrink;
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

// Fails in each of the ways that a subject can.
class Planted : public Subject {
 public:
  explicit Planted(int way) : way_(way) {}
  std::string name() const override { return "planted"; }
  std::string generate(Random& random) const override {
    std::string text(static_cast<size_t>(random.between(20, 60)), 'x');
    for (char& c : text) c = static_cast<char>(random.between('a', 'z'));
    return text;
  }
  std::string run(const std::string& input) const override {
    const size_t q = input.find('q');
    if (q == std::string::npos || input.find('z', q) == std::string::npos) return "";
    if (way_ == 1) ::abort();
    if (way_ == 2) ::_exit(7);
    if (way_ == 3) return "";
    return "q before z";
  }

 private:
  int way_;
};

// A kernel that forgets its bias must be found among those of every kind, and the case then made of one problem.
int simulated_self_test() {
  std::string folder = (fs::temp_directory_path() / "wavetile_fuzz_tree.XXXXXX").string();
  if (!::mkdtemp(folder.data())) return fmt::print("no folder can be made\n"), 1;
  for (const compile::EmbeddedHeader& header : compile::embedded_headers()) {
    std::string text(header.text);
    const std::string right = "if constexpr (kSteps.bias) value += bias;";
    if (const size_t at = text.find(right); at != std::string::npos) text.replace(at, right.size(), "");
    if (!write_file(fs::path(folder) / "src" / header.name, text).ok()) return fmt::print("no tree was written\n"), 1;
  }
  ::setenv("WAVETILE_SOURCE_DIR", folder.c_str(), 1);
  int code = 1;
  {
    const Simulated simulated;
    const Tally tally = fuzz(simulated, 1, 600);
    if (!tally.failure) {
      fmt::print("{} kernels without their bias: nothing was found\n", tally.cases);
    } else if (tally.failure->input.find("+bias") == std::string::npos) {
      fmt::print("another fault than the planted one: {}\n", tally.failure->reason);
    } else {
      fmt::print("a kernel that forgets its bias was found after {} kernels\n", tally.cases);
      code = 0;
    }
  }
  ::unsetenv("WAVETILE_SOURCE_DIR");
  std::error_code error;
  fs::remove_all(folder, error);
  return code;
}

// What a record adds up must come back from its file, and a second run go on where the first one ended.
int record_self_test() {
  const fs::path file = fs::temp_directory_path() / fmt::format("wavetile_fuzz_record.{}", ::getpid());
  int code = 1;
  Result<Record> first = Record::open(file);
  if (first.ok()) {
    first->add("simulated", 1, 3, 1.5,
               {"sm_90a tma 0a0a0a0a 24 0", "sm_90a tma 0b0b0b0b 20 4", "sm_80 basic 0a0a0a0a 1 0"});
    first->add("text", 1, 500, 1, {});
    if (first->save().ok()) {
      Result<Record> second = Record::open(file);
      second->add("simulated", 1, 1, 1, {"sm_90a tma 0a0a0a0a 24 0"});
      const std::string summary = second->summary();
      code = second->next("simulated", 1) == 4 && second->next("simulated", 2) == 0 && second->next("text", 1) == 500 &&
                     summary == "simulated so far: 69 problems by 3 kernels of 2 kinds on 2 targets; 4 were declined"
                 ? 0
                 : 1;
      if (code != 0) fmt::print("the record does not add up: {}\n", summary);
    }
  }
  std::error_code error;
  fs::remove(file, error);
  return code;
}

// Two processes, one of whose cases fail: the others go on, failures are kept and counted, and a second run goes on
// where the first one ended.
int team_self_test() {
  std::string folder = (fs::temp_directory_path() / "wavetile_fuzz_team_test.XXXXXX").string();
  if (!::mkdtemp(folder.data())) return fmt::print("no folder can be made\n"), 1;
  const fs::path file = fs::path(folder) / "record.json", kept = fs::path(folder) / "kept";
  const Planted wrong(0), right(3);
  const std::vector<Worker> workers = {{&wrong, 1}, {&right, 2}, {&right, 3}};
  int64_t first = 0, second = 0;
  int failed = 0;
  for (int64_t* next : {&first, &second}) {
    Result<Record> record = Record::open(file);
    if (record.ok()) failed = run_team(workers, {0.5, fs::path(folder) / "scratch", kept}, *record);
    const Result<Record> again = Record::open(file);
    if (again.ok()) *next = std::min(again->next("planted", 2), again->next("planted", 3));
  }
  size_t files = 0;
  std::error_code error;
  for (const auto& item : fs::directory_iterator(kept, error)) files += item.is_regular_file();
  fs::remove_all(folder, error);
  if (failed > 0 && files > 0 && first > 0 && second > first) return 0;
  return fmt::print("a team: {} failures, {} files, {} and then {} cases\n", failed, files, first, second), 1;
}

int self_test() {
  const char* const expected[] = {"q before z", "signal 6", "exit code 7"};
  for (int way = 0; way < 3; ++way) {
    const Planted planted(way);
    const Tally tally = fuzz(planted, 1, 30);
    if (!tally.failure) return fmt::print("a planted fault was not found\n"), 1;
    const Failure small = shrink(planted, *tally.failure);
    if (small.input != "qz" || small.reason.find(expected[way]) != 0)
      return fmt::print("shrunk to '{}', {}\n", small.input, small.reason), 1;
  }
  fmt::print("planted faults were found after some cases and shrunk to two bytes\n");
  return record_self_test() | team_self_test() | simulated_self_test();
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
    } else if (word == "--shrink") {
      options.shrink = value();
    } else if (word == "--replay") {
      options.replay = value();
    } else if (word == "--self-test") {
      options.self_test = true;
    } else {
      fmt::print(stderr,
                 "usage: fuzz [--only NAME | --team NAME=PROCESSES,...] [--seconds S] [--seed N] [--record FILE]"
                 " [--regressions FOLDER] | --shrink FILE | --replay FILE|FOLDER | --self-test\n");
      return 2;
    }
  }
  ::setenv("WAVETILE_LOG", "error", 0);  // the provider that is left out on purpose is no news
  if (options.self_test) return self_test();
  const std::vector<std::unique_ptr<Subject>> all = subjects();
  if (!options.team.empty()) return run_many(options, all);
  if (!options.shrink.empty()) return shrink_file(options, all);
  return options.replay.empty() ? run_new(options, all) : replay(options, all);
}

}  // namespace
}  // namespace wt::fuzz

int main(int argc, char** argv) { return wt::fuzz::run(argc, argv); }
