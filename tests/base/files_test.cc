// SPDX-License-Identifier: Apache-2.0
#include "base/files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <thread>
#include <vector>

#define WT_SCARCE_ELSEWHERE  // parallel_test.cc
#include "tests/scarce_memory.h"

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

mode_t mode_of(const fs::path& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 0777;
}

TEST_F(Files, KindsSayWhoMayWrite) {
  const mode_t mask = ::umask(002);
  ASSERT_TRUE(write_file(folder_ / "ordinary", "x").ok());
  ASSERT_TRUE(write_file(folder_ / "durable", "x", FileKind::kDurable).ok());
  ASSERT_TRUE(write_file(folder_ / "own/deeper/private", "x", FileKind::kPrivate).ok());
  ::umask(mask);
  EXPECT_EQ(mode_of(folder_ / "ordinary"), 0664u);
  EXPECT_EQ(mode_of(folder_ / "durable"), 0644u);
  EXPECT_EQ(mode_of(folder_ / "own/deeper/private"), 0600u);
  EXPECT_EQ(mode_of(folder_ / "own/deeper"), 0700u);
  EXPECT_EQ(mode_of(folder_ / "own"), 0700u);
}

// Another thread asks for the mask all the while; the kernel tells it without a change.
TEST_F(Files, TheMaskOfTheProcessIsLeftAlone) {
  const mode_t mask = ::umask(077);
  std::atomic<bool> done = false;
  std::atomic<int> changed = 0;
  std::thread watcher([&] {
    while (!done) {
      std::ifstream status("/proc/self/status");
      for (std::string line; std::getline(status, line);)
        if (line.starts_with("Umask:") && line != "Umask:\t0077") ++changed;
    }
  });
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i)
    writers.emplace_back([&, i] {
      for (int n = 0; n < 500; ++n) ASSERT_TRUE(write_file(folder_ / std::to_string(i), "x").ok());
    });
  for (std::thread& writer : writers) writer.join();
  done = true;
  watcher.join();
  EXPECT_EQ(::umask(mask), 077u);
  EXPECT_EQ(changed, 0);
}

TEST_F(Files, OnlyRegularFilesAreRead) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(read_file(folder_ / "pipe").status().message(), testing::HasSubstr("it is a pipe, not a file"));
  EXPECT_THAT(read_file("/dev/zero").status().message(), testing::HasSubstr("it is a device, not a file"));
  EXPECT_THAT(read_file(folder_).status().message(), testing::HasSubstr("it is a folder, not a file"));
  EXPECT_FALSE(read_file("/proc/self/status")->empty()) << "a file that says it has no bytes";
}

TEST_F(Files, WhatOthersCanWriteIsNotTrusted) {
  const fs::path file = folder_ / "code";
  ASSERT_TRUE(write_file(file, "x", FileKind::kPrivate).ok());
  EXPECT_EQ(*read_trusted_file(file), "x");
  for (const mode_t mode : {0620, 0602, 0666}) {
    ASSERT_EQ(::chmod(file.c_str(), mode), 0);
    EXPECT_THAT(read_trusted_file(file).status().message(),
                testing::AllOf(testing::HasSubstr("can be written by other users"), testing::HasSubstr("chmod go-w")));
    EXPECT_TRUE(read_file(file).ok());
  }
  EXPECT_TRUE(check_trusted_folder(folder_).ok());
  EXPECT_TRUE(check_trusted_folder(folder_ / "absent").ok());
  ASSERT_EQ(::chmod(folder_.c_str(), 0777), 0);
  EXPECT_THAT(check_trusted_folder(folder_).message(), testing::HasSubstr("can be written by other users (mode 777)"));
}

TEST_F(Files, WhatAnotherUserOwnsIsNotTrusted) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const fs::path file = folder_ / "code";
  ASSERT_TRUE(write_file(file, "x", FileKind::kPrivate).ok());
  ASSERT_EQ(::chown(file.c_str(), 12345, 12345), 0);
  EXPECT_THAT(
      read_trusted_file(file).status().message(),
      testing::AllOf(testing::HasSubstr("belongs to user 12345"), testing::HasSubstr("WAVETILE_TRUSTED_USERS=12345")));
  const Variable users("WAVETILE_TRUSTED_USERS", "7,12345 9");
  EXPECT_EQ(*read_trusted_file(file), "x");
  ASSERT_EQ(::chmod(file.c_str(), 0666), 0);
  EXPECT_FALSE(read_trusted_file(file).ok()) << "that user may, others may not";
}

TEST_F(Files, PartsAreReadFromTheOpenFile) {
  const fs::path file = folder_ / "parts";
  ASSERT_TRUE(write_file(file, "0123456789").ok());
  const Result<InputFile> input = InputFile::open(file);
  ASSERT_TRUE(input.ok());
  ASSERT_TRUE(write_file(file, "abcdefghij").ok());
  EXPECT_EQ(*input->read(3, 4), "3456") << "the file of that name is another one by now";
  EXPECT_EQ(*input->read(10, 0), "");
  for (const auto& [offset, size] : {std::pair<uint64_t, uint64_t>{11, 0}, {0, 11}, {5, 6}, {5, ~uint64_t{0}}})
    EXPECT_FALSE(input->read(offset, size).ok()) << offset << " " << size;
}

TEST_F(Files, OneThatBecomesShorterIsAFailure) {
  const fs::path file = folder_ / "shrinks";
  ASSERT_TRUE(write_file(file, std::string(10000, 'x')).ok());
  const Result<InputFile> input = InputFile::open(file);
  ASSERT_TRUE(input.ok());
  fs::resize_file(file, 5000);
  EXPECT_EQ(input->read()->size(), 5000u);
  EXPECT_THAT(input->read(4000, 2000).status().message(), testing::HasSubstr("became shorter"));
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

// Whichever allocation fails, the file is the old or the new one, and neither a file beside it nor an open one is left.
TEST_F(Files, MemoryThatRunsOutLeavesNothingBehind) {
  const fs::path path = folder_ / "a name that is too long for the place of short ones/file";
  ASSERT_TRUE(write_file(path, "old").ok());
  const auto open_files = [] {
    int count = 0;
    for (int file = 0; file < 1024; ++file) count += ::fcntl(file, F_GETFD) >= 0;
    return count;
  };
  const int before = open_files();
  int exhausted = 0;
  bool reached = true;
  for (long nth = 1; reached && nth < 1000; ++nth) {
    {
      const scarce::Memory memory(nth);
      try {
        const Status status = write_file(path, "new", FileKind::kPrivate);
        if (!status.ok()) ADD_FAILURE() << status.message();
      } catch (const std::bad_alloc&) {
        ++exhausted;
      }
      reached = memory.ran_out();
    }
    EXPECT_EQ(open_files(), before) << "allocation " << nth;
    EXPECT_EQ(std::distance(fs::directory_iterator(path.parent_path()), fs::directory_iterator()), 1) << nth;
    const std::string content = *read_file(path);
    EXPECT_TRUE(content == "old" || content == "new") << content;
  }
  EXPECT_FALSE(reached);
  EXPECT_GT(exhausted, 3);
  EXPECT_EQ(*read_file(path), "new");
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
