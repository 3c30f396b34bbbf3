// SPDX-License-Identifier: Apache-2.0
// tests/target/builtins_test.cc - the simulator runs no builtin of a GPU's compiler either: each wrapper of src/target
// that calls one is held to a row written from the manuals.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "tests/places.h"
#include "tests/target/builtin_rows.h"
#include "tests/target/calls.h"

namespace wt::device_text {
namespace {

namespace fs = std::filesystem;

// By "file: wrapper".
std::map<std::string, std::vector<Call>> wrappers_in(const char* folder) {
  std::map<std::string, std::vector<Call>> wrappers;
  const fs::path headers = fs::path(places::kSourceTree) / "src/target" / folder;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(headers)) {
    const Result<std::string> text = read_file(entry.path());
    EXPECT_TRUE(text.ok()) << text.status().message();
    if (!text.ok()) continue;
    for (const Wrapper& wrapper : calls_of(*text)) {
      const std::string name = entry.path().filename().string() + ": " + wrapper.name;
      EXPECT_TRUE(wrappers.emplace(name, wrapper.calls).second) << name << " stands twice";
    }
  }
  return wrappers;
}

class Builtins : public testing::TestWithParam<const char*> {
 protected:
  std::vector<BuiltinRow> rows() const {
    return GetParam() == std::string("cuda") ? cuda_builtin_rows() : amd_builtin_rows();
  }
};

TEST_P(Builtins, EveryCallIsWhatTheManualAsksFor) {
  std::map<std::string, std::vector<Call>> wrappers = wrappers_in(GetParam());
  for (const BuiltinRow& row : rows()) {
    const std::string name = row.file + ": " + row.wrapper;
    const auto found = wrappers.find(name);
    ASSERT_NE(found, wrappers.end()) << name << " has a row and no call, or a second row";
    EXPECT_EQ(shown(found->second), row.calls) << name;
    wrappers.erase(found);
  }
  for (const auto& [name, calls] : wrappers) ADD_FAILURE() << name << " has no row: " << shown(calls);
}

TEST_P(Builtins, LostPartsAreNoticed) {
  const std::map<std::string, std::vector<Call>> wrappers = wrappers_in(GetParam());
  int tried = 0;
  for (const BuiltinRow& row : rows()) {
    const auto found = wrappers.find(row.file + ": " + row.wrapper);
    ASSERT_NE(found, wrappers.end()) << row.wrapper;
    for_each_mutation(found->second, [&](const char* kind, const std::vector<Call>& mutated) {
      ++tried;
      EXPECT_NE(shown(mutated), row.calls) << row.wrapper << ": " << kind;
    });
  }
  RecordProperty("mutations", tried);
  EXPECT_GT(tried, 60);
}

INSTANTIATE_TEST_SUITE_P(Families, Builtins, testing::Values("cuda", "amd"));

}  // namespace
}  // namespace wt::device_text
