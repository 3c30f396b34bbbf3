// SPDX-License-Identifier: Apache-2.0
// tests/generate/export_fixture.h - a folder of its own for each test, and the device headers from the source tree.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files.h"
#include "config/rules.h"
#include "generate/export.h"

namespace wt {

inline std::filesystem::path source_tree() {
  return std::filesystem::path(__FILE__).parent_path().parent_path().parent_path() / "src";
}

// As compile::embedded_headers() gives them, which this room's tests do not link.
inline std::vector<DeviceHeader> device_headers() {
  std::vector<std::string> names = {"config/kernel_config.h", "problem/enums.h", "problem/user_types.h",
                                    "generate/exported_kernel.h"};
  for (const char* room : {"kernel", "target"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(source_tree() / room))
      if (entry.path().extension() == ".h")
        names.push_back(std::filesystem::relative(entry.path(), source_tree()).string());
  std::ranges::sort(names);
  std::vector<DeviceHeader> headers;
  for (const std::string& name : names) {
    const Result<std::string> text = read_file(source_tree() / name);
    EXPECT_TRUE(text.ok()) << name;
    if (text.ok()) headers.push_back({name, *text});
  }
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
