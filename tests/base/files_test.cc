// SPDX-License-Identifier: Apache-2.0
#include "base/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

namespace wt {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::path(testing::TempDir()) / "wavetile_files_XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  size_t entries() const { return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {})); }

  fs::path folder_;
};

// A variable of the environment for as long as this lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    value ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  ~Variable() { old_ ? ::setenv(name_, old_->c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

TEST_F(Files, ReadBackWhatWasWritten) {
  std::string content = "line\n";
  content += '\0';
  content += "\xff\r\n";
  content.resize(300000, 'x');
  ASSERT_TRUE(write_file(folder_ / "a.bin", content).ok());
  EXPECT_EQ(*read_file(folder_ / "a.bin"), content);
  ASSERT_TRUE(write_file(folder_ / "a.bin", "").ok());
  EXPECT_EQ(*read_file(folder_ / "a.bin"), "");
  EXPECT_EQ(entries(), 1u) << "a temporary file was left";
}

TEST_F(Files, FoldersAreMade) {
  ASSERT_TRUE(write_file(folder_ / "x/y/z.txt", "deep").ok());
  EXPECT_EQ(*read_file(folder_ / "x/y/z.txt"), "deep");
}

TEST_F(Files, AreOrdinaryFiles) {
  const mode_t mask = ::umask(022);
  ASSERT_TRUE(write_file(folder_ / "a", "x").ok());
  ::umask(mask);
  struct stat status;
  ASSERT_EQ(::stat((folder_ / "a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0644u);
}

TEST_F(Files, FailuresNameThePathAndTheReason) {
  const Status absent = read_file(folder_ / "absent").status();
  EXPECT_EQ(absent.code(), Code::kIo);
  EXPECT_THAT(absent.message(),
              testing::AllOf(testing::HasSubstr("cannot open"), testing::HasSubstr((folder_ / "absent").string()),
                             testing::HasSubstr("No such file")));
  ASSERT_TRUE(write_file(folder_ / "file", "x").ok());
  const Status below = write_file(folder_ / "file/below", "x");
  EXPECT_EQ(below.code(), Code::kIo);
  EXPECT_THAT(below.message(), testing::HasSubstr("cannot make folder"));
  fs::create_directory(folder_ / "taken");
  const Status taken = write_file(folder_ / "taken", "x");
  EXPECT_EQ(taken.code(), Code::kIo);
  EXPECT_THAT(taken.message(), testing::HasSubstr("cannot rename to"));
  EXPECT_EQ(entries(), 2u) << "a temporary file was left";
}

// Readers see one whole content or another, never a mixture or half of one.
TEST_F(Files, AreReplacedWhole) {
  const fs::path path = folder_ / "shared";
  const std::string a(100000, 'a'), b(150000, 'b');
  ASSERT_TRUE(write_file(path, a).ok());
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (int i = 0; i < 60; ++i) ASSERT_TRUE(write_file(path, i % 2 ? a : b).ok());
    done = true;
  });
  while (!done) {
    const Result<std::string> content = read_file(path);
    ASSERT_TRUE(content.ok());
    ASSERT_TRUE(*content == a || *content == b) << content->size();
  }
  writer.join();
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, UserFoldersFollowTheEnvironment) {
  {
    const Variable cache("XDG_CACHE_HOME", "/c"), data("XDG_DATA_HOME", "/d");
    EXPECT_EQ(*cache_folder(), "/c/wavetile");
    EXPECT_EQ(*data_folder(), "/d/wavetile");
  }
  {
    const Variable cache("XDG_CACHE_HOME", nullptr), data("XDG_DATA_HOME", ""), home("HOME", "/h");
    EXPECT_EQ(*cache_folder(), "/h/.cache/wavetile");
    EXPECT_EQ(*data_folder(), "/h/.local/share/wavetile");
  }
  const Variable cache("XDG_CACHE_HOME", nullptr), home("HOME", nullptr);
  EXPECT_EQ(cache_folder().status().code(), Code::kIo);
  EXPECT_THAT(cache_folder().status().message(), testing::HasSubstr("set XDG_CACHE_HOME"));
}

}  // namespace
}  // namespace wt
