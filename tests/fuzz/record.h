// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/record.h - what fuzzing did so far, in a file that many runs add to.
//
//   {"schema": 1, "runs": [{"subject": "simulated", "seed": 1, "next": 5120, "failed": 0, ...}],
//    "targets": [{"target": "sm_90a", "problems": 31000, "kernels": 1500}], "kinds": [...], "seen": {...}}
//
// A run of a subject and seed goes on at "next", so that no case is counted twice; another seed is another sequence.
// What failed stays counted in "failed". Once the numbers of a seed were run again (repeat.h), its row also has
// "repeated": {"cases": 158, "failed": 0, "date": "2026-11-19"}: how many of them, from the first, and how they ended.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"

namespace wt::fuzz {

class Record {
 public:
  // The file's content, or nothing yet where there is no file. An empty name: a record that is never saved.
  static Result<Record> open(const std::filesystem::path& file);

  int64_t next(const std::string& subject, uint64_t seed) const;
  void add(const std::string& subject, uint64_t seed, int64_t cases, double seconds,
           const std::vector<std::string>& accounts);
  void add_failure(const std::string& subject, uint64_t seed);
  // The first so many cases of a seed were run again today; nothing else is counted for them a second time.
  void set_repeated(const std::string& subject, uint64_t seed, int64_t cases, int64_t failed);
  Status save() const;
  std::string summary() const;  // of the simulated targets; empty: none was run
  std::string runs() const;     // a line per subject, over all seeds

 private:
  struct Repeat {
    int64_t cases = 0, failed = 0;
    std::string date;
  };
  struct Run {
    int64_t next = 0, failed = 0;
    double seconds = 0;
    std::optional<Repeat> repeated;
  };
  struct Part {
    int64_t problems = 0, declined = 0;
    std::set<std::string> kernels;  // hashes of their names
  };

  std::filesystem::path file_;
  std::map<std::pair<std::string, uint64_t>, Run> runs_;
  std::map<std::pair<std::string, std::string>, Part> parts_;  // target and kind
};

}  // namespace wt::fuzz
