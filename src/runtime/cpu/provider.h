// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/provider.h - convolutions on the CPU: prepared once, executed often, from any thread.
//
//   ConvProblem --prepare_cpu--> CpuConvolution --execute--> oneDNN (plug-in) or the built-in loops
//                                    |
//                                    +-- other types to fp32 before, Epilogue and the one rounding after
//
// tf32 is computed as fp32, which is more exact. dispatch/plan/cpu.h makes a Plan of this.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "problem/problem.h"
#include "problem/user_code.h"
#include "runtime/cpu/tensors.h"

namespace wt {

enum class CpuPath : uint8_t { kAuto, kOnednn, kBuiltin };

struct CpuOptions {
  CpuPath path = CpuPath::kAuto;
  std::optional<int64_t> workspace_limit;  // bytes; 0 always works with kAuto and kBuiltin
  int threads = 0;                         // 0: hardware_threads()
  bool batch_invariant = false;            // kAuto is kBuiltin then: oneDNN chooses its loops by the batch
};

// Immutable. execute may be called from several threads at once, each with its own workspace.
class CpuConvolution {
 public:
  virtual ~CpuConvolution() = default;

  const ConvProblem& problem() const { return problem_; }
  const std::string& path() const { return path_; }      // onednn, builtin_gemm, builtin_depthwise
  const std::string& reason() const { return reason_; }  // what runs, and why not something else
  int64_t workspace_bytes() const { return workspace_bytes_; }

  // `workspace` holds workspace_bytes(), 64-byte aligned, and is scratch during the call. Allocates nothing else of
  // that size. A tensor that the problem needs and that is null is refused by name.
  Status execute(const cpu::Tensors& tensors, void* workspace) const;

 protected:
  explicit CpuConvolution(const ConvProblem& problem) : problem_(problem) {}
  virtual Status run(const cpu::Tensors& tensors, char* workspace) const = 0;

  friend struct CpuChoice;
  ConvProblem problem_;
  std::string path_;
  std::string reason_;
  int64_t workspace_bytes_ = 0;
  std::shared_ptr<const UserCode> code_;  // null: the epilogue has no user text
};

Result<std::shared_ptr<const CpuConvolution>> prepare_cpu(const ConvProblem& problem, const CpuOptions& options = {});

// One line for `wavetile devices`: which provider is loaded from where, or why none is and how to get it.
std::string cpu_provider_description();

}  // namespace wt
