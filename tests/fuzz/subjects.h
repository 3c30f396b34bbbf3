// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/subjects.h - what is fuzzed.
#pragma once

#include <memory>
#include <vector>

#include "tests/fuzz/fuzzer.h"

namespace wt::fuzz {

std::vector<std::unique_ptr<Subject>> subjects();

}  // namespace wt::fuzz
