// SPDX-License-Identifier: Apache-2.0
// dispatch/tuning/compile_ahead.h - the modules of a list of kernels, compiled by other threads while earlier ones run.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "compile/compiler.h"
#include "runtime/device.h"

namespace wt::tuning {

// Compiles in the order of the list and a little ahead of take(), so that what is skipped is seldom compiled in vain.
class CompileAhead {
 public:
  CompileAhead(DeviceInfo device, std::vector<const KernelConfig*> configs);
  ~CompileAhead();  // drops what was not begun
  CompileAhead(const CompileAhead&) = delete;
  CompileAhead& operator=(const CompileAhead&) = delete;

  // The module of configs[index], waited for. Indices only grow from call to call.
  Result<compile::Module> take(size_t index);

  // Nothing with a smaller index will be asked for, and these in no case.
  void skip(size_t index);

 private:
  void work();

  DeviceInfo device_;
  std::vector<const KernelConfig*> configs_;
  std::vector<char> skipped_;
  size_t ahead_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t next_ = 0;    // to be begun
  size_t wanted_ = 0;  // that the consumer is at
  bool done_ = false;
  std::map<size_t, Result<compile::Module>> finished_;
  std::vector<std::thread> threads_;
};

}  // namespace wt::tuning
