// SPDX-License-Identifier: Apache-2.0
#include "compile/flights.h"
#include "compile/process.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <optional>
#include <thread>

#include "base/files.h"
#include "base/parallel.h"
#include "compile/cache.h"
#include "compile/process.h"
#include "tests/compile/scratch.h"

namespace wt::compile {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

// A compiler that says in a file when it starts and when it ends.
class FlightsTest : public Scratch {
 protected:
  FlightsTest() {
    const fs::path compiler = folder / "compiler";
    std::ofstream(compiler) << "#!/bin/sh\ncase \"$1\" in --version) echo counting 1.0; exit 0;; esac\necho + >> "
                            << journal() << "\nsleep 0.2\nc++ \"$@\"\ncode=$?\necho - >> " << journal()
                            << "\nexit $code\n";
    fs::permissions(compiler, fs::perms::owner_all);
    set("WAVETILE_CXX", compiler.string());
  }
  fs::path journal() const { return folder / "journal"; }

  struct Count {
    int started = 0, most_at_once = 0;
  };
  Count count() const {
    Count result;
    int running = 0;
    std::ifstream file(journal());
    for (std::string line; std::getline(file, line);) {
      running += line == "+" ? 1 : -1;
      result.started += line == "+";
      result.most_at_once = std::max(result.most_at_once, running);
    }
    EXPECT_EQ(running, 0);
    return result;
  }

  template <class Body>
  static void in_threads(int count, const Body& body) {
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) threads.emplace_back([&, i] { body(i); });
    for (std::thread& thread : threads) thread.join();
  }

  template <class Body>
  static void in_processes(int count, const Body& body) {
    std::vector<pid_t> children;
    for (int i = 0; i < count; ++i) {
      children.push_back(::fork());
      ASSERT_GE(children.back(), 0);
      if (children.back() == 0) ::_exit(body(i) ? 0 : 1);
    }
    for (const pid_t child : children) {
      int status = -1;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      EXPECT_EQ(status, 0);
    }
  }
};

TEST_F(FlightsTest, ThreadsThatWantOneKernelStartOneCompiler) {
  for (const char* limit : {"", "0"}) {  // with the cache and without
    set("WAVETILE_CACHE_LIMIT_MB", limit);
    fs::remove(journal());
    std::atomic<int> good = 0;
    in_threads(16, [&](int) {
      const Result<Module> module = compile(Backend::kHost, host_source("wanted", 1));
      good += module.ok() && !module->image.empty();
    });
    EXPECT_EQ(good, 16);
    EXPECT_EQ(count().started, 1) << "limit " << limit;
  }
}

TEST_F(FlightsTest, ProcessesThatWantOneKernelStartOneCompiler) {
  in_processes(4, [](int) {
    const Result<Module> module = compile(Backend::kHost, host_source("wanted", 1));
    return module.ok() && !module->image.empty();
  });
  EXPECT_EQ(count().started, 1);
}

TEST_F(FlightsTest, NoMoreCompilersThanCores) {
  in_processes(2, [](int process) {
    std::atomic<int> good = 0;
    in_threads(2 * hardware_threads(), [&](int i) {
      good += compile(Backend::kHost, host_source(fmt::format("k_{}_{}", process, i), i)).ok();
    });
    return good == 2 * hardware_threads();
  });
  EXPECT_EQ(count().started, 4 * hardware_threads());
  EXPECT_LE(count().most_at_once, hardware_threads());
}

TEST_F(FlightsTest, AFailureIsSharedAndTriedAgainLater) {
  const Source bad{"refused", "#error not today\n", Target::kSm90a};
  std::atomic<int> refused = 0;
  in_threads(8, [&](int) {
    const Result<Module> module = compile(Backend::kHost, bad);
    refused += !module.ok() && module.status().message().find("not today") != std::string::npos;
  });
  EXPECT_EQ(refused, 8);
  EXPECT_EQ(count().started, 1);
  EXPECT_FALSE(compile(Backend::kHost, bad).ok());
  EXPECT_EQ(count().started, 2);
}

