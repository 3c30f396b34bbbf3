// SPDX-License-Identifier: Apache-2.0
// Many threads: one plan hammered by eight, and errors that stay on their own thread.
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "handles.h"

using namespace wavetile_test;

namespace {

constexpr int kThreads = 8;

void on_threads(const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(body, i);
  for (std::thread& thread : threads) thread.join();
}

// A host tensor at an address that every device and kernel accepts.
struct Aligned {
  explicit Aligned(size_t bytes) : memory(bytes + 256) {
    data = memory.data() + (256 - reinterpret_cast<uintptr_t>(memory.data()) % 256) % 256;
  }
  std::vector<uint8_t> memory;
  void* data;
};

}  // namespace

class HammerTest : public testing::TestWithParam<const char*> {};

TEST_P(HammerTest, EightThreadsShareOnePlan) {
  const Device device = open_device();
  const Problem problem = parse(GetParam());
  ASSERT_TRUE(problem);
  const Plan plan = make_plan(device, problem);
  ASSERT_TRUE(plan);
  const auto output = wavetile_problem_output_role(problem.get());
  const auto bytes = [&](wavetile_role role) {
    return static_cast<size_t>(wavetile_problem_tensor_bytes(problem.get(), role));
  };
  std::atomic<int> wrong{0};
  on_threads([&](int thread) {
    // Every thread has its own data and workspace, so a result that leaks from another is seen.
    Aligned x(bytes(WAVETILE_ROLE_X)), w(bytes(WAVETILE_ROLE_W)), y(bytes(WAVETILE_ROLE_Y));
    Aligned bias(bytes(WAVETILE_ROLE_BIAS));
    const size_t needed = static_cast<size_t>(wavetile_plan_workspace_bytes(plan.get()));
    Aligned workspace(needed);
    auto tensors = sized<wavetile_tensors>();
    tensors.x = x.data;
    tensors.w = w.data;
    tensors.y = y.data;
    tensors.bias = bytes(WAVETILE_ROLE_BIAS) ? bias.data : nullptr;
    for (int round = 0; round < 5; ++round) {
      const bool good = wavetile_fill_tensors(problem.get(), WAVETILE_FILL_RANDOM,
                                              static_cast<uint64_t>(thread * 100 + round), &tensors) == WAVETILE_OK &&
                        wavetile_plan_execute(plan.get(), nullptr, &tensors, workspace.data, needed) == WAVETILE_OK &&
                        wavetile_verify(problem.get(), &tensors, nullptr, nullptr) == WAVETILE_OK;
      if (!good) {
        ++wrong;
        ADD_FAILURE() << "thread " << thread << " round " << round << ": " << wavetile_last_error();
      }
    }
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(output == WAVETILE_ROLE_X || output == WAVETILE_ROLE_W || output == WAVETILE_ROLE_Y);
}

INSTANTIATE_TEST_SUITE_P(Cpu, HammerTest,
                         testing::Values("fwd fp32 n2 c16 k16 i10x10 f3x3 p1 +bias+relu",
                                         "fwd bf16 n2 c16 k16 i10x10 f3x3 p1 +bias+relu",
                                         "bwd_data bf16 n2 c16 k16 i10x10 f3x3 s2 p1",
                                         "bwd_weight bf16 n2 g16 c16 k16 i10x10 f3x3 p1"));

TEST(Threads, LastErrorBelongsToItsThread) {
  wavetile_device* device = nullptr;
  ASSERT_NE(wavetile_device_open("of_the_main_thread", &device), WAVETILE_OK);
  const std::string mine = wavetile_last_error();
  EXPECT_NE(mine.find("of_the_main_thread"), std::string::npos);
  on_threads([&](int thread) {
    EXPECT_STREQ(wavetile_last_error(), "");
    const std::string id = "of_thread_" + std::to_string(thread);
    for (int round = 0; round < 50; ++round) {
      wavetile_device* none = nullptr;
      EXPECT_NE(wavetile_device_open(id.c_str(), &none), WAVETILE_OK);
      EXPECT_NE(std::string(wavetile_last_error()).find(id), std::string::npos);
    }
  });
  EXPECT_EQ(wavetile_last_error(), mine);
  // A call that succeeds leaves it alone; clearing ends it.
  EXPECT_NE(parse("fwd fp32 n1 c1 k1 i1x1 f1x1"), nullptr);
  EXPECT_EQ(wavetile_last_error(), mine);
  wavetile_clear_error();
  EXPECT_STREQ(wavetile_last_error(), "");
}

TEST(Threads, ManyThreadsMakePlansAtOnce) {
  const Device device = open_device();
  on_threads([&](int thread) {
    const Problem problem = parse("fwd fp32 n1 c4 k4 i6x6 f3x3 p1");
    const Plan plan = make_plan(device, problem);
    EXPECT_TRUE(succeeded(wavetile_plan_verify(plan.get(), static_cast<uint64_t>(thread), nullptr, nullptr)));
  });
}
