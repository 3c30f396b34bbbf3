// SPDX-License-Identifier: Apache-2.0
// generate/request.h - the values of `wavetile generate` to what is asked for: rule-set queries or single kernels.
//
//   option texts (options.h) --parse_generate--> GenerateRequest --kernels_of--> lists of kernels
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "config/targets.h"
#include "generate/export.h"
#include "generate/options.h"
#include "rules/rules.h"

namespace wt {

enum class ListFormat : uint8_t { kTable, kJson, kNames };

struct GenerateRequest {
  enum class Action : uint8_t { kExport, kList, kCount, kConstraints, kRun };
  Action action = Action::kExport;
  std::vector<TargetName> targets;
  RuleQuery query;  // for each target in turn
  // Single kernels: one for each target, variant, type, dimension and layout asked for. Empty in rule-set mode.
  bool single = false;
  std::vector<KernelConfig> kernels;
  std::vector<std::string> notes;  // defaults that the target does not allow, and what stands in for them
  ListFormat format = ListFormat::kTable;
  bool verbose = false;
  std::filesystem::path output;
  ExportMode mode = ExportMode::kReplace;
  std::optional<ConvProblem> problem;  // of --run: its kernel is the one in `kernels`
  std::string device;                  // of --run
};

// An impossible single kernel fails with the constraint that it breaks.
Result<GenerateRequest> parse_generate(const GenerateValues& values);

// What the request asks for on one of its targets.
RuleResult kernels_of(const GenerateRequest& request, const TargetName& target);

// A layout by any of its names; dims where the name says it (NHWGC), else nothing (channels_last).
struct LayoutName {
  Layout layout;
  std::optional<int> dims;
};
Result<LayoutName> parse_layout(std::string_view text);

Result<bool> parse_bool(std::string_view option, std::string_view text);

}  // namespace wt