TEST_F(FlightsTest, AnExceptionReachesItsThreadAndDoesNotHoldUpOthers) {
  std::atomic<bool> started = false;
  Result<Module> other = Status();
  std::thread waiter([&] {
    while (!started) std::this_thread::yield();
    other = one_flight("k", [] { return Result<Module>(Module{.name = "mine"}); });
  });
  EXPECT_THROW(one_flight("k",
                          [&]() -> Result<Module> {
                            started = true;
                            std::this_thread::sleep_for(std::chrono::milliseconds(100));
                            throw std::bad_alloc();
                          }),
               std::bad_alloc);
  waiter.join();  // it waited for the flight that failed, or came after it
  if (!other.ok()) {
    EXPECT_THAT(other.status().message(), HasSubstr("ended with an exception"));
  }
}

TEST_F(FlightsTest, ALockEndsWithItsScopeAndItsWaitWithItsTime) {
  const fs::path file = folder / "lock";
  std::optional<ByteLock> first;
  first.emplace(file, 5, 1, 0.0);
  ASSERT_TRUE(first->held());
  EXPECT_FALSE(ByteLock(file, 5, 1, 0.05).held());
  EXPECT_TRUE(ByteLock(file, 6, 1, 0).held());
  EXPECT_TRUE(ByteLock(file, 5, 2, 0).held()) << "the second of the two is free";
  EXPECT_FALSE(ByteLock(folder / "absent" / "lock", 5, 1, 0).held());
  // A child that is made meanwhile does not keep the lock past its end.
  int gate[2];
  ASSERT_EQ(::pipe(gate), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char byte;
    ::close(gate[1]);
    [[maybe_unused]] const ssize_t count = ::read(gate[0], &byte, 1);
    ::_exit(0);
  }
  ::close(gate[0]);
  first.reset();
  EXPECT_TRUE(ByteLock(file, 5, 1, 0).held());
  ::close(gate[1]);
  ::waitpid(child, nullptr, 0);
}

// A child of a process in which another thread compiles gets its own module, without that thread.
TEST_F(FlightsTest, AChildForkedDuringACompilationCompilesForItself) {
  std::thread other([] { EXPECT_TRUE(compile(Backend::kHost, host_source("wanted", 1)).ok()); });
  while (!fs::exists(journal())) std::this_thread::yield();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::alarm(60);
    ::_exit(compile(Backend::kHost, host_source("wanted", 1)).ok() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  other.join();
}

// A process that lives on with the pipe of a compiler holds nobody up: here it is a child of the compiler itself.
TEST_F(FlightsTest, AnInheritedPipeHoldsNobodyUp) {
  const auto start = std::chrono::steady_clock::now();
  const Result<ProcessResult> result = run_process({"/bin/sh", "-c", "sleep 30 & echo done; exit 3"}, 20);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->exit_code, 3);
  EXPECT_EQ(result->output, "done\n");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(15));
}

// Storing looks at the sum in a file and not at all entries.
TEST_F(FlightsTest, StoringDoesNotLookAtAllEntries) {
  const auto module_of = [](int number) {
    Module module;
    module.name = fmt::format("k{}", number);
    module.key = fmt::format("{:032x}", number);
    module.image = std::string(10'000, 'x');
    return module;
  };
  const fs::path root = folder / "own", usage = root / "usage";
  const Cache large(root, 1 << 30), small(root, 35'000);
  for (int i = 0; i < 5; ++i) {
    Module module = module_of(i);
    ASSERT_TRUE(large.store(module).ok());
  }
  const uint64_t entry = fs::file_size(large.list()->front().path);
  EXPECT_EQ(*read_file(usage), std::to_string(5 * entry));
  ASSERT_TRUE(write_file(usage, "0").ok());  // had it looked, it would have seen too much
  Module sixth = module_of(5);
  ASSERT_TRUE(small.store(sixth).ok());
  EXPECT_EQ(small.list()->size(), 6u);
  for (const char* wrong : {"99999999", "nonsense", "", "-1", "99999999999999999999999999"}) {
    ASSERT_TRUE(write_file(usage, wrong).ok());
    ASSERT_TRUE(small.store(sixth).ok());
    EXPECT_EQ(small.list()->size(), 3u) << wrong;
    EXPECT_EQ(*read_file(usage), std::to_string(3 * entry)) << wrong;
    for (int i = 0; i < 5; ++i) {
      Module module = module_of(i);
      ASSERT_TRUE(large.store(module).ok());
    }
  }
}

}  // namespace
}  // namespace wt::compile
