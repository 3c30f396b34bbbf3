// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/main.cc - runs the fuzzers.
//
//   fuzz [--only NAME] [--seconds S] [--seed N] [--regressions FOLDER]   new cases; a failure is shrunk into a file
//   there fuzz --replay FILE|FOLDER                                            what failed once fuzz --self-test a
//   planted fault must be found and made small
//
// Exit code 1 where a case failed.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/files.h"
#include "base/format.h"
#include "tests/fuzz/subjects.h"

namespace wt::fuzz {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string only, replay;
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

// The file's name holds the subject and a hash of the input, so that the same failure is kept once.
int keep(const Options& options, const Subject& subject, const Failure& failure) {
  uint64_t hash = 0;
  for (const char c : failure.input) hash = mix64(hash ^ static_cast<unsigned char>(c));
  const fs::path file = options.regressions / fmt::format("{}-{:016x}", subject.name(), hash);
  const Status status = write_file(file, failure.input);
  fmt::print("FAILED {}: {}\n  seed {}, {} bytes: {}\n  {}\n", subject.name(), failure.reason, options.seed,
             failure.input.size(), printable(failure.input),
             status.ok() ? "repeat with: fuzz --replay " + file.string() : status.message());
  return 1;
}

int run_new(const Options& options, const std::vector<std::unique_ptr<Subject>>& all) {
  std::vector<const Subject*> chosen;
  for (const auto& subject : all)
    if (options.only.empty() || subject->name() == options.only) chosen.push_back(subject.get());
  if (chosen.empty()) {
    fmt::print(stderr, "fuzz: there is no subject '{}'\n", options.only);
    return 2;
  }
  int code = 0;
  for (const Subject* subject : chosen) {
    const Tally tally = fuzz(*subject, options.seed, options.seconds / static_cast<double>(chosen.size()));
    fmt::print("{:10} {:>9} cases in {:.0f} s{}\n", subject->name(), tally.cases, tally.seconds,
               tally.failure ? "" : ", all handled well");
    std::fflush(stdout);
    if (tally.failure) code = keep(options, *subject, shrink(*subject, *tally.failure));
  }
  return code;
}

int replay(const Options& options, const std::vector<std::unique_ptr<Subject>>& all) {
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
    const auto subject = std::ranges::find_if(all, [&](const auto& s) { return s->name() == name; });
    const Result<std::string> input = read_file(file);
    if (subject == all.end() || !input.ok()) {
      fmt::print(stderr, "fuzz: {} names no subject, or cannot be read\n", file.string());
      return 2;
    }
    if (const std::optional<std::string> reason = judge(**subject, *input)) {
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
    return "q before z";
  }

 private:
  int way_;
};

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
  return 0;
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
    } else if (word == "--replay") {
      options.replay = value();
    } else if (word == "--self-test") {
      options.self_test = true;
    } else {
      fmt::print(stderr,
                 "usage: fuzz [--only NAME] [--seconds S] [--seed N] [--regressions FOLDER] | --replay FILE|FOLDER"
                 " | --self-test\n");
      return 2;
    }
  }
  ::setenv("WAVETILE_LOG", "error", 0);  // the provider that is left out on purpose is no news
  if (options.self_test) return self_test();
  const std::vector<std::unique_ptr<Subject>> all = subjects();
  return options.replay.empty() ? run_new(options, all) : replay(options, all);
}

}  // namespace
}  // namespace wt::fuzz

int main(int argc, char** argv) { return wt::fuzz::run(argc, argv); }
