// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/self_test.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "base/format.h"
#include "compile/embedded_headers.h"
#include "tests/fuzz/record.h"
#include "tests/fuzz/repeat.h"
#include "tests/fuzz/simulated.h"
#include "tests/fuzz/team.h"

namespace wt::fuzz {
namespace {

namespace fs = std::filesystem;

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

// Cases that failed, run again: by the same program they fail again, and once the fault is mended they pass; the record
// says both, and counts no case twice.
int repeat_self_test() {
  std::string folder = (fs::temp_directory_path() / "wavetile_fuzz_repeat.XXXXXX").string();
  if (!::mkdtemp(folder.data())) return fmt::print("no folder can be made\n"), 1;
  const fs::path file = fs::path(folder) / "record.json", kept = fs::path(folder) / "kept";
  const Planted wrong(0), mended(3);
  Result<Record> record = Record::open(file);
  const Tally tally = fuzz(wrong, 1, 30);
  record->add("planted", 1, tally.cases + 5, 1, {});
  record->add_failure("planted", 1);
  const Repetition same = repeat(wrong, 1, 30, kept, *record);
  const bool kept_one = fs::exists(kept) && !fs::is_empty(kept);
  const std::string before = record->runs();
  const Repetition after = repeat(mended, 1, 30, kept, *record);
  const bool saved = record->save().ok();
  const Result<Record> again = Record::open(file);
  const std::string said = again.ok() ? again->runs() : again.status().message();
  std::error_code error;
  fs::remove_all(folder, error);
  const int64_t all = tally.cases + 5;
  if (saved && kept_one && same.cases == all && same.failed > 0 && after.cases == all && after.failed == 0 &&
      before.ends_with(fmt::format("1 failed, 1 s; {} repeated, {} failed", all, same.failed)) &&
      said.ends_with(fmt::format("{} cases so far, 1 failed, 1 s; {} repeated, 0 failed", all, all)))
    return 0;
  return fmt::print("cases run again: {} and {} of {}, {} and {} failed: {}\n", same.cases, after.cases, all,
                    same.failed, after.failed, said),
         1;
}

}  // namespace

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
  return record_self_test() | team_self_test() | repeat_self_test() | simulated_self_test();
}

}  // namespace wt::fuzz
