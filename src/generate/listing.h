// SPDX-License-Identifier: Apache-2.0
// generate/listing.h - lists of kernels as text: a table, JSON with all fields, or names; counts; the constraint table.
#pragma once

#include <string>
#include <vector>

#include "config/targets.h"
#include "generate/request.h"
#include "rules/rules.h"

namespace wt {

struct TargetKernels {
  TargetName target;
  RuleResult result;
};

std::string list_text(const std::vector<TargetKernels>& lists, ListFormat format, bool verbose);

// A row a target and a column a rule set, as Markdown, for the query's directions, types and dimensions.
std::string count_text(const std::vector<TargetName>& targets, const RuleQuery& query);

// A row a constraint, as Markdown.
std::string constraint_text();

}  // namespace wt
