// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/repeat.h"

#include <cstdio>

#include "base/format.h"
#include "tests/fuzz/team.h"

namespace wt::fuzz {

Repetition repeat(const Subject& subject, uint64_t seed, double seconds, const std::filesystem::path& regressions,
                  Record& record) {
  const int64_t all = record.next(subject.name(), seed);
  Repetition done;
  double left = seconds;
  while (done.cases < all && left > 0) {
    int64_t told_cases = 0;
    const auto told = [&](int64_t cases, double, const std::vector<std::string>&) {
      told_cases += cases;
      fmt::print("{}, seed {}: {} of {} cases repeated, {} failed\n", subject.name(), seed, done.cases + told_cases,
                 all, done.failed);
      std::fflush(stdout);
    };
    const Tally tally = fuzz(subject, seed, left, done.cases, told, all);
    done.cases += tally.cases;
    left -= tally.seconds;
    if (!tally.failure) continue;
    ++done.failed;
    const auto file = keep_input(regressions, subject, tally.failure->input);
    fmt::print("FAILED {}, seed {}, case {}: {}\n  {}\n", subject.name(), seed, done.cases - 1, tally.failure->reason,
               file.ok() ? file->string() : file.status().message());
  }
  record.set_repeated(subject.name(), seed, done.cases, done.failed);
  return done;
}

}  // namespace wt::fuzz
