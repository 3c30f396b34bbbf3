// SPDX-License-Identifier: Apache-2.0
#include "problem/choice.h"

#include <gtest/gtest.h>

namespace wt {
namespace {

TEST(LastProblem, IsFoundByItsFieldsOrByTheChoice) {
  ConvProblem first, other;
  other.n = 7;
  LastProblem last;
  EXPECT_FALSE(last.is(first)) << "nothing is remembered yet";
  last.set(first);
  EXPECT_TRUE(last.is(first));
  EXPECT_FALSE(last.is(other));
  const ConvProblem copy = first;
  EXPECT_TRUE(last.is(copy));
  {
    const ChoiceScope scope(other);
    EXPECT_FALSE(last.is(other)) << "remembered before the choice, of another problem";
    last.set(other);
    EXPECT_TRUE(last.is(other));
    EXPECT_FALSE(last.is(first));
  }
  EXPECT_TRUE(last.is(other));
}

// A problem that was changed between two choices is another one, though it lies in the same place.
TEST(LastProblem, DoesNotOutliveItsChoice) {
  ConvProblem problem;
  LastProblem last;
  {
    const ChoiceScope scope(problem);
    last.set(problem);
  }
  problem.c = 64;
  EXPECT_FALSE(last.is(problem));
  const ChoiceScope scope(problem);
  EXPECT_FALSE(last.is(problem));
}

TEST(ChoiceScope, Nests) {
  const ConvProblem outer, inner;
  const ChoiceScope first(outer);
  const uint64_t number = ChoiceScope::number_of(outer);
  EXPECT_NE(number, 0u);
  {
    const ChoiceScope second(inner);
    EXPECT_EQ(ChoiceScope::number_of(outer), 0u);
    EXPECT_NE(ChoiceScope::number_of(inner), number);
  }
  EXPECT_EQ(ChoiceScope::number_of(outer), number);
}

}  // namespace
}  // namespace wt
