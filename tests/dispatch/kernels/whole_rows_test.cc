// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/whole_rows_test.cc - how far copied rows lie apart.
#include <gtest/gtest.h>

#include "kernels/beside/whole_rows.h"

namespace wt {
namespace {

TEST(WholeRows, LieWholeChunksApart) {
  EXPECT_EQ(whole_row_bytes(84), 96) << "a row of a patch of 14 pixels";
  EXPECT_EQ(whole_row_bytes(6), 16);
  EXPECT_EQ(whole_row_bytes(1176), 1184);
}

}  // namespace
}  // namespace wt
