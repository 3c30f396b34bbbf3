// SPDX-License-Identifier: Apache-2.0
// tests/planted/bugs_slow_test.cc - one of the planted bugs that the quick tests leave out for each kernel, or all.
#include "tests/planted/harness.h"

namespace wt::planted {

TEST_P(PlantedBugs, AreFound) { run_bugs(false); }
INSTANTIATE_TEST_SUITE_P(Kernels, PlantedBugs, testing::ValuesIn(kernels_with(false)), test_name);

}  // namespace wt::planted
