// SPDX-License-Identifier: Apache-2.0
// tests/base/architecture_test.cc - the files that docs/architecture.md names exist, where its trace says that they
// are.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "base/files.h"
#include "tests/places.h"

namespace wt {
namespace {

namespace fs = std::filesystem;

// A name is a path from the root, or the end of one, as a row that has named its folder writes it.
TEST(Architecture, NamesFilesThatExist) {
  const fs::path tree = fs::path(places::kSourceTree);
  std::vector<std::string> files;
  for (const char* folder : {"src", "include"})
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(tree / folder))
      if (entry.is_regular_file()) files.push_back("/" + fs::relative(entry.path(), tree).generic_string());
  ASSERT_GT(files.size(), 500u);
  const Result<std::string> page = read_file(tree / "docs/architecture.md");
  ASSERT_TRUE(page.ok()) << page.status().message();
  const std::regex name(R"([A-Za-z0-9_/]+\.(cc|h|hpp)\b)");
  int names = 0;
  for (std::sregex_iterator at(page->begin(), page->end(), name), end; at != end; ++at, ++names) {
    const std::string wanted = "/" + at->str();
    const bool exists = std::ranges::any_of(files, [&](const std::string& file) { return file.ends_with(wanted); });
    EXPECT_TRUE(exists) << "docs/architecture.md names " << at->str() << ", which is no file of src or include";
  }
  EXPECT_GT(names, 40);
}

// The second cell of a row of the trace: files by their way from the root, or from a folder of one before them in it.
TEST(Architecture, TracesACallThroughFilesWhereTheyAre) {
  const fs::path tree = fs::path(places::kSourceTree);
  const Result<std::string> page = read_file(tree / "docs/architecture.md");
  ASSERT_TRUE(page.ok()) << page.status().message();
  std::string trace = page->substr(std::min(page->find("## One call, traced"), page->size()));
  trace = trace.substr(0, trace.find("\n## ", 1));
  const std::regex row(R"(\n\| [^|]+ \| ([^|]+\.(?:cc|h)[^|]*) \|)"), name(R"([a-z0-9_/]+\.(?:cc|h))");
  int rows = 0;
  for (std::sregex_iterator at(trace.begin(), trace.end(), row), end; at != end; ++at, ++rows) {
    const std::string cell = (*at)[1];
    std::vector<fs::path> folders = {""};
    for (std::sregex_iterator file(cell.begin(), cell.end(), name); file != end; ++file) {
      const auto found = std::ranges::find_if(
          folders, [&](const fs::path& folder) { return fs::is_regular_file(tree / folder / file->str()); });
      ASSERT_NE(found, folders.end()) << "the row of '" << cell << "' says no folder in which " << file->str() << " is";
      for (fs::path folder = (*found / file->str()).parent_path(); !folder.empty(); folder = folder.parent_path())
        folders.push_back(folder);
    }
  }
  EXPECT_GE(rows, 12);
}

}  // namespace
}  // namespace wt
