// SPDX-License-Identifier: Apache-2.0
// dispatch/choice/decision_tree.cc - what a decision says of its parts together: times, reasons, names.
#include <array>

#include "dispatch/choice/decision.h"

namespace wt {

Decision around(Decision::Kind kind, const ConvProblem& problem, const PlanOptions& options, Decision inner,
                double around_us, std::string reason) {
  Decision decision;
  decision.kind = kind;
  decision.problem = problem;
  decision.options = options;
  decision.reason = std::move(reason);
  decision.around_us = around_us;
  decision.inner = std::make_shared<const Decision>(std::move(inner));
  return decision;
}

double Decision::expected_us() const {
  if (!inner) return measured_us > 0 ? measured_us : predicted_us;
  const double each = inner->expected_us();
  if (each == 0) return 0;
  if (kind == Kind::kFirstRows) return rest->expected_us() == 0 ? 0 : around_us + each + rest->expected_us();
  return around_us +
         (rest ? static_cast<double>(ranges - 1) * each + rest->expected_us() : static_cast<double>(ranges) * each);
}

std::string Decision::why() const { return inner ? fmt::format("{}: {}", reason, inner->why()) : reason; }

std::string_view name_of(Decision::Kind kind) {
  constexpr std::array<std::string_view, 8> kNames = {"kernel", "cpu",          "transposed", "ranges",
                                                      "joined", "next history", "first rows", "bias gradient"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace wt
