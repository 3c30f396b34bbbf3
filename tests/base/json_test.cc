// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <gmock/gmock.h>

#include "tests/address_sanitizer.h"
#define WT_SCARCE_ELSEWHERE  // parallel_test.cc
#include "tests/scarce_memory.h"

namespace wt {
namespace {

using ::testing::HasSubstr;

std::string nested(int levels, const std::string& open, const std::string& close) {
  std::string text;
  for (int i = 0; i < levels; ++i) text += open;
  text += "1";
  for (int i = 0; i < levels; ++i) text += close;
  return text;
}

TEST(Json, IsReadUpToTheLimitOfItsNesting) {
  EXPECT_TRUE(parse_json(nested(kMaxJsonNesting, "[", "]")).ok());
  EXPECT_TRUE(parse_json(nested(kMaxJsonNesting, "{\"a\":", "}")).ok());
  for (const int levels : {kMaxJsonNesting + 1, 1'000'000}) {
    EXPECT_THAT(parse_json(nested(levels, "[", "]")).status().message(), HasSubstr("nested deeper than 64 levels"));
    EXPECT_THAT(parse_json(nested(levels, "{\"a\":", "}")).status().message(), HasSubstr("nested deeper"));
  }
}

TEST(Json, BracketsInStringsAreText) {
  const std::string brackets(1000, '[');
  EXPECT_EQ(*parse_json("\"" + brackets + "\""), brackets);
  EXPECT_TRUE(parse_json("[\"\\\"" + brackets + "\"]").ok()) << "after an escaped quote the string goes on";
  EXPECT_FALSE(parse_json("[\"\\\\\"," + brackets + "]").ok()) << "after an escaped backslash it has ended";
}

TEST(Json, WhatIsNoJsonIsRefused) {
  for (const char* text : {"", "{", "]", "nonsense", "{\"a\":1}}", "\xff"}) EXPECT_FALSE(parse_json(text).ok()) << text;
}

// Making, copying and taking apart values of every depth: whichever allocation fails, or all from there on, the caller
// gets an exception that it can catch. A value of nlohmann::json ends the process instead, in its destructor.
TEST(Json, ValuesAreTakenApartWhereMemoryHasRunOut) {
  const std::string text =
      R"({"a": [1, 2, {"b": [3, [4, "a string that is too long for its place"]]}], "c": {"d": {}}})";
  // WHY: nlohmann's constructors of objects and lists lose what they have allocated where the next allocation fails.
  const LeaksAllowed leaks;
  for (const scarce::From from : {scarce::From::kOnce, scarce::From::kThenOn}) {
    int exhausted = 0;
    bool reached = true;
    for (long nth = 1; reached && nth < 10'000; ++nth) {
      const scarce::Memory memory(nth, from);
      try {
        const Result<OrderedJson> read = parse_json(text);
        const Result<JsonValue> sorted = parse_json<JsonValue>(text);
        const OrderedJson made = {{"x", 1}, {"list", {1, 2, {{"z", *read}}}}}, copy = made;
        (void)copy.dump();
      } catch (const std::bad_alloc&) {
        ++exhausted;
      }
      reached = memory.ran_out();
    }
    EXPECT_FALSE(reached) << "more allocations than were tried";
    EXPECT_GT(exhausted, 50);
  }
  EXPECT_EQ(parse_json(text)->dump().size(), parse_json<JsonValue>(text)->dump().size());
}

TEST(Json, IntegersAreCheckedBeforeTheyAreConverted) {
  const auto value = [](const std::string& number) {
    return json_integer(*parse_json("{\"n\":" + number + "}"), "n", -1, 1000);
  };
  EXPECT_EQ(*value("-1"), -1);
  EXPECT_EQ(*value("1000"), 1000);
  for (const char* bad : {"-2", "1001", "4294967296", "18446744073709551615", "-9223372036854775808", "1e300", "1.0",
                          "\"1\"", "null", "[1]", "true"}) {
    EXPECT_THAT(value(bad).status().message(), HasSubstr("n is not a whole number from -1 to 1000")) << bad;
  }
  EXPECT_THAT(json_integer(*parse_json("{}"), "n", 0, 1).status().message(), HasSubstr("n is missing"));
  EXPECT_THAT(json_integer(*parse_json("[]"), "n", 0, 1).status().message(), HasSubstr("n is missing"));
}

}  // namespace
}  // namespace wt
