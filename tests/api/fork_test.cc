// SPDX-License-Identifier: Apache-2.0
// tests/api/fork_test.cc - children of a process that uses the library, as data loaders make them.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "../address_sanitizer.h"
#include "handles.h"

namespace wavetile_test {
namespace {

// Large enough for several threads where there are several cores.
constexpr const char* kProblem = "fwd fp32 n4 c32 k32 i28x28 f3x3 p1 +bias";

bool compute(const Device& device, const Plan& plan, float value) {
  std::vector<float> x(4 * 32 * 28 * 28, value), w(32 * 32 * 9, 1), bias(32, 5), y(4 * 32 * 28 * 28, -1);
  void* workspace = nullptr;
  const auto needed = static_cast<size_t>(wavetile_plan_workspace_bytes(plan.get()));
  if (needed > 0 && wavetile_device_allocate(device.get(), needed, &workspace) != WAVETILE_OK) return false;
  auto tensors = sized<wavetile_tensors>();
  tensors.x = x.data(), tensors.w = w.data(), tensors.bias = bias.data(), tensors.y = y.data();
  const bool ran = wavetile_plan_execute(plan.get(), nullptr, &tensors, workspace, needed) == WAVETILE_OK;
  const bool freed = wavetile_device_free(device.get(), workspace) == WAVETILE_OK;
  // A pixel in the middle has all 9 taps of 32 channels, a corner 4.
  return ran && freed && y[(14 * 28 + 14) * 32 + 7] == 9 * 32 * value + 5 && y[0] == 4 * 32 * value + 5;
}

template <class Body>
int in_child(const Body& body) {
  const pid_t child = ::fork();
  EXPECT_GE(child, 0);
  if (child == 0) {
    ::alarm(60);  // a child that hangs is ended by a signal
    ::_exit(body() ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(Fork, PlansOfTheParentRunInItsChildren) {
  const Device device = open_device();
  const Plan plan = make_plan(device, parse(kProblem));
  ASSERT_TRUE(compute(device, plan, 2));
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(in_child([&] { return compute(device, plan, 3) && compute(device, plan, 4); }), 0);
  }
  EXPECT_TRUE(compute(device, plan, 5));
}

TEST(Fork, ChildrenPlanWhileAnotherThreadOfTheParentDoes) {
  if (wt::kAddressSanitizer) GTEST_SKIP() << wt::kNoForkBesideThreads;
  const Device device = open_device();
  ASSERT_TRUE(compute(device, make_plan(device, parse(kProblem)), 2));
  std::atomic<bool> done{false};
  std::thread planner([&] {
    for (int i = 0; !done; ++i) {
      make_plan(device, parse("fwd bf16 n1 c" + std::to_string(1 + i % 700) + " k16 i20x20 f3x3"));
      const Device other = open_device();
    }
  });
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(in_child([&] {
                const Device own = open_device();
                make_plan(own, parse("bwd_data fp32 n1 c" + std::to_string(1 + i) + " k16 i20x20 f3x3"));
                make_plan(device, parse("bwd_weight fp32 n1 c" + std::to_string(1 + i) + " k16 i20x20 f3x3"));
                return compute(own, make_plan(own, parse(kProblem)), 3);
              }),
              0)
        << i;
  }
  done = true;
  planner.join();
}

}  // namespace
}  // namespace wavetile_test
