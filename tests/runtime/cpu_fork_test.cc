// SPDX-License-Identifier: Apache-2.0
// tests/runtime/cpu_fork_test.cc - CPU paths in child processes of a process that has used them, with several threads.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/fork_gate.h"
#include "tests/address_sanitizer.h"
#include "tests/runtime/cpu_run.h"

namespace wt {
namespace {

constexpr const char* kProblem = "fwd fp32 n2 c16 k24 i14x14 f3x3 p1 +bias +relu";

// Exit code of a child that runs `body`; a child that hangs is ended by a signal.
template <class Body>
int in_child(const Body& body) {
  const pid_t child = ::fork();
  EXPECT_GE(child, 0);
  if (child == 0) {
    ::alarm(60);
    ::_exit(body() ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool right(const ConvProblem& problem, const CpuConvolution& convolution, uint64_t seed) {
  HostTensors tensors = make_tensors(problem, Fill::kExact, seed);
  Buffer workspace(static_cast<size_t>(convolution.workspace_bytes()));
  if (!workspace.empty()) poison(workspace);
  if (!convolution.execute(pointers_to(tensors), workspace.data()).ok()) return false;
  return verify(problem, tensors, check_of(problem, Fill::kExact)).passed();
}

class CpuFork : public testing::TestWithParam<CpuPath> {
 protected:
  void SetUp() override {
    if (GetParam() == CpuPath::kOnednn && !cpu::onednn_plugin().provider) GTEST_SKIP() << cpu::onednn_plugin().fault;
  }
  CpuOptions options() const { return {.path = GetParam(), .threads = 4}; }
};
INSTANTIATE_TEST_SUITE_P(Paths, CpuFork, testing::Values(CpuPath::kAuto, CpuPath::kOnednn, CpuPath::kBuiltin));

TEST_P(CpuFork, PlansOfTheParentRunInChildrenAndTheirs) {
  const ConvProblem problem = *parse_problem(kProblem);
  const auto convolution = prepare_cpu(problem, options());
  ASSERT_TRUE(convolution.ok()) << convolution.status().message();
  ASSERT_TRUE(right(problem, **convolution, 1));  // OpenMP's threads exist now
  for (uint64_t seed = 2; seed < 5; ++seed) {
    EXPECT_EQ(in_child([&] {
                return right(problem, **convolution, seed) && right(problem, **convolution, seed + 10) &&
                       in_child([&] { return right(problem, **convolution, seed + 20); }) == 0;
              }),
              0);
    EXPECT_TRUE(right(problem, **convolution, seed)) << "the parent goes on";
  }
}

TEST_P(CpuFork, ChildrenPlanWhileAnotherThreadOfTheParentDoes) {
  if (kAddressSanitizer) GTEST_SKIP() << kNoForkBesideThreads;
  const ConvProblem problem = *parse_problem(kProblem);
  ASSERT_TRUE(right(problem, **prepare_cpu(problem, options()), 1));
  std::atomic<bool> done = false;
  std::thread planner([&] {
    for (int64_t c = 1; !done; ++c) {
      ConvProblem other = problem;
      other.c = 1 + c % 500;  // always another one, so that nothing is found ready
      const ForkGate::Inside inside;
      (void)prepare_cpu(other, options());
    }
  });
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(in_child([&] {
                ConvProblem other = problem;
                other.k = 20 + i;
                const ForkGate::Inside inside;
                const auto convolution = prepare_cpu(other, options());
                return convolution.ok() && right(other, **convolution, 3);
              }),
              0)
        << i;
  }
  done = true;
  planner.join();
}

// Threads that a child starts use OpenMP as always.
TEST_P(CpuFork, ThreadsOfAChild) {
  const ConvProblem problem = *parse_problem(kProblem);
  const auto convolution = prepare_cpu(problem, options());
  ASSERT_TRUE(right(problem, **convolution, 1));
  EXPECT_EQ(in_child([&] {
              std::atomic<int> good = 0;
              std::vector<std::thread> threads;
              for (uint64_t i = 0; i < 3; ++i)
                threads.emplace_back([&, i] { good += right(problem, **convolution, i + 2); });
              good += right(problem, **convolution, 9);
              for (std::thread& thread : threads) thread.join();
              return good == 4;
            }),
            0);
}

}  // namespace
}  // namespace wt
