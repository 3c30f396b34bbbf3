// SPDX-License-Identifier: Apache-2.0
// Pointers that lie in each other, and memory that is not the device's: refused before anything is read or written.
#include "refusals.h"

using namespace wavetile_test;

TEST(Memory, TheWorkspaceIsNoTensor) {
  const Device device = open_device();
  const Plan plan = make_plan(device, parse("fwd bf16 n1 c16 k16 i8x8 f3x3 p1"));
  alignas(256) static char x[4096], w[8192], y[4096], workspace[1 << 20];
  const size_t needed = static_cast<size_t>(wavetile_plan_workspace_bytes(plan.get()));
  ASSERT_GT(needed, 0u);
  ASSERT_LE(needed, sizeof workspace);
  auto good = sized<wavetile_tensors>();
  good.x = x, good.w = w, good.y = y;
  const auto run = [&](void* x_at, void* y_at) {
    wavetile_tensors tensors = good;
    tensors.x = x_at, tensors.y = y_at;
    return wavetile_plan_execute(plan.get(), nullptr, &tensors, workspace, needed);
  };
  EXPECT_TRUE(succeeded(run(x, y)));
  expect_refused({
      {"tensor x overlaps the workspace in memory", [&] { return run(workspace, y); }},
      {"tensor x overlaps the workspace in memory", [&] { return run(workspace + needed - 16, y); }},
      {"tensor y overlaps the workspace in memory", [&] { return run(x, workspace + 256); }},
  });
}

// Every tensor that is written, in every direction, against every other that is used and the workspace.
TEST(Memory, WhatIsWrittenOverlapsNothing) {
  const Device device = open_device();
  constexpr size_t kBytes = 4096;
  alignas(256) static unsigned char memory[WAVETILE_ROLE_AUX3 + 1][kBytes], workspace[1 << 20];
  for (const char* text :
       {"fwd fp32 n1 c4 k4 i8x8 f1x1 +scale+bias+add=2:1:1+amax", "bwd_data fp32 n1 c4 k4 i8x8 f1x1",
        "bwd_weight fp32 n1 c8 k8 i8x8 f1x1 bias_gradient", "fwd fp32 n1 c8 k8 g8 i64 f4 pcausal history new_history",
        "bwd_data fp32 n1 c4 k4 i64 f4 pcausal history new_history",
        "bwd_weight fp32 n1 c4 k4 i64 f4 pcausal history"}) {
    const Problem problem = parse(text);
    const Plan plan = make_plan(device, problem);
    const auto needed = static_cast<size_t>(wavetile_plan_workspace_bytes(plan.get()));
    ASSERT_LE(needed, sizeof workspace);
    auto good = sized<wavetile_tensors>();
    using Pointers = std::vector<std::pair<int, void*>>;
    const auto run = [&](const Pointers& moved) {
      wavetile_tensors t = good;
      void* at[WAVETILE_ROLE_AUX3 + 1];
      for (int role = 0; role <= WAVETILE_ROLE_AUX3; ++role) at[role] = memory[role];
      for (const auto& [role, pointer] : moved) at[role] = pointer;
      t.x = at[WAVETILE_ROLE_X], t.w = at[WAVETILE_ROLE_W], t.y = at[WAVETILE_ROLE_Y];
      t.scale = at[WAVETILE_ROLE_SCALE], t.bias = at[WAVETILE_ROLE_BIAS], t.residual = at[WAVETILE_ROLE_RESIDUAL];
      t.amax = static_cast<float*>(at[WAVETILE_ROLE_AMAX]), t.bias_gradient = at[WAVETILE_ROLE_BIAS_GRADIENT];
      t.history = at[WAVETILE_ROLE_HISTORY], t.new_history = at[WAVETILE_ROLE_NEW_HISTORY];
      for (int i = 0; i < 4; ++i) t.aux[i] = at[WAVETILE_ROLE_AUX0 + i];
      return wavetile_plan_execute(plan.get(), nullptr, &t, workspace, needed);
    };
    EXPECT_TRUE(succeeded(run({}))) << text;
    std::vector<std::pair<int, bool>> used;  // with whether it is written
    for (int role = 0; role <= WAVETILE_ROLE_AUX3; ++role) {
      auto tensor = sized<wavetile_tensor_info>();
      ASSERT_TRUE(succeeded(wavetile_problem_tensor(problem.get(), static_cast<wavetile_role>(role), &tensor)));
      if (tensor.use == WAVETILE_UNUSED) continue;
      const int64_t bytes = tensor.bytes;
      ASSERT_LE(bytes, static_cast<int64_t>(kBytes - 16));
      used.emplace_back(role, tensor.use == WAVETILE_WRITTEN);
    }
    int refused = 0;
    for (const auto& [written, is_written] : used) {
      for (const auto& [other, unused] : used) {
        if (!is_written || other == written) continue;
        // Both the end of what is written and the start of it in the other; a tensor of one value has but its start.
        for (const Pointers& moved : {Pointers{{other, memory[written]}}, Pointers{{written, memory[other]}}}) {
          if (written == WAVETILE_ROLE_NEW_HISTORY && other == WAVETILE_ROLE_HISTORY) continue;  // these may be one
          EXPECT_NE(run(moved), WAVETILE_OK) << text << ": " << written << " and " << other;
          ++refused;
        }
        const int64_t bytes = wavetile_problem_tensor_bytes(problem.get(), static_cast<wavetile_role>(written));
        if (bytes <= 16) continue;
        EXPECT_NE(run({{other, memory[written] + (bytes - 16) / 16 * 16}}), WAVETILE_OK)
            << text << ": " << other << " begins in the end of " << written;
        ++refused;
      }
      if (needed == 0) continue;
      EXPECT_NE(run({{written, workspace}}), WAVETILE_OK) << text << ": " << written << " and the workspace";
      ++refused;
    }
    EXPECT_GE(refused, 6) << text;
    EXPECT_TRUE(succeeded(run({}))) << text;
  }
}

