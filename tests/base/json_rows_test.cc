// SPDX-License-Identifier: Apache-2.0
#include "base/json_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace wt {
namespace {

using Json = nlohmann::ordered_json;

TEST(JsonRows, GivesEveryRowALine) {
  const Json row = {{"name", "a"}, {"text", std::string(100, 'x')}};
  const Json document = {{"schema", 1},
                         {"short", {1, 2}},
                         {"rows", {row, row}},
                         {"table", {{"y", row}, {"z", Json::object()}}},
                         {"empty", Json::array()}};
  const std::string text = json_rows(document);
  EXPECT_EQ(Json::parse(text), document);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 13) << text;
  EXPECT_EQ(text.find("{\n\"schema\": 1,\n\"short\": [1,2],\n\"rows\": [\n{\"name\":"), 0u) << text;
  EXPECT_NE(text.find("\n\"z\":{}\n}"), std::string::npos) << text;
}

TEST(JsonRows, WritesWhatIsNoObjectOnOneLine) {
  EXPECT_EQ(json_rows(Json::array({1, "a"})), "[1,\"a\"]\n");
  EXPECT_EQ(json_rows(Json::object()), "{}\n");
}

TEST(JsonRows, ReplacesBytesThatAreNoText) {
  EXPECT_EQ(json_rows({{"name", "gpu\xff"}}), "{\n\"name\": \"gpu\xEF\xBF\xBD\"\n}\n");
}

}  // namespace
}  // namespace wt
