// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/targets.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files.h"
#include "base/json_value.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/show/progress.h"
#include "cli/show/table.h"
#include "cli/show/terminal.h"
#include "cli/show/trial_json.h"
#include "compile/compiler.h"
#include "config/enum_names.h"
#include "config/fields.h"
#include "config/targets.h"
#include "dispatch/trial/code_check.h"
#include "kernels/device/gemm/storage.h"
#include "kernels/kind.h"
#include "rules/rules.h"

namespace wt::cli {
namespace {

constexpr std::string_view kTableStart = "<!-- table: wavetile targets --update docs/targets.md -->";
constexpr std::string_view kTableEnd = "<!-- end of the table -->";

struct TargetCheck {
  Target target;
  std::string missing;  // the compiler; nothing was compiled then
  std::vector<CodeCheck> checks;
};

// One line of the table: the kernels of a target, kind and type, their directions together.
struct Line {
  std::string target, kernel, type, instruction;
  int kernels = 0, registers = 0;
  size_t least = 0, most = 0;  // matrix instructions of a kernel
  int spills = 0;
  int64_t shared = 0;
  double worst = 1, best = 0;  // use of the matrix unit; best 0: unknown
  std::string verdict = "good";
};

std::string kernel_text(const KernelConfig& config) {
  if (config.family() == Family::kDirect) return fmt::format("direct {}", text_of(config.kind));
  return std::string(text_of(config.gemm.pipeline));
}

std::vector<Line> lines_of(const TargetCheck& target) {
  std::vector<Line> lines;
  const std::string name(info_of(target.target).name);
  if (!target.missing.empty()) {
    Line line;
    line.target = name;
    line.verdict = fmt::format("not compiled here: needs {}", compiler_needed(info_of(target.target)));
    lines.push_back(line);
  }
  for (const CodeCheck& check : target.checks) {
    const std::string kernel = kernel_text(check.config), type(text_of(operand_a(check.config)));
    auto line = std::ranges::find_if(lines, [&](const Line& other) {
      return other.kernel == kernel && other.type == type && other.instruction == check.instruction;
    });
    if (line == lines.end()) {
      lines.push_back({.target = name, .kernel = kernel, .type = type, .instruction = check.instruction});
      line = lines.end() - 1;
      line->least = check.instructions;
    }
    ++line->kernels;
    line->registers = std::max(line->registers, check.resources.registers);
    line->least = std::min(line->least, check.instructions);
    line->most = std::max(line->most, check.instructions);
    line->spills += std::max(0, check.resources.spill_bytes);
    line->shared = std::max(line->shared, check.shared_bytes);
    if (const double share = check.utilisation.share(); share > 0) {
      line->worst = std::min(line->worst, share);
      line->best = std::max(line->best, share);
    }
    if (!check.faults.empty()) {
      line->verdict = check.faults.front().substr(0, check.faults.front().find('\n'));
    } else if (line->verdict == "good" && !check.missing.empty()) {
      line->verdict = check.missing;
    } else if (line->verdict == "good" && !check.read_from.empty() && check.read_from != "machine code") {
      line->verdict = "good, by " + check.read_from;
    }
  }
  return lines;
}

std::string range(size_t least, size_t most) {
  return least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
}

std::string share_text(double worst, double best) {
  const std::string low = fmt::format("{:.2f}", worst), high = fmt::format("{:.2f}", best);
  return low == high ? low : low + " to " + high;
}

std::vector<std::string> cells(const Line& line) {
  if (line.kernels == 0) return {line.target, "-", "-", "-", "-", "-", "-", "-", "-", "-", line.verdict};
  const bool matrix = !line.instruction.empty();
  return {line.target,
          line.kernel,
          line.type,
          fmt::format("{}", line.kernels),
          matrix ? line.instruction : "none",
          matrix ? range(line.least, line.most) : "-",
          fmt::format("{}", line.registers),
          fmt::format("{}", line.spills),
          fmt::format("{}", line.shared),
          line.best > 0 ? share_text(line.worst, line.best) : "-",
          line.verdict};
}

constexpr const char* kTitles[] = {"target", "kernel",  "type",   "n",           "instruction", "of it",
                                   "regs",   "spilled", "shared", "matrix unit", "verdict"};

std::string markdown_row(const std::vector<std::string>& row) {
  std::string text = "|";
  for (const std::string& cell : row) text += fmt::format(" {} |", cell);
  return text + "\n";
}

std::string markdown(const std::vector<Line>& lines) {
  std::string text = markdown_row({std::begin(kTitles), std::end(kTitles)}) + "|";
  for (size_t i = 0; i < std::size(kTitles); ++i) text += "---|";
  text += "\n";
  for (const Line& line : lines) text += markdown_row(cells(line));
  return text;
}

// The table between the marks of a page.
Status update_page(const std::string& path, const std::vector<Line>& lines) {
  WT_TRY_ASSIGN(std::string page, read_file(path));
  const size_t start = page.find(kTableStart), end = page.find(kTableEnd);
  if (start == std::string::npos || end == std::string::npos || end < start)
    return bad_input("{} has no lines '{}' and '{}' with a table between them", path, kTableStart, kTableEnd);
  const size_t from = start + kTableStart.size();
  page.replace(from, end - from, "\n\n" + markdown(lines) + "\n");
  return write_file(path, page);
}

void print_table(const std::vector<Line>& lines) {
  const int columns = output_columns();
  // What a narrow terminal leaves out, by title; --json and a pipe have it all.
  const auto hidden = [&](std::string_view title) {
    return (is_narrow(columns) && (title == "of it" || title == "matrix unit")) ||
           (columns > 0 && columns < 120 && (title == "spilled" || title == "shared"));
  };
  std::vector<Column> layout;
  for (size_t i = 0; i < std::size(kTitles); ++i) {
    Column column{kTitles[i]};
    for (const Line& line : lines) column.width = std::max(column.width, static_cast<int>(cells(line)[i].size()));
    column.right = i == 3 || (i >= 6 && i <= 8);
    column.elastic = column.title == "kernel" || column.title == "instruction" || column.title == "verdict";
    column.hidden = hidden(column.title);
    layout.push_back(column);
  }
  const Table table(layout, columns);
  fmt::print("{}", table.header());
  for (const Line& line : lines) fmt::print("{}", table.row(cells(line)));
}

OrderedJson loops_json(const CodeCheck& check) {
  if (!check.loops) return nullptr;
  const auto cost = [](const compile::LoopCost& loop) {
    return OrderedJson{{"matrix", loop.matrix}, {"vector", loop.vector}, {"scalar", loop.scalar},
                       {"shared", loop.shared}, {"global", loop.global}, {"shared_bytes", loop.shared_bytes}};
  };
  const compile::Utilisation& use = check.utilisation;
  return {{"utilisation", use.share()},
          {"matrix_cycles", use.matrix},
          {"issue_cycles", use.issue},
          {"shared_cycles", use.shared},
          {"wait_cycles", use.waits},
          {"math_loop", cost(check.loops->math)},
          {"load_loop", cost(check.loops->load)},
          {"flat", check.loops->flat},
          {"accumulator_moves", check.loops->accumulator},
          {"invalidations", check.loops->invalidations}};
}

// Why a compiler is not here, each reason once, and how to get it.
void print_missing(const std::vector<TargetCheck>& targets) {
  std::set<std::string> said;
  for (const TargetCheck& target : targets)
    if (!target.missing.empty() && said.insert(target.missing).second)
      fmt::print("\n{}:\n{}", info_of(target.target).name, wrap(target.missing, output_columns(), "  "));
}

// What limits each kernel's hot loop: cycles of a compute unit's blocks for one pass each.
void print_loops(const std::vector<TargetCheck>& targets) {
  // On a terminal without what all kernels of a target share.
  const int columns = output_columns();
  const auto text = [&](const CodeCheck& check) {
    const std::string name = name_of(check.config);
    return columns > 0 ? without_signature(name, columns / 2) : name;
  };
  int widest = 0;
  for (const TargetCheck& target : targets)
    for (const CodeCheck& check : target.checks) widest = std::max(widest, static_cast<int>(text(check).size()));
  const Table table({{"use", 5, true},
                     {"matrix", 7, true},
                     {"issue", 7, true},
                     {"LDS", 7, true},
                     {"waits", 7, true},
                     {"kernel", widest, false, true}},
                    columns);
  fmt::print("{}", table.header());
  const auto cycles = [](double number) { return fmt::format("{:.0f}", number); };
  for (const TargetCheck& target : targets) {
    for (const CodeCheck& check : target.checks) {
      const compile::Utilisation& use = check.utilisation;
      if (use.matrix == 0) continue;
      fmt::print("{}", table.row({fmt::format("{:.2f}", use.share()), cycles(use.matrix), cycles(use.issue),
                                  cycles(use.shared), cycles(use.waits), text(check)}));
    }
  }
}

Status print_json(const std::string& where, const std::vector<TargetCheck>& targets) {
  OrderedJson json = document("wavetile targets");
  OrderedJson list = OrderedJson::array();
  for (const TargetCheck& target : targets) {
    OrderedJson kernels = OrderedJson::array();
    for (const CodeCheck& check : target.checks) {
      kernels.push_back({{"name", name_of(check.config)},
                         {"kind", text_of(check.config.kind)},
                         {"instruction", check.instruction},
                         {"instructions", check.instructions},
                         {"read_from", check.read_from},
                         {"registers", check.resources.registers},
                         {"spill_bytes", check.resources.spill_bytes},
                         {"shared_bytes", check.shared_bytes},
                         {"loops", loops_json(check)},
                         {"good", check.good()},
                         {"faults", check.faults},
                         {"missing", check.missing}});
    }
    list.push_back(
        {{"target", info_of(target.target).name}, {"missing", target.missing}, {"kernels", std::move(kernels)}});
  }
  json["targets"] = std::move(list);
  return write_json(where, json);
}

Result<std::vector<Target>> wanted_targets(const std::vector<std::string>& names) {
  std::vector<Target> list;
  for (const std::string& name : names) {
    WT_TRY_ASSIGN(const TargetName target, parse_target(name));
    if (target.simulated) return bad_input("{}: machine code is made for GPUs, not for the simulator", name);
    list.push_back(target.target);
  }
  if (names.empty())
    for (const TargetInfo& info : targets()) list.push_back(info.target);
  return list;
}

Result<std::vector<KernelConfig>> wanted_kernels(Target target, const std::string& rule_set) {
  if (rule_set.empty()) return representative_kernels(target);
  WT_TRY_ASSIGN(const RuleSet set, parse_rule_set(rule_set));
  return list_kernels({.target = target, .rule_set = set}).kernels;
}

Result<std::vector<TargetCheck>> check_targets(const TargetsOptions& options) {
  WT_TRY_ASSIGN(const std::vector<Target> wanted, wanted_targets(options.targets));
  std::vector<TargetCheck> list;
  std::vector<KernelConfig> kernels;
  for (const Target target : wanted) {
    TargetCheck& check = list.emplace_back(TargetCheck{target, {}, {}});
    if (const Status here = compile::available(compile::backend_of(target), target); !here.ok()) {
      check.missing = here.message();
      continue;
    }
    WT_TRY_ASSIGN(const std::vector<KernelConfig> all, wanted_kernels(target, options.rule_set));
    for (const KernelConfig& config : all)
      if (name_of(config).find(options.kernels) != std::string::npos) kernels.push_back(config);
  }
  Progress progress(static_cast<int>(kernels.size()), options.progress);
  if (!kernels.empty()) progress.show(0, name_of(kernels.front()));
  std::vector<CodeCheck> checks = check_code(kernels, [&](size_t done, const CodeCheck& check) {
    progress.show(static_cast<int>(done), name_of(check.config));
    return !interrupted();
  });
  if (interrupted())
    fmt::print(stderr, "wavetile: interrupted after {} of {} kernels; what follows is of those\n", checks.size(),
               kernels.size());
  for (CodeCheck& check : checks) {
    const auto owner =
        std::ranges::find_if(list, [&](const TargetCheck& t) { return t.target == check.config.target; });
    owner->checks.push_back(std::move(check));
  }
  return list;
}

}  // namespace

int run_targets(const TargetsOptions& options) {
  const InterruptGuard guard;
  const Result<std::vector<TargetCheck>> checked = check_targets(options);
  if (!checked.ok()) return report_failure(checked.status());
  std::vector<Line> lines;
  bool good = true;
  for (const TargetCheck& target : *checked) {
    for (Line& line : lines_of(target)) lines.push_back(std::move(line));
    for (const CodeCheck& check : target.checks) {
      good = good && check.faults.empty();
      for (const std::string& fault : check.faults)
        fmt::print(stderr, "wavetile: {}: {}\n", name_of(check.config), fault);
    }
  }
  if (!options.json.empty()) {
    const Status written = print_json(options.json, *checked);
    if (!written.ok()) return report_failure(written);
  }
  if (options.json == "-") return good ? kExitGood : kExitVerificationFailed;
  if (options.loops) {
    print_loops(*checked);
    print_missing(*checked);
  } else if (options.update.empty() || interrupted()) {  // half a table has no place in a page
    print_table(lines);
    print_missing(*checked);
  } else if (const Status written = update_page(options.update, lines); !written.ok()) {
    return report_failure(written);
  }
  return good ? kExitGood : kExitVerificationFailed;
}

}  // namespace wt::cli
