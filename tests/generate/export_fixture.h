// SPDX-License-Identifier: Apache-2.0
// tests/generate/export_fixture.h - a folder of its own for each test, and the device headers.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/files.h"
#include "compile/embedded_headers.h"
#include "generate/export.h"
#include "rules/rules.h"

namespace wt {

inline std::vector<DeviceHeader> device_headers() {
  std::vector<DeviceHeader> headers;
  for (const compile::EmbeddedHeader& header : compile::embedded_headers())
    headers.push_back({std::string(header.name), std::string(header.text)});
  return headers;
}

class ExportFixture : public testing::Test {
 protected:
  void SetUp() override {
    const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
    root_ = std::filesystem::temp_directory_path() / fmt::format("wt_export_{}_{}", test->name(), getpid());
    std::filesystem::create_directories(folder());
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  std::filesystem::path folder() const { return root_ / "tree"; }
  std::string text(const std::string& name) const {
    const Result<std::string> content = read_file(folder() / name);
    EXPECT_TRUE(content.ok()) << name;
    return content.ok() ? *content : "";
  }
  ExportRequest tiny_request() const {
    return {.folder = folder(),
            .target = {Target::kSm80, true},
            .rule_set = "tiny",
            .kernels = list_kernels({.target = Target::kSm80, .rule_set = RuleSet::kTiny}).kernels,
            .headers = device_headers()};
  }

 private:
  std::filesystem::path root_;
};

}  // namespace wt
