// SPDX-License-Identifier: Apache-2.0
// The log reads its environment once, so each case runs in a process of its own.
#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/files.h"

namespace wt {
namespace {

namespace fs = std::filesystem;

// What lands in the file WAVETILE_LOG_FILE names when `body` runs with the level in a child.
std::string logged(const char* level, void (*body)()) {
  const fs::path path = fs::path(testing::TempDir()) / fmt::format("wavetile_log_{}", ::getpid());
  fs::remove(path);
  const pid_t child = ::fork();
  if (child == 0) {
    level ? ::setenv("WAVETILE_LOG", level, 1) : ::unsetenv("WAVETILE_LOG");
    ::setenv("WAVETILE_LOG_FILE", path.c_str(), 1);
    body();
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  const Result<std::string> content = read_file(path);
  fs::remove(path);
  return content.ok() ? *content : "";
}

void speak() {
  log::debug("d{}", 1);
  log::info("i{}", 2);
  log::warn("w{}", 3);
  log::error("e{}", 4);
}

TEST(Log, DefaultsToWarnings) {
  const std::string text = logged(nullptr, speak);
  EXPECT_THAT(text,
              testing::AllOf(testing::HasSubstr("wavetile warning: w3\n"), testing::HasSubstr("wavetile error: e4\n")));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("i2")));
}

TEST(Log, FollowsTheLevel) {
  EXPECT_THAT(logged("debug", speak),
              testing::AllOf(testing::HasSubstr("d1"), testing::HasSubstr("i2"), testing::HasSubstr("e4")));
  EXPECT_THAT(logged("error", speak), testing::AllOf(testing::Not(testing::HasSubstr("w3")), testing::HasSubstr("e4")));
  EXPECT_EQ(logged("off", speak), "");
}

TEST(Log, ComplainsOfAnUnknownLevel) {
  EXPECT_THAT(logged("loud", speak),
              testing::HasSubstr("WAVETILE_LOG=loud is not a level; use trace, debug, info, warn, error or off"));
}

TEST(Log, DoesNotFormatWhatNobodyReads) {
  EXPECT_EQ(logged("error",
                   [] {
                     if (log::enabled(log::Level::kDebug)) std::abort();
                   }),
            "");
}

TEST(Log, MessagesAreNotFormatStrings) {
  EXPECT_THAT(logged("warn", [] { log::write(log::Level::kWarn, "literal {} {0}"); }),
              testing::HasSubstr("literal {} {0}"));
}

}  // namespace
}  // namespace wt
