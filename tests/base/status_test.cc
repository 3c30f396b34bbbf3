// SPDX-License-Identifier: Apache-2.0
#include "base/status.h"

#include <gtest/gtest.h>

#include <memory>

namespace wt {
namespace {

TEST(Status, IsGoodUnlessItFailed) {
  EXPECT_TRUE(Status().ok());
  EXPECT_EQ(Status().code(), Code::kOk);
  EXPECT_EQ(Status().message(), "");
}

TEST(Status, CarriesCodeAndValues) {
  const Status bad = bad_input("c={} is not a multiple of g={}", 12, 5);
  EXPECT_FALSE(bad.ok());
  EXPECT_EQ(bad.code(), Code::kBadInput);
  EXPECT_EQ(bad.message(), "c=12 is not a multiple of g=5");
  EXPECT_EQ(unsupported("no {}", "kernel").code(), Code::kUnsupported);
  const Status device = failure(Code::kDevice, "driver says {:#x}", 35);
  EXPECT_EQ(device.code(), Code::kDevice);
  EXPECT_EQ(device.message(), "driver says 0x23");
}

TEST(Status, GainsContextOnTheWayOut) {
  const Status inner = failure(Code::kIo, "no such file");
  const Status outer = inner.with_context("loading p.wtpack");
  EXPECT_EQ(outer.code(), Code::kIo);
  EXPECT_EQ(outer.message(), "loading p.wtpack: no such file");
  EXPECT_TRUE(Status().with_context("anything").ok());
  EXPECT_EQ(Status().with_context("anything").message(), "");
}

Result<int> half(int number) {
  if (number % 2) return bad_input("{} is odd", number);
  return number / 2;
}

Result<int> quarter(int number) {
  WT_TRY_ASSIGN(const int first, half(number));
  WT_TRY_ASSIGN(const int second, half(first));
  return second;
}

Status is_even(int number) {
  WT_TRY(half(number).status());
  return {};
}

TEST(Result, HoldsAValueOrTheReason) {
  EXPECT_TRUE(half(4).ok());
  EXPECT_EQ(half(4).value(), 2);
  EXPECT_EQ(*half(4), 2);
  EXPECT_TRUE(half(4).status().ok());
  EXPECT_FALSE(half(3).ok());
  EXPECT_EQ(half(3).status().message(), "3 is odd");
}

TEST(Result, TriesReturnTheFirstFailure) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(6).status().message(), "3 is odd");
  EXPECT_EQ(quarter(5).status().message(), "5 is odd");
  EXPECT_TRUE(is_even(2).ok());
  EXPECT_EQ(is_even(7).code(), Code::kBadInput);
}

TEST(Result, MovesValuesThatCannotBeCopied) {
  const auto make = []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(5); };
  const auto pass = [&]() -> Result<std::unique_ptr<int>> {
    WT_TRY_ASSIGN(std::unique_ptr<int> number, make());
    ++*number;
    return number;
  };
  Result<std::unique_ptr<int>> result = pass();
  ASSERT_TRUE(result.ok());
  const std::unique_ptr<int> number = std::move(result).value();
  EXPECT_EQ(*number, 6);
}

TEST(Result, ReachesIntoItsValue) {
  Result<std::string> text = std::string("abc");
  EXPECT_EQ(text->size(), 3u);
  text->push_back('d');
  EXPECT_EQ(*text, "abcd");
}

}  // namespace
}  // namespace wt
