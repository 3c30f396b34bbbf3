// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/whole_rows_test.cc - how far copied rows lie apart.
#include <gtest/gtest.h>

#include "dispatch/bind_whole_rows.h"

namespace wt {
namespace {

TEST(WholeRows, CrossFewLinesWhereThatIsCheap) {
  EXPECT_EQ(whole_row_bytes(84), 128) << "a row of a patch of 14 pixels";
  EXPECT_EQ(whole_row_bytes(40), 64);
  EXPECT_EQ(whole_row_bytes(6), 16);
  EXPECT_EQ(whole_row_bytes(1176), 1280);
  EXPECT_EQ(whole_row_bytes(72), 80) << "lines would take more than a third as much again";
  EXPECT_EQ(whole_row_bytes(134), 144);
  for (int64_t bytes = 1; bytes < 2000; ++bytes) {
    EXPECT_GE(whole_row_bytes(bytes), bytes);
    EXPECT_EQ(whole_row_bytes(bytes) % 16, 0);
  }
}

}  // namespace
}  // namespace wt
