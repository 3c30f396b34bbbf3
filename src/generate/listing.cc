// SPDX-License-Identifier: Apache-2.0
#include "generate/listing.h"

#include <algorithm>

#include "config/fields.h"
#include "kernels/kind.h"
#include "kernels/resources.h"

namespace wt {

namespace {

void append_row(std::string& text, const KernelConfig& config, bool verbose) {
  text += fmt::format("{}  threads={} shared={}  {}\n", name_of(config), threads_of(config), shared_bytes_of(config),
                      instance_string(config));
  if (!verbose) return;
  for (const Field& field : fields()) text += fmt::format("    {}={}\n", field.path, field.text(config));
}

void append_rejections(std::string& text, const RuleResult& result) {
  for (const auto& [id, count] : result.rejected) text += fmt::format("  rejected by {}: {}\n", id, count);
  for (const auto& [name, reason] : result.quarantined) text += fmt::format("  quarantined {}: {}\n", name, reason);
}

std::string json_text(const std::vector<TargetKernels>& lists) {
  std::string text = "[";
  for (const TargetKernels& list : lists) {
    for (const KernelConfig& config : list.result.kernels) {
      text += fmt::format("{}\n{{\"name\":\"{}\",\"threads\":{},\"shared_bytes\":{},\"config\":{}}}",
                          text.size() == 1 ? "" : ",", name_of(config), threads_of(config), shared_bytes_of(config),
                          to_json(config, JsonFields::kAll));
    }
  }
  return text + "\n]\n";
}

}  // namespace

std::string list_text(const std::vector<TargetKernels>& lists, ListFormat format, bool verbose) {
  if (format == ListFormat::kJson) return json_text(lists);
  std::string text;
  for (const TargetKernels& list : lists) {
    if (format == ListFormat::kNames) {
      for (const KernelConfig& config : list.result.kernels) text += name_of(config) + "\n";
      continue;
    }
    text += fmt::format("{}: {} kernels\n", to_text(list.target), list.result.kernels.size());
    for (const KernelConfig& config : list.result.kernels) append_row(text, config, verbose);
    if (verbose) append_rejections(text, list.result);
  }
  return text;
}

std::string count_text(const std::vector<TargetName>& targets, const RuleQuery& query) {
  std::string text = "| target |", rule = "|---|";
  for (int i = 0; i < kRuleSets; ++i) {
    text += fmt::format(" {} |", name_of(static_cast<RuleSet>(i)));
    rule += "---:|";
  }
  text += "\n" + rule + "\n";
  for (const TargetName& target : targets) {
    text += fmt::format("| {} |", to_text(target));
    for (int i = 0; i < kRuleSets; ++i) {
      RuleQuery one = query;
      one.target = target.target;
      one.rule_set = static_cast<RuleSet>(i);
      text += fmt::format(" {} |", list_kernels(one).kernels.size());
    }
    text += "\n";
  }
  return text;
}

namespace {

using Rows = std::span<const Constraint> (*)();

// The kinds that a row is asked of.
std::string kinds_of(const Constraint& row, Rows KernelKind::*rows) {
  std::string kinds;
  for (const KernelKind* kind : kernel_kinds()) {
    if (!(kind->*rows)) continue;
    const auto same = [&](const Constraint& own) { return own.id == row.id; };
    if (std::ranges::any_of((kind->*rows)(), same))
      kinds += fmt::format("{}{}", kinds.empty() ? "" : ", ", text_of(kind->id));
  }
  return kinds.empty() ? "all" : kinds;
}

}  // namespace

std::string constraint_text() {
  std::string text = "| id | asks about | kinds | rule |\n|---|---|---|---|\n";
  for (const Constraint& row : target_rows())
    text += fmt::format("| {} | the target | {} | {} |\n", row.id, kinds_of(row, &KernelKind::target_rows), row.rule);
  for (const Constraint& row : problem_rows())
    text += fmt::format("| {} | the problem | {} | {} |\n", row.id, kinds_of(row, &KernelKind::problem_rows), row.rule);
  return text;
}

}  // namespace wt
