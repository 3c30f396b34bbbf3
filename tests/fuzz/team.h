// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/team.h - several processes that fuzz at a time, each with a seed of its own, and one record of what they
// did.
//
//   team: fork --> worker (subject, seed): fuzz() --lines through a pipe--> team: Record, saved every few seconds
//
// Only the team's own process writes the record, each time as a whole. So it may be killed at any moment: its workers
// end with it, the file has what was saved last, and the next run goes on there.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/fuzz/fuzzer.h"
#include "tests/fuzz/record.h"

namespace wt::fuzz {

struct Worker {
  const Subject* subject = nullptr;
  uint64_t seed = 0;
};

struct TeamOptions {
  double seconds = 60;
  std::filesystem::path scratch;      // a folder of temporary files for each worker is made in it
  std::filesystem::path regressions;  // where inputs that failed are kept
};

// A folder of temporary files of this process, in memory where the machine has such. What runs that were killed left
// behind goes when the next one starts.
class Scratch {
 public:
  static Result<Scratch> make();
  Scratch(Scratch&& other) noexcept : folder_(std::move(other.folder_)) { other.folder_.clear(); }
  ~Scratch();
  const std::filesystem::path& folder() const { return folder_; }

 private:
  explicit Scratch(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::filesystem::path folder_;
};

// Runs all workers for so long and adds what they did to the record. How many cases failed; -1 where something else
// did.
int run_team(const std::vector<Worker>& workers, const TeamOptions& options, Record& record);

// Writes the input of a failure into the folder, under a name that says the subject and a hash of the input.
Result<std::filesystem::path> keep_input(const std::filesystem::path& folder, const Subject& subject,
                                         const std::string& input);

}  // namespace wt::fuzz
