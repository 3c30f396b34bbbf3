// SPDX-License-Identifier: Apache-2.0
// tests/runtime/cpu_run.h - runs one problem through the CPU provider and checks it against the reference.
#pragma once

#include <gtest/gtest.h>

#include "problem/verify.h"
#include "runtime/cpu/onednn.h"
#include "runtime/cpu/provider.h"

namespace wt {

inline cpu::Tensors pointers_to(HostTensors& tensors) {
  cpu::Tensors pointers{};
  const auto set = [&](Tensor tensor, Buffer& buffer) {
    if (!buffer.empty()) pointers[static_cast<size_t>(tensor)] = buffer.data();
  };
  set(Tensor::kX, tensors.x);
  set(Tensor::kW, tensors.w);
  set(Tensor::kY, tensors.y);
  set(Tensor::kScale, tensors.scale);
  set(Tensor::kBias, tensors.bias);
  set(Tensor::kResidual, tensors.residual);
  set(Tensor::kAmax, tensors.amax);
  set(Tensor::kXScales, tensors.x_scales);
  set(Tensor::kWScales, tensors.w_scales);
  return pointers;
}

inline VerifyOptions check_of(const ConvProblem& problem, Fill fill) {
  VerifyOptions options;
  options.model.exact = fill == Fill::kExact && epilogue_is_exact(problem);
  options.threads = 1;  // small problems only
  return options;
}

// The workspace is exactly as long as asked for and poisoned, so that a sanitizer sees an access beyond it and a read
// of something unwritten turns into a NaN.
inline void run_and_verify(const ConvProblem& problem, const CpuOptions& options, Fill fill, uint64_t seed = 1) {
  SCOPED_TRACE(to_text(problem));
  ASSERT_TRUE(validate(problem).ok()) << validate(problem).message();
  auto prepared = prepare_cpu(problem, options);
  ASSERT_TRUE(prepared.ok()) << prepared.status().message();
  HostTensors tensors = make_tensors(problem, fill, seed);
  Buffer workspace(static_cast<size_t>((*prepared)->workspace_bytes()));
  if (!workspace.empty()) poison(workspace);
  const Status status = (*prepared)->execute(pointers_to(tensors), workspace.data());
  ASSERT_TRUE(status.ok()) << status.message();
  const VerifyReport report = verify(problem, tensors, check_of(problem, fill));
  EXPECT_TRUE(report.passed()) << (*prepared)->reason() << "\n" << report.summary();
}

// Each path: the built-in one with and without a workspace, and oneDNN. Where its plug-in was not built, oneDNN's tests
// are skipped with the reason.
struct NamedPath {
  std::string name;
  CpuOptions options;
};

class CpuPaths : public testing::TestWithParam<NamedPath> {
 protected:
  void SetUp() override {
    if (GetParam().options.path == CpuPath::kOnednn && !cpu::onednn_plugin().provider)
      GTEST_SKIP() << cpu::onednn_plugin().fault;
  }
};

inline std::string path_name(const testing::TestParamInfo<NamedPath>& info) { return info.param.name; }

inline auto all_paths() {
  return testing::Values(NamedPath{"builtin", {.path = CpuPath::kBuiltin}},
                         NamedPath{"builtin_without_workspace", {.path = CpuPath::kBuiltin, .workspace_limit = 0}},
                         NamedPath{"onednn", {.path = CpuPath::kOnednn}});
}

}  // namespace wt
