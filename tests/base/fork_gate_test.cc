// SPDX-License-Identifier: Apache-2.0
#include "base/fork_gate.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

namespace wt {
namespace {

int exit_code_of(pid_t child) {
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Without the gate the lock would be held in some of the children, for ever.
TEST(ForkGate, AChildHasNoLockOfAnotherThread) {
  std::mutex mutex;
  std::atomic<bool> done = false;
  std::thread busy([&] {
    while (!done) {
      const ForkGate::Inside inside;
      const std::lock_guard lock(mutex);
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  for (int i = 0; i < 50; ++i) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::alarm(20);
      const ForkGate::Inside inside;
      ::_exit(mutex.try_lock() ? 0 : 1);
    }
    ASSERT_EQ(exit_code_of(child), 0) << i;
  }
  done = true;
  busy.join();
}

TEST(ForkGate, WhoIsAwayHoldsUpNobody) {
  std::atomic<bool> away_now = false, done = false;
  std::thread far([&] {
    const ForkGate::Inside inside, nested;
    const ForkGate::Away away;
    away_now = true;
    while (!done) std::this_thread::yield();
  });
  while (!away_now) std::this_thread::yield();
  const pid_t child = ::fork();  // would not return
  if (child == 0) ::_exit(0);
  EXPECT_EQ(exit_code_of(child), 0);
  done = true;
  far.join();
}

TEST(ForkGate, AThreadMayForkFromInside) {
  const ForkGate::Inside inside;
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    const ForkGate::Inside nested;
    ::_exit(0);
  }
  EXPECT_EQ(exit_code_of(child), 0);
}

TEST(ForkGate, CountsForksAndRepairs) {
  static int repaired = 0;
  ForkGate::in_child([] { ++repaired; });
  const int before = ForkGate::forks_of_this_thread();
  const pid_t child = ::fork();
  if (child == 0) {
    bool good = repaired == 1 && ForkGate::forks_of_this_thread() == before + 1;
    std::thread([&] { good = good && ForkGate::forks_of_this_thread() == 0; }).join();
    const pid_t grandchild = ::fork();
    if (grandchild == 0) ::_exit(repaired == 2 && ForkGate::forks_of_this_thread() == before + 2 ? 0 : 1);
    ::_exit(good && exit_code_of(grandchild) == 0 ? 0 : 1);
  }
  EXPECT_EQ(exit_code_of(child), 0);
  EXPECT_EQ(repaired, 0);
  EXPECT_EQ(ForkGate::forks_of_this_thread(), before);
}

}  // namespace
}  // namespace wt
