// SPDX-License-Identifier: Apache-2.0
#include "dispatch/tuning/compile_ahead.h"

#include <algorithm>

#include "base/parallel.h"
#include "dispatch/kernel_plan.h"

namespace wt::tuning {

CompileAhead::CompileAhead(DeviceInfo device, std::vector<const KernelConfig*> configs)
    : device_(std::move(device)), configs_(std::move(configs)), skipped_(configs_.size(), 0) {
  // One core is left to the thread that times: its launches must not wait for a compiler.
  const size_t workers =
      std::clamp<size_t>(static_cast<size_t>(hardware_threads()) - 1, 1, std::max<size_t>(1, configs_.size()));
  ahead_ = 2 * workers + 2;
  for (size_t i = 0; i < workers; ++i) threads_.emplace_back([this] { work(); });
}

CompileAhead::~CompileAhead() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_all();
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
    std::string pack;
    Result<compile::Module> module = module_for(device_, *configs_[index], pack);
    lock.lock();
    finished_.emplace(index, std::move(module));
    changed_.notify_all();
  }
}

Result<compile::Module> CompileAhead::take(size_t index) {
  std::unique_lock lock(mutex_);
  WT_CHECK(index < configs_.size() && !skipped_[index], "index {} of {}", index, configs_.size());
  wanted_ = std::max(wanted_, index);
  changed_.notify_all();
  changed_.wait(lock, [&] { return finished_.contains(index); });
  Result<compile::Module> module = std::move(finished_.at(index));
  finished_.erase(finished_.begin(), finished_.upper_bound(index));
  wanted_ = index + 1;
  changed_.notify_all();
  return module;
}

void CompileAhead::skip(size_t index) {
  const std::lock_guard lock(mutex_);
  skipped_[index] = 1;
  wanted_ = std::max(wanted_, index + 1);
  finished_.erase(index);
  changed_.notify_all();
}

}  // namespace wt::tuning
