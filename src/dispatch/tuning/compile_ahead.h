// SPDX-License-Identifier: Apache-2.0
// dispatch/tuning/compile_ahead.h - the modules of a list of kernels, compiled by other threads while earlier ones run.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "compile/compiler.h"
#include "dispatch/choice/registry.h"
#include "runtime/device.h"

namespace wt::tuning {

// Compiles in the order of the list and a little ahead of take(), so that what is skipped is seldom compiled in vain.
class CompileAhead {
 public:
  // `own`: the caller's kernels (PlanOptions::kernels); null: none.
  CompileAhead(DeviceInfo device, std::vector<const KernelConfig*> configs, std::shared_ptr<const Registry> own = {});
  ~CompileAhead();  // drops what was not begun
  CompileAhead(const CompileAhead&) = delete;
  CompileAhead& operator=(const CompileAhead&) = delete;

  // The module of configs[index], waited for. Indices only grow from call to call.
  Result<compile::Module> take(size_t index);

  // Nothing with a smaller index will be asked for, and these in no case.
  void skip(size_t index);

 private:
  void work();
  Result<compile::Module> module_of(size_t index) const;

  DeviceInfo device_;
  std::vector<const KernelConfig*> configs_;
  std::shared_ptr<const Registry> own_;
  std::vector<char> skipped_;
  size_t ahead_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t next_ = 0;    // to be begun
  size_t wanted_ = 0;  // that the consumer is at
  bool done_ = false;
  size_t dropped_ = 0;                                            // results before this one are gone
  std::vector<std::optional<Result<compile::Module>>> finished_;  // by index: a thread that is done needs no memory
  std::vector<std::thread> threads_;
};

}  // namespace wt::tuning