TEST(Memory, ForeignMemoryIsNotFreed) {
  const Device device = open_device();
  void* memory = nullptr;
  ASSERT_TRUE(succeeded(wavetile_device_allocate(device.get(), 1000, &memory)));
  int on_the_stack = 0;
  const auto free_of = [&](void* pointer) { return wavetile_device_free(device.get(), pointer); };
  expect_refused({
      {"not the start of memory of this device", [&] { return free_of(&on_the_stack); }},
      {"not the start of memory of this device", [&] { return free_of(static_cast<char*>(memory) + 256); }},
      {"not the start of memory of this device", [&] { return free_of(reinterpret_cast<void*>(16)); }},
  });
  EXPECT_TRUE(succeeded(free_of(memory)));
  expect_refused({{"was freed before", [&] { return free_of(memory); }}});
  EXPECT_TRUE(succeeded(free_of(nullptr)));
}

TEST(Memory, ForeignMemoryIsNotFreedBySimulatedGpus) {
  const Device device = open_device("sim:sm_90a"), other = open_device("sim:sm_90a");
  void* memory = nullptr;
  ASSERT_TRUE(succeeded(wavetile_device_allocate(device.get(), 1000, &memory)));
  int on_the_stack = 0;
  const auto free_of = [&](void* pointer) { return wavetile_device_free(device.get(), pointer); };
  const char* const message = "not the start of a buffer of this device";
  expect_refused({
      {message, [&] { return free_of(&on_the_stack); }},
      {message, [&] { return free_of(static_cast<char*>(memory) + 256); }},
      {message, [&] { return free_of(reinterpret_cast<void*>(16)); }},
      {message, [&] { return wavetile_device_free(other.get(), memory); }},
  });
  EXPECT_TRUE(succeeded(free_of(memory)));
  expect_refused({{message, [&] { return free_of(memory); }}});
}
