// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/repeat.h - the cases of a seed that a record (record.h) has, run again by today's program.
//
// A case is a number of its seed. What stands at a number follows from the program: one of `simulated` is drawn from
// the kernels that are proposed, so that a number whose kernel is proposed no longer has another case today.
#pragma once

#include <filesystem>

#include "tests/fuzz/fuzzer.h"
#include "tests/fuzz/record.h"

namespace wt::fuzz {

struct Repetition {
  int64_t cases = 0, failed = 0;
};

// All cases of the seed from its first, for so many seconds at most; what fails is kept in the folder, and the others
// go on. The record says how many were run again and how many of them failed, beside what it has of the first time.
Repetition repeat(const Subject& subject, uint64_t seed, double seconds, const std::filesystem::path& regressions,
                  Record& record);

}  // namespace wt::fuzz
