// SPDX-License-Identifier: Apache-2.0
#include "dispatch/choice/decision_json.h"

#include <nlohmann/json.hpp>

namespace wt {

OrderedJson to_json(const Decision& decision) {
  OrderedJson json = {{"kind", name_of(decision.kind)}, {"problem", to_text(decision.problem)}};
  if (!decision.inner) json["kernel"] = decision.kernel;
  json["reason"] = decision.reason;
  if (decision.predicted_us > 0) json["predicted_us"] = decision.predicted_us;
  if (decision.measured_us > 0) json["measured_us"] = decision.measured_us;
  if (decision.around_us > 0) json["around_us"] = decision.around_us;
  if (const double expected = decision.expected_us(); expected > 0) json["expected_us"] = expected;
  if (!decision.passed_over.empty()) json["passed_over"] = decision.passed_over;
  if (decision.kind == Decision::Kind::kRanges) json["ranges"] = decision.ranges;
  if (const auto& invariance = decision.invariance) {
    json["batch_invariant"] = {{"decided_for", invariance->images}};
    if (invariance->us > 0) json["batch_invariant"]["expected_us"] = invariance->us;
    if (!invariance->free_kernel.empty()) {
      json["batch_invariant"]["free_kernel"] = invariance->free_kernel;
      if (invariance->free_us > 0) json["batch_invariant"]["free_us"] = invariance->free_us;
    }
  }
  if (decision.inner) json["inner"] = to_json(*decision.inner);
  if (decision.rest) json["rest"] = to_json(*decision.rest);
  return json;
}

}  // namespace wt
