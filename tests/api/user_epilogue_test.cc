// SPDX-License-Identifier: Apache-2.0
// Auxiliary tensors and the user's own C++ through the C API and the C++ layer, on the CPU.
#include <gmock/gmock.h>

#include <vector>
#include <wavetile/wavetile.hpp>

#include "handles.h"

using testing::HasSubstr;
using wavetile_test::default_desc;
using wavetile_test::open_device;
using wavetile_test::succeeded;

namespace {

// 1x1 with one channel each way: y is x times w, so that what follows is plain to see.
wavetile_problem_desc scaling_desc() {
  wavetile_problem_desc desc = default_desc();
  desc.x_type = desc.w_type = desc.y_type = WAVETILE_F32;
  desc.in[0] = 1, desc.in[1] = 4;
  return desc;
}

}  // namespace

TEST(UserEpilogueApi, AddsPassesGradientsAndComputes) {
  wavetile_problem_desc desc = scaling_desc();
  desc.direction = WAVETILE_BACKWARD_DATA;
  desc.added = 1;
  desc.betas[0] = 10;
  desc.gradient = WAVETILE_ACTIVATION_RELU;
  desc.inputs = 1;
  desc.scalar_count = 1;
  desc.scalars[0] = 0.5f;
  desc.expression = "acc * in.aux[0] + in.scalar[0] + 100 * at.w";
  wavetile_problem* problem = nullptr;
  ASSERT_TRUE(succeeded(wavetile_problem_create(&desc, &problem)));
  wavetile_problem_desc back = default_desc();
  ASSERT_TRUE(succeeded(wavetile_problem_get_desc(problem, &back)));
  EXPECT_STREQ(back.expression, desc.expression);
  EXPECT_EQ(back.store, nullptr);
  EXPECT_EQ(back.betas[0], 10);
  EXPECT_EQ(back.gradient, WAVETILE_ACTIVATION_RELU);
  wavetile_tensor_info info{};
  info.struct_size = sizeof info;
  ASSERT_TRUE(succeeded(wavetile_problem_tensor(problem, WAVETILE_ROLE_AUX2, &info)));
  EXPECT_EQ(info.use, WAVETILE_READ);
  EXPECT_EQ(info.elements, 4);
  EXPECT_EQ(wavetile_problem_tensor_bytes(problem, WAVETILE_ROLE_AUX3), 0);

  const auto device = open_device("cpu");
  wavetile_plan* plan = nullptr;
  ASSERT_TRUE(succeeded(wavetile_plan_create(device.get(), problem, nullptr, &plan)));
  alignas(64) float dy[4] = {1, 2, 3, 4}, w[1] = {2}, dx[4];
  alignas(64) float added[4] = {1, 0, 1, 0}, saved[4] = {1, -1, 0, 2}, gate[4] = {3, 3, 3, -1};
  std::vector<std::byte> memory(static_cast<size_t>(wavetile_plan_workspace_bytes(plan)) + 256);
  const auto start = (reinterpret_cast<uintptr_t>(memory.data()) + 255) / 256 * 256;
  wavetile_tensors tensors;
  wavetile_tensors_init(&tensors);
  tensors.x = dx, tensors.w = w, tensors.y = dy;
  tensors.aux[0] = added, tensors.aux[1] = saved;
  EXPECT_EQ(wavetile_plan_execute(plan, nullptr, &tensors, reinterpret_cast<void*>(start), memory.size()),
            WAVETILE_BAD_INPUT);
  EXPECT_THAT(wavetile_last_error(), HasSubstr("tensor aux[2] is NULL"));
  tensors.aux[2] = gate;
  ASSERT_TRUE(succeeded(wavetile_plan_execute(plan, nullptr, &tensors, reinterpret_cast<void*>(start), memory.size())));
  // (2 dy + 10 added) where saved > 0, times the gate, and the rest.
  EXPECT_THAT(dx, testing::ElementsAre(36.5f, 100.5f, 200.5f, 292.5f));
  EXPECT_TRUE(succeeded(wavetile_verify(problem, &tensors, nullptr, nullptr)));
  dx[3] += 1;
  EXPECT_EQ(wavetile_verify(problem, &tensors, nullptr, nullptr), WAVETILE_VERIFICATION_FAILED);
  wavetile_plan_destroy(plan);
  wavetile_problem_destroy(problem);
}

TEST(UserEpilogueApi, StoresAndVerifies) {
  using namespace wavetile;
  const Result<Device> device = Device::open("cpu");
  ASSERT_TRUE(device.ok());
  const Result<Problem> problem =
      Problem::create({.c = 8, .k = 8, .in = {5, 5}, .outputs = 1, .store = "out.put(value);\nout.put(0, at.channel)"});
  ASSERT_TRUE(problem.ok()) << problem.status().message();
  EXPECT_EQ(problem->tensor(Role::kAux0).use, WAVETILE_WRITTEN);
  const Result<Plan> plan = Plan::create(*device, *problem);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_TRUE(plan->verify().ok());
}

TEST(UserEpilogueApi, FaultsAreCompileErrors) {
  wavetile_problem_desc desc = scaling_desc();
  desc.expression = "acc +* 1";
  wavetile_problem* problem = nullptr;
  ASSERT_TRUE(succeeded(wavetile_problem_create(&desc, &problem)));
  const auto device = open_device("cpu");
  wavetile_plan* plan = nullptr;
  EXPECT_EQ(wavetile_plan_create(device.get(), problem, nullptr, &plan), WAVETILE_COMPILE_ERROR);
  EXPECT_THAT(wavetile_last_error(), HasSubstr("epilogue f:1:"));
  wavetile_problem_destroy(problem);
}
