// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/fuzzer.h - cases for one reader of a user's input, run in child processes, and made small where they fail.
//
//   Subject::generate(random) --> bytes --run in a child--> fine | wrong | crashed | hung --shrink--> regression file
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "problem/random.h"

namespace wt::fuzz {

// One kind of input and what must hold for it.
class Subject {
 public:
  virtual ~Subject() = default;
  virtual std::string name() const = 0;  // one word; regression files start with it
  // A case is bytes: the same random numbers give the same.
  virtual std::string generate(Random& random) const = 0;
  // What is wrong with how the case was handled; empty: nothing. Crashes and sanitizer reports are noticed outside.
  virtual std::string run(const std::string& input) const = 0;

  // From now on, a case of which nothing could be run is wrong: for replays, which would else pass for ever once what
  // they name is gone.
  virtual void demand() {}
  virtual bool only_by_name() const { return false; }   // left out where no subject is named
  virtual double patience() const { return 20; }        // seconds of one case before it hangs, as Patience counts
  virtual double batch_seconds() const { return 600; }  // of a child, at most
  // What the last run did, as words that a record (record.h) adds up; at most 200 bytes.
  virtual std::string account() const { return ""; }
};

struct Failure {
  std::string input;   // as small as it could be made
  std::string reason;  // what was wrong, or "signal 11", "exit code 1", "no answer"
};

struct Tally {
  int64_t cases = 0;  // of this run
  double seconds = 0;
  std::optional<Failure> failure;
};

// Who is told, every few seconds, how many further cases a child ran, how long that took, and their accounts.
using Told = std::function<void(int64_t cases, double seconds, const std::vector<std::string>& accounts)>;

// Cases of `seed` from number `first` on, for so many seconds, until one fails, or up to the number `end`.
Tally fuzz(const Subject& subject, uint64_t seed, double seconds, int64_t first = 0, const Told& told = {},
           int64_t end = std::numeric_limits<int64_t>::max());

// One input in a child of its own; nothing where it was handled well.
std::optional<std::string> judge(const Subject& subject, const std::string& input);

// The smallest input found that still fails for some reason.
Failure shrink(const Subject& subject, const Failure& failure);

// Damage for well-formed input: bytes changed, removed, repeated, swapped, cut off.
std::string mutate(Random& random, std::string input);

}  // namespace wt::fuzz
