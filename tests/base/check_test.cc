// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"

#include <gtest/gtest.h>

namespace wt {
namespace {

TEST(CheckDeathTest, AbortsWithConditionValuesAndPlace) {
  const int tiles = 3;
  EXPECT_DEATH(WT_CHECK(tiles == 4, "tiles={}", tiles),
               "internal error at .*check_test.cc:[0-9]+: tiles == 4: tiles=3");
  EXPECT_DEATH(WT_CHECK(tiles == 4), "internal error at .*tiles == 4\n");
}

TEST(Check, LetsTrueConditionsPassAndLooksOnce) {
  int looked = 0;
  WT_CHECK(++looked == 1, "looked {} times", looked);
  EXPECT_EQ(looked, 1);
}

}  // namespace
}  // namespace wt
