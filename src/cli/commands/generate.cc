// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/generate.h"

#include <algorithm>
#include <cstdio>

#include "cli/commands/run.h"
#include "cli/exit_code.h"
#include "cli/show/progress.h"
#include "cli/show/table.h"
#include "cli/show/terminal.h"
#include "compile/embedded_headers.h"
#include "config/fields.h"
#include "generate/export.h"
#include "generate/listing.h"
#include "generate/request.h"
#include "kernels/constraints.h"
#include "kernels/resources.h"

namespace wt::cli {

namespace {

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

std::vector<DeviceHeader> device_headers() {
  std::vector<DeviceHeader> headers;
  for (const compile::EmbeddedHeader& header : compile::embedded_headers())
    headers.push_back({std::string(header.name), std::string(header.text)});
  return headers;
}

// Several targets get a folder each: a tree is compiled for one.
Result<ExportReport> export_target(const GenerateRequest& request, const TargetKernels& list) {
  ExportRequest tree{.folder = request.output,
                     .target = list.target,
                     .rule_set = std::string(request.single ? "single" : name_of(request.query.rule_set)),
                     .kernels = list.result.kernels,
                     .headers = device_headers(),
                     .mode = request.mode};
  if (request.targets.size() > 1) {
    std::string folder = to_text(list.target);
    for (char& c : folder)
      if (c == ':') c = '_';
    tree.folder /= folder;
  }
  Progress progress(static_cast<int>(tree.kernels.size()), true);
  tree.progress = [&progress](int done, int, const std::string& name) { progress.show(done, name); };
  WT_TRY_ASSIGN(ExportReport report, export_kernels(tree));
  progress.clear();
  fmt::print("{}: {} kernels in {} ({} files written, {} unchanged, {} removed)\n", to_text(list.target),
             report.kernels, tree.folder.string(), report.written, report.unchanged, report.removed);
  return report;
}

// ": 16 declined by mma-portable (the generic kernel has device code for the matrix instruction)"
std::string rejections_text(const RuleResult& result) {
  std::string text;
  for (const auto& [id, count] : result.rejected) {
    text += fmt::format("{} {} declined by {}", text.empty() ? ":" : ",", count, id);
    for (const Constraint& row : target_rows())
      if (row.id == id) text += fmt::format(" ({})", row.rule);
  }
  return text;
}

// On a terminal: what fits there. A pipe, --verbose and the other formats have all that is known.
void print_table(const std::vector<TargetKernels>& lists) {
  for (const TargetKernels& list : lists) {
    size_t widest = 0;
    for (const KernelConfig& config : list.result.kernels) widest = std::max(widest, name_of(config).size());
    const Table table({{"kernel", static_cast<int>(widest), false, true}, {"threads", 7, true}, {"shared", 8, true}},
                      output_columns());
    fmt::print("{}: {} kernels\n{}", to_text(list.target), list.result.kernels.size(), table.header());
    for (const KernelConfig& config : list.result.kernels) {
      print(table.row(
          {name_of(config), fmt::format("{}", threads_of(config)), fmt::format("{}", shared_bytes_of(config))}));
    }
  }
}

Status generate(const GenerateRequest& request) {
  using Action = GenerateRequest::Action;
  if (request.action == Action::kConstraints) {
    print(constraint_text());
    return {};
  }
  if (request.action == Action::kCount) {
    print(count_text(request.targets, request.query));
    return {};
  }
  for (const std::string& note : request.notes) fmt::print(stderr, "wavetile: {}\n", note);
  std::vector<TargetKernels> lists;
  for (const TargetName& target : request.targets) {
    lists.push_back({target, kernels_of(request, target)});
    if (lists.back().result.kernels.empty() && request.mode != ExportMode::kRemove)
      return unsupported(
          "no kernel of this version for {} is what --variant, --datatype, --ndim and --layout ask for{}; "
          "`wavetile generate --count --target {}` shows what there is",
          to_text(target), rejections_text(lists.back().result), to_text(target));
  }
  if (request.action == Action::kList) {
    if (output_columns() > 0 && request.format == ListFormat::kTable && !request.verbose) {
      print_table(lists);
    } else {
      print(list_text(lists, request.format, request.verbose));
    }
    return {};
  }
  int failures = 0;
  for (const TargetKernels& list : lists) {
    WT_TRY_ASSIGN(const ExportReport report, export_target(request, list));
    for (const auto& [name, message] : report.failures) fmt::print(stderr, "wavetile: {}: {}\n", name, message);
    failures += static_cast<int>(report.failures.size());
  }
  if (failures) return failure(Code::kIo, "{} kernels or files could not be written; they are named above", failures);
  return {};
}

}  // namespace

int run_generate(const GenerateValues& values) {
  const Result<GenerateRequest> request = parse_generate(values);
  if (!request.ok()) return report_failure(request.status());
  if (request->action == GenerateRequest::Action::kRun) {
    for (const std::string& note : request->notes) fmt::print(stderr, "wavetile: {}\n", note);
    RunOptions run;
    run.problem = to_text(*request->problem);
    run.device = request->device;
    run.kernel = to_json(request->kernels.front());
    run.plan.deterministic = false;
    return run_run(run);
  }
  const Status status = generate(*request);
  return status.ok() ? kExitGood : report_failure(status);
}

}  // namespace wt::cli
