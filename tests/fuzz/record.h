// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/record.h - what fuzzing did so far, in a file that many runs add to.
//
//   {"schema": 1, "runs": [{"subject": "simulated", "seed": 1, "next": 5120, "failed": 0, ...}],
//    "targets": [{"target": "sm_90a", "problems": 31000, "kernels": 1500}], "kinds": [...], "seen": {...}}
//
// A run of a subject and seed goes on at "next", so that no case is counted twice; another seed is another sequence.
#pragma once

#include <filesystem>
#include <map>
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
  Status save() const;
  std::string summary() const;  // of the simulated targets; empty: none was run
  std::string runs() const;     // a line per subject, over all seeds

 private:
  struct Run {
    int64_t next = 0, failed = 0;
    double seconds = 0;
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
