// SPDX-License-Identifier: Apache-2.0
// api/plan_future.cc - plans that are made on a thread of the library.
#include <future>

#include "api/guard.h"
#include "api/handles.h"

using namespace wt;
using namespace wt::api;

struct wavetile_plan_future {
  std::shared_future<Result<std::shared_ptr<const PlanRecord>>> record;
};

namespace {

// A thread may end in an exception only through its future; what it throws is the host's memory or a bug.
Result<std::shared_ptr<const PlanRecord>> make(const std::shared_ptr<Device>& device, KeptPlans& plans,
                                               const ConvProblem& problem, const PlanOptions& options) {
  const ForkGate::Inside inside;
  return find_or_make_plan(device, plans, problem, options);
}

}  // namespace

extern "C" {

wavetile_status wavetile_plan_create_async(wavetile_device* device, const wavetile_problem* problem,
                                           const wavetile_plan_options* options, wavetile_plan_future** future) {
  WT_API_REQUIRE(device);
  WT_API_REQUIRE(problem);
  WT_API_REQUIRE(future);
  return guard([&]() -> Status {
    PlanOptions plan_options;
    WT_TRY(read_options(options, plan_options));
    auto made = std::make_unique<wavetile_plan_future>();
    made->record = std::async(std::launch::async, [opened = device->device, plans = device->plans,
                                                   value = problem->value, asked = std::move(plan_options)] {
                     return make(opened, *plans, value, asked);
                   }).share();
    *future = made.release();
    return {};
  });
}

wavetile_status wavetile_plan_future_ready(const wavetile_plan_future* future, int32_t* ready) {
  WT_API_REQUIRE(future);
  WT_API_REQUIRE(ready);
  return guard([&]() -> Status {
    *ready = future->record.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    return {};
  });
}

wavetile_status wavetile_plan_future_wait(wavetile_plan_future* future, wavetile_plan** plan) {
  WT_API_REQUIRE(future);
  WT_API_REQUIRE(plan);
  return guard([&]() -> Status {
    const Result<std::shared_ptr<const PlanRecord>>& made = future->record.get();
    if (!made.ok()) return made.status();
    *plan = new wavetile_plan{*made};
    return {};
  });
}

void wavetile_plan_future_destroy(wavetile_plan_future* future) { delete future; }

}  // extern "C"
