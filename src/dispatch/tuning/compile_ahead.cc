// SPDX-License-Identifier: Apache-2.0
#include "dispatch/tuning/compile_ahead.h"

#include <algorithm>
#include <exception>
#include <new>

#include "base/fork_gate.h"
#include "base/parallel.h"
#include "config/fields.h"
#include "dispatch/plan/kernel.h"

namespace wt::tuning {

CompileAhead::CompileAhead(DeviceInfo device, std::vector<const KernelConfig*> configs,
                           std::shared_ptr<const Registry> own)
    : device_(std::move(device)),
      configs_(std::move(configs)),
      own_(std::move(own)),
      skipped_(configs_.size(), 0),
      finished_(configs_.size()) {
  // One core is left to the thread that times: its launches must not wait for a compiler.
  const size_t workers =
      std::clamp<size_t>(static_cast<size_t>(hardware_threads()) - 1, 1, std::max<size_t>(1, configs_.size()));
  ahead_ = 2 * workers + 2;
  threads_.reserve(workers);
  try {
    for (size_t i = 0; i < workers; ++i) threads_.emplace_back([this] { work(); });
  } catch (const std::exception&) {
    // No more threads, or no memory for one: without any, take() compiles. WHY nothing may leave here: a thread that is
    // not joined ends the process.
  }
}

CompileAhead::~CompileAhead() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_all();
  const ForkGate::Away away;  // or a thread that waits to go inside would be waited for
  for (std::thread& thread : threads_) thread.join();
}

void CompileAhead::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return done_ || next_ >= configs_.size() || next_ < wanted_ + ahead_; });
    if (done_ || next_ >= configs_.size()) return;
    const size_t index = next_++;
    if (skipped_[index]) continue;
    lock.unlock();
    Result<compile::Module> module = module_of(index);
    lock.lock();
    finished_[index].emplace(std::move(module));
    changed_.notify_all();
  }
}

// No exception leaves: on a thread of its own it would end the process.
Result<compile::Module> CompileAhead::module_of(size_t index) const {
  try {
    const ForkGate::Inside inside;
    std::string pack;
    return module_for(device_, *configs_[index], pack, own_.get());
  } catch (const std::bad_alloc&) {
    return Status(Code::kDevice, "no host memory");  // short enough to need none itself
  } catch (const std::exception& fault) {
    return failure(Code::kCompile, "kernel {} did not compile: {}", name_of(*configs_[index]), fault.what());
  }
}

Result<compile::Module> CompileAhead::take(size_t index) {
  if (threads_.empty()) return module_of(index);
  const ForkGate::Away away;
  std::unique_lock lock(mutex_);
  WT_CHECK(index < configs_.size() && !skipped_[index], "index {} of {}", index, configs_.size());
  wanted_ = std::max(wanted_, index);
  changed_.notify_all();
  changed_.wait(lock, [&] { return finished_[index].has_value(); });
  Result<compile::Module> module = *std::move(finished_[index]);
  for (size_t i = dropped_; i <= index; ++i) finished_[i].reset();
  dropped_ = index + 1;
  wanted_ = index + 1;
  changed_.notify_all();
  return module;
}

void CompileAhead::skip(size_t index) {
  const std::lock_guard lock(mutex_);
  skipped_[index] = 1;
  wanted_ = std::max(wanted_, index + 1);
  finished_[index].reset();
  changed_.notify_all();
}

}  // namespace wt::tuning
