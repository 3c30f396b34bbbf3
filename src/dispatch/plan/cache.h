// SPDX-License-Identifier: Apache-2.0
// dispatch/plan/cache.h - plans by problem and options, for callers that ask for the same ones again and again.
//
// A hit costs a hash and a comparison. Whatever is kept holds its device, so a cache must go when its device should.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "dispatch/plan/plan.h"

namespace wt {

struct PlanKey {
  ConvProblem problem;
  PlanOptions options;
  bool operator==(const PlanKey&) const = default;
};

struct PlanKeyHash {
  size_t operator()(const PlanKey& key) const;
};

// Keeps the `capacity` values that were used last. Value is what the caller makes of a plan. Any thread may call.
template <class Value>
class PlanCache {
 public:
  explicit PlanCache(size_t capacity) : capacity_(capacity) {}

  std::shared_ptr<const Value> find(const PlanKey& key) {
    const std::lock_guard lock(mutex_);
    const auto found = places_.find(key);
    if (found == places_.end()) return nullptr;
    items_.splice(items_.begin(), items_, found->second);
    return found->second->second;
  }

  // The value that is kept now: another thread's, where that was first.
  std::shared_ptr<const Value> insert(const PlanKey& key, std::shared_ptr<const Value> value) {
    const std::lock_guard lock(mutex_);
    if (const auto found = places_.find(key); found != places_.end()) return found->second->second;
    items_.emplace_front(key, std::move(value));
    places_.emplace(key, items_.begin());
    if (items_.size() > capacity_) {
      places_.erase(items_.back().first);
      items_.pop_back();
    }
    return items_.front().second;
  }

  size_t size() {
    const std::lock_guard lock(mutex_);
    return items_.size();
  }

 private:
  using Items = std::list<std::pair<PlanKey, std::shared_ptr<const Value>>>;  // last used first

  std::mutex mutex_;
  size_t capacity_;
  Items items_;
  std::unordered_map<PlanKey, typename Items::iterator, PlanKeyHash> places_;
};

}  // namespace wt
