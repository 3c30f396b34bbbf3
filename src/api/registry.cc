// SPDX-License-Identifier: Apache-2.0
// api/registry.cc - registries of the C API, selection functions, and whether one kernel can run a problem.
//
// A registry is changed as a copy that takes the place of the one before, so that plans never see half of a change.
#include "dispatch/choice/registry.h"

#include <mutex>

#include "api/guard.h"
#include "api/handles.h"
#include "config/fields.h"
#include "dispatch/choice/candidates.h"
#include "dispatch/choice/filter.h"
#include "dispatch/choice/kernel_files.h"
#include "dispatch/choice/packs.h"

using namespace wt;
using namespace wt::api;

struct wavetile_registry {
  mutable std::mutex mutex;
  std::shared_ptr<const Registry> kernels;  // never null
};

namespace {

template <class Change>
Status change(wavetile_registry& registry, const Change& make) {
  const std::lock_guard lock(registry.mutex);
  auto copy = std::make_shared<Registry>(*registry.kernels);
  WT_TRY(make(*copy));
  registry.kernels = std::move(copy);
  return {};
}

Status read_priority(wavetile_priority given, Priority& priority) {
  static_assert(static_cast<int>(Priority::kHigh) == WAVETILE_PRIORITY_HIGH);
  if (given < WAVETILE_PRIORITY_LOW || given > WAVETILE_PRIORITY_HIGH)
    return bad_input("priority={} is no choice; use 0 (low), 1 (normal) or 2 (high)", static_cast<int>(given));
  priority = static_cast<Priority>(given);
  return {};
}

int64_t ask_caller(const Selector& self, const ConvProblem& problem, const std::vector<RankedCandidate>& candidates) {
  std::vector<std::string> configs;
  std::vector<wavetile_candidate> rows(candidates.size());
  std::vector<const wavetile_candidate*> pointers;
  for (const RankedCandidate& candidate : candidates) configs.push_back(to_json(candidate.config));
  for (size_t i = 0; i < candidates.size(); ++i) {
    const RankedCandidate& candidate = candidates[i];
    rows[i] = {sizeof(wavetile_candidate),
               candidate.name.c_str(),
               configs[i].c_str(),
               candidate.predicted_us,
               candidate.measured_us,
               candidate.registered.has_value(),
               static_cast<int32_t>(candidate.registered.value_or(Priority::kNormal))};
    pointers.push_back(&rows[i]);
  }
  const auto callback = reinterpret_cast<wavetile_select>(self.callback);
  return callback(self.user, to_text(problem).c_str(), pointers.data(), pointers.size());
}

}  // namespace

namespace wt::api {

std::shared_ptr<const Registry> kernels_of(const wavetile_registry& registry) {
  const std::lock_guard lock(registry.mutex);
  return registry.kernels;
}

Selector selector_of(wavetile_select select, void* user) {
  return {ask_caller, reinterpret_cast<void (*)()>(select), user};
}

}  // namespace wt::api

extern "C" {

wavetile_status wavetile_registry_create(wavetile_device* device, wavetile_registry** registry) {
  WT_API_REQUIRE(device);
  WT_API_REQUIRE(registry);
  return guard_making([&]() -> Status {
    const DeviceInfo& info = device->device->info();
    if (info.kind == DeviceKind::kCpu) return unsupported("the CPU has no generated kernels to register; open a GPU");
    auto made = std::make_unique<wavetile_registry>();
    made->kernels = std::make_shared<const Registry>(backend_for(info), info.target);
    *registry = made.release();
    return {};
  });
}

void wavetile_registry_destroy(wavetile_registry* registry) { delete registry; }

wavetile_status wavetile_registry_add(wavetile_registry* registry, const char* from, wavetile_priority priority,
                                      size_t* added) {
  WT_API_REQUIRE(registry);
  WT_API_REQUIRE(from);
  return guard_making([&]() -> Status {
    Priority with = Priority::kNormal;
    WT_TRY(read_priority(priority, with));
    size_t count = 0;
    WT_TRY(change(*registry, [&](Registry& kernels) -> Status {
      WT_TRY_ASSIGN(count, add_kernels(kernels, from, with));
      return {};
    }));
    if (added) *added = count;
    return {};
  });
}

wavetile_status wavetile_registry_set_priority(wavetile_registry* registry, const char* kernel,
                                               wavetile_priority priority) {
  WT_API_REQUIRE(registry);
  WT_API_REQUIRE(kernel);
  return guard([&]() -> Status {
    Priority with = Priority::kNormal;
    WT_TRY(read_priority(priority, with));
    return change(*registry, [&](Registry& kernels) { return kernels.set_priority(kernel, with); });
  });
}

wavetile_status wavetile_registry_remove(wavetile_registry* registry, const char* kernel) {
  WT_API_REQUIRE(registry);
  WT_API_REQUIRE(kernel);
  return guard([&] { return change(*registry, [&](Registry& kernels) { return kernels.remove(kernel); }); });
}

size_t wavetile_registry_size(const wavetile_registry* registry) {
  return registry ? kernels_of(*registry)->size() : 0;
}

wavetile_status wavetile_registry_list(const wavetile_registry* registry, wavetile_format format, char** report) {
  WT_API_REQUIRE(registry);
  WT_API_REQUIRE(report);
  return guard([&]() -> Status {
    if (format != WAVETILE_FORMAT_TEXT && format != WAVETILE_FORMAT_JSON)
      return bad_input("format={} is no choice; use 0 (text) or 1 (JSON)", static_cast<int>(format));
    const std::shared_ptr<const Registry> kernels = kernels_of(*registry);
    return new_string(format == WAVETILE_FORMAT_JSON ? kernels->to_json() : kernels->to_text(), report);
  });
}

wavetile_status wavetile_kernel_supported(wavetile_device* device, const wavetile_problem* problem,
                                          const wavetile_plan_options* options, int32_t* supported, char** reason) {
  WT_API_REQUIRE(device);
  WT_API_REQUIRE(problem);
  WT_API_REQUIRE(options);
  WT_API_REQUIRE(supported);
  return guard_making([&]() -> Status {
    PlanOptions plan_options;
    WT_TRY(read_options(options, plan_options));
    WT_TRY_ASSIGN(const RankedCandidate kernel, asked_candidate(device->device->info(), problem->value, plan_options));
    if (reason) WT_TRY(new_string(answer_text(kernel), reason));
    *supported = kernel.accepts();
    return {};
  });
}

}  // extern "C"
