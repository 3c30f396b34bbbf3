// SPDX-License-Identifier: Apache-2.0
// api/plan_bytes.cc - what a plan chose, as bytes that another process makes the same plan of.
//
// The bytes are a JSON object; a reader trusts none of it: the problem is parsed and validated, the kernel looked up by
// its name, and code comes from the cache, a pack or the compiler, never from here.
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "api/guard.h"
#include "api/handles.h"
#include "base/json.h"
#include "config/enum_names.h"
#include "dispatch/choice/decision.h"

using namespace wt;
using namespace wt::api;

namespace {

constexpr const char* kFormat = "wavetile plan";
constexpr int kVersion = 1;
constexpr size_t kLargest = size_t{1} << 20;

std::string target_of(const DeviceInfo& info) {
  return info.kind == DeviceKind::kCpu ? "cpu" : std::string(text_of(info.target));
}

template <class Value>
Status read(const JsonValue& json, const char* key, Value& out) {
  const auto found = json.find(key);
  if (found == json.end()) return bad_input("a saved plan without '{}' is none of this version", key);
  try {
    out = found->get<Value>();
  } catch (const JsonValue::exception&) {
    return bad_input("a saved plan whose '{}' is {} is none of this version", key, found->dump().substr(0, 60));
  }
  return {};
}

// The parts of its sums. WHY not the option's 0 where the bits of an image must not depend on the batch: by its name
// alone the kernel would be decided for other batches than the plan was, and might have other parts.
Result<int> parts_of(const PlanRecord& record) {
  const PlanOptions& options = record.options;
  if (!options.batch_invariant || options.splits > 0) return options.splits;
  const ConvProblem& problem = record.plan->problem();
  WT_TRY_ASSIGN(const Decision decision, decide(record.device->info(), problem, options, tuning::CodeCheck::kCompile));
  const std::string& kernel = record.plan->description().kernel;
  if (decision.leaf().kernel != kernel) {
    return unsupported("'{}' has been decided anew since this plan was made, for {} instead of {}; make the plan anew",
                       to_text(problem), decision.leaf().kernel, kernel);
  }
  return decision.leaf().options.splits;
}

}  // namespace

extern "C" {

wavetile_status wavetile_plan_save(const wavetile_plan* plan, char** bytes, size_t* size) {
  WT_API_REQUIRE(plan);
  WT_API_REQUIRE(bytes);
  WT_API_REQUIRE(size);
  return guard([&]() -> Status {
    const PlanRecord& record = *plan->record;
    const ConvProblem& problem = record.plan->problem();
    if (!problem.epilogue.expression.empty() || !problem.epilogue.store.empty()) {
      return unsupported("a plan with the user's own C++ is not saved: who loads it would run it; make it anew");
    }
    const PlanOptions& options = record.options;
    WT_TRY_ASSIGN(const int splits, parts_of(record));
    const OrderedJson json = {{"format", kFormat},
                              {"version", kVersion},
                              {"problem", canonical_text(problem)},
                              {"target", target_of(record.device->info())},
                              {"kernel", record.plan->description().kernel},
                              {"reason", record.plan->description().reason},
                              {"deterministic", options.deterministic},
                              {"strict_nonfinite", options.strict_nonfinite},
                              {"batch_invariant", options.batch_invariant},
                              {"workspace_limit", options.workspace_limit.value_or(-1)},
                              {"fallback", options.fallback},
                              {"splits", splits},
                              {"workspace_bytes", record.plan->workspace_bytes()}};
    const std::string text = json.dump();
    WT_TRY(new_string(text, bytes));
    *size = text.size();
    return {};
  });
}

wavetile_status wavetile_plan_load(wavetile_device* device, const void* bytes, size_t size, wavetile_plan** plan) {
  WT_API_REQUIRE(device);
  WT_API_REQUIRE(bytes);
  WT_API_REQUIRE(plan);
  return guard_making([&]() -> Status {
    if (size > kLargest) return bad_input("{} bytes are no saved plan", size);
    const Result<JsonValue> parsed = parse_json<JsonValue>(std::string(static_cast<const char*>(bytes), size));
    if (!parsed.ok()) return bad_input("these bytes are no saved plan: {}", parsed.status().message());
    const JsonValue& json = *parsed;
    std::string format, text, target, kernel;
    int version = 0;
    if (!json.is_object()) return bad_input("these bytes are no saved plan: no JSON object");
    WT_TRY(read(json, "format", format));
    WT_TRY(read(json, "version", version));
    if (format != kFormat || version != kVersion) {
      return bad_input("a saved '{}' of version {}, and this library reads '{}' of version {}; save the plan anew",
                       format.substr(0, 40), version, kFormat, kVersion);
    }
    WT_TRY(read(json, "problem", text));
    WT_TRY(read(json, "target", target));
    WT_TRY(read(json, "kernel", kernel));
    PlanOptions options;
    int64_t limit = -1;
    WT_TRY(read(json, "deterministic", options.deterministic));
    WT_TRY(read(json, "strict_nonfinite", options.strict_nonfinite));
    // Plans that were saved before the option was there have none.
    if (json.contains("batch_invariant")) WT_TRY(read(json, "batch_invariant", options.batch_invariant));
    WT_TRY(read(json, "workspace_limit", limit));
    WT_TRY(read(json, "fallback", options.fallback));
    WT_TRY(read(json, "splits", options.splits));
    if (limit < -1) return bad_input("workspace_limit={} of a saved plan is no size", limit);
    if (limit >= 0) options.workspace_limit = limit;
    const std::string here = target_of(device->device->info());
    if (target != here) {
      return unsupported("the plan was saved for {} and this device is {} ({}); make it anew", target, here,
                         device->device->info().id);
    }
    WT_TRY_ASSIGN(const ConvProblem problem, parse_problem(text));
    if (!problem.epilogue.expression.empty() || !problem.epilogue.store.empty())
      return bad_input("a saved plan with C++ in its problem is not loaded: it would be compiled and run");
    // The CPU names its paths in a plan as cpu_onednn and in options as onednn.
    options.kernel = device->device->info().kind == DeviceKind::kCpu && kernel.starts_with("cpu_")
                         ? kernel.substr(4, kernel.find('_', 4) - 4)
                         : kernel;
    WT_TRY_ASSIGN(std::shared_ptr<const PlanRecord> record,
                  find_or_make_plan(device->device, *device->plans, problem, std::move(options)));
    *plan = new wavetile_plan{std::move(record)};
    return {};
  });
}

}  // extern "C"
