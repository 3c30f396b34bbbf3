// SPDX-License-Identifier: Apache-2.0
#include "dispatch/plan/cpu.h"

#include <gtest/gtest.h>

#include <thread>

#include "problem/verify.h"
#include "runtime/cpu/device.h"

namespace wt {
namespace {

ConvProblem some_problem() {
  ConvProblem problem;
  problem.n = 2, problem.c = 16, problem.k = 24;
  problem.in = {1, 10, 9};
  problem.filter = {1, 3, 3};
  problem.pad_lower = problem.pad_upper = {0, 1, 1};
  problem.epilogue.bias = true;
  problem.epilogue.activation = Activation::kRelu;
  return problem;
}

TensorPointers pointers_to(HostTensors& tensors, Buffer& workspace) {
  TensorPointers pointers;
  pointers[Tensor::kX] = tensors.x.data();
  pointers[Tensor::kW] = tensors.w.data();
  pointers[Tensor::kY] = tensors.y.data();
  pointers[Tensor::kBias] = tensors.bias.data();
  pointers[Tensor::kWorkspace] = workspace.data();
  return pointers;
}

TEST(CpuPlan, ExecutesFromEightThreads) {
  const ConvProblem problem = some_problem();
  const auto plan = make_plan(open_cpu_device(), problem, {});
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_EQ((*plan)->problem(), problem);
  std::vector<std::thread> threads;
  std::vector<std::string> faults(8);
  for (size_t t = 0; t < faults.size(); ++t)
    threads.emplace_back([&, t] {
      HostTensors tensors = make_tensors(problem, Fill::kRandom, t + 1);
      Buffer workspace(static_cast<size_t>((*plan)->workspace_bytes()));
      const Status status = (*plan)->execute(pointers_to(tensors, workspace), nullptr);
      const VerifyReport report = verify(problem, tensors);
      if (!status.ok() || !report.passed()) faults[t] = status.message() + report.summary();
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& fault : faults) EXPECT_EQ(fault, "");
}

TEST(CpuPlan, ForcesAPathByName) {
  const auto plan = make_plan(open_cpu_device(), some_problem(), {.kernel = "builtin"});
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ((*plan)->description().kernel, "cpu_builtin_gemm");
  EXPECT_NE((*plan)->description().reason.find("asked for"), std::string::npos);
  // The name that a description shows is one that the option takes.
  EXPECT_TRUE(make_plan(open_cpu_device(), some_problem(), {.kernel = (*plan)->description().kernel}).ok());

  const auto unknown = make_plan(open_cpu_device(), some_problem(), {.kernel = "winograd"});
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.status().code(), Code::kBadInput);
  EXPECT_NE(unknown.status().message().find("'winograd'"), std::string::npos);
}

TEST(CpuPlan, WorksWithoutWorkspaceAndSaysSo) {
  const ConvProblem problem = some_problem();
  const auto plan = make_plan(open_cpu_device(), problem, {.workspace_limit = 0});
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ((*plan)->workspace_bytes(), 0);
  EXPECT_NE((*plan)->description().reason.find("above the limit of 0"), std::string::npos);
  HostTensors tensors = make_tensors(problem, Fill::kRandom);
  Buffer none;
  ASSERT_TRUE((*plan)->execute(pointers_to(tensors, none), nullptr).ok());
  EXPECT_TRUE(verify(problem, tensors).passed());
}

}  // namespace
}  // namespace wt
