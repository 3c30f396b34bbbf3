// SPDX-License-Identifier: Apache-2.0
// The formatting functions are compiled by hand (base/format.cc); this exercises each kind of argument once.
#include "base/format.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace wt {
namespace {

TEST(Format, IntegersOfEveryWidth) {
  EXPECT_EQ(fmt::format("{} {} {} {}", int8_t{-5}, uint16_t{6}, -7, 8u), "-5 6 -7 8");
  EXPECT_EQ(fmt::format("{}", std::numeric_limits<int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(fmt::format("{:x} {:#010x} {:5}|{:<5}|{:05}", 255, 255, 42, 42, 42), "ff 0x000000ff    42|42   |00042");
}

TEST(Format, FloatsPrintTheShortestThatReadsBack) {
  EXPECT_EQ(fmt::format("{} {} {}", 0.1f, 0.1, 1e20f), "0.1 0.1 1e+20");
  EXPECT_EQ(fmt::format("{} {} {}", 1.0f / 3, 1.0 / 3, -0.0f), "0.33333334 0.3333333333333333 -0");
  EXPECT_EQ(fmt::format("{:.3f} {:8.2f} {:.3g} {:e}", 3.14159, 2.5, 12345.678, 1.5),
            "3.142     2.50 1.23e+04 1.500000e+00");
  EXPECT_EQ(fmt::format("{} {}", std::numeric_limits<double>::infinity(), std::numeric_limits<float>::quiet_NaN()),
            "inf nan");
}

TEST(Format, TextAndOthers) {
  const std::string text = "abc";
  EXPECT_EQ(fmt::format("{} {} {} {:>5} {:.2}", text, std::string_view("d"), "e", "f", text), "abc d e     f ab");
  EXPECT_EQ(fmt::format("{} {} {{}}", true, 'c'), "true c {}");
  EXPECT_EQ(fmt::format("{1} {0}", 1, 2), "2 1");
  EXPECT_EQ(fmt::format("{:>{}}", 7, 4), "   7");
}

}  // namespace
}  // namespace wt
