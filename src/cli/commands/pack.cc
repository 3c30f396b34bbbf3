// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/pack.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files.h"
#include "base/json_value.h"
#include "base/parallel.h"
#include "base/printable.h"
#include "cli/exit_code.h"
#include "cli/input/kernel_names.h"
#include "cli/input/selection.h"
#include "cli/interrupt.h"
#include "cli/show/numbers.h"
#include "cli/show/progress.h"
#include "cli/show/table.h"
#include "cli/show/terminal.h"
#include "cli/show/trial_json.h"
#include "compile/module_file.h"
#include "compile/pack.h"
#include "config/enum_names.h"
#include "config/fields.h"
#include "config/targets.h"
#include "dispatch/choice/candidates.h"
#include "dispatch/choice/kernel_files.h"
#include "dispatch/tuning/contenders.h"
#include "dispatch/tuning/exchange.h"
#include "generate/source.h"
#include "rules/rules.h"

namespace wt::cli {
namespace {

using compile::Backend;
using compile::Module;
using compile::Pack;
using compile::PackEntry;
using compile::PackInfo;
using compile::PackInput;

// Of the pack: what its kernels are.
std::string set_name(const PackBuildOptions& options) {
  return !options.kernels.empty() ? "kernels" : !options.problems.empty() ? "problems" : options.rule_set;
}

template <class Enum>
Result<std::vector<Enum>> parse_list(const std::vector<std::string>& texts, const char* option) {
  std::vector<Enum> values;
  for (const std::string& text : texts) {
    const auto value = enum_table<Enum>().find(text);
    if (!value) return bad_input("{} {} is not known; use {}", option, text, enum_table<Enum>().choices());
    values.push_back(static_cast<Enum>(*value));
  }
  return values;
}

// Those of the names that accept one of the problems. A name that is left over is an error: it would be missed later.
Result<std::vector<KernelConfig>> kernels_of_names(const std::string& file, const std::vector<ConvProblem>& problems,
                                                   Target target) {
  WT_TRY_ASSIGN(std::set<std::string> names, read_kernel_names(file));
  PlanOptions any;
  any.deterministic = false;
  std::vector<KernelConfig> kernels;
  for (const ConvProblem& problem : problems) {
    if (names.empty()) break;
    for (const RankedCandidate& candidate : rank_candidates(kernel_problem(problem), target, any))
      if (candidate.accepts() && names.erase(candidate.name) > 0) kernels.push_back(candidate.config);
  }
  if (names.empty()) return kernels;
  return unsupported("{} of the kernels in {} accept none of the {} problems, the first {}", names.size(), file,
                     problems.size(), *names.begin());
}

Result<std::vector<KernelConfig>> kernels_of_problems(const PackBuildOptions& options, Target target) {
  if (!options.variants.empty() || !options.datatypes.empty() || !options.dims.empty())
    return bad_input("--variant, --datatype and --ndim take a part of a rule set; --problems names the problems");
  WT_TRY_ASSIGN(const std::vector<Row> rows, select_rows(options.problems, "", "", options.code));
  std::vector<ConvProblem> problems;
  for (const Row& row : rows) problems.push_back(row.problem);
  if (!options.names.empty()) return kernels_of_names(options.names, problems, target);
  std::vector<KernelConfig> kernels = tuning::contenders(problems, target, {options.within, options.most});
  if (kernels.empty()) {
    return unsupported("no kernel for {} accepts any of the {} problems; wavetile explain says why", options.target,
                       problems.size());
  }
  return kernels;
}

// Those of the files that are for the target.
Result<std::vector<KernelConfig>> kernels_of_files(const PackBuildOptions& options, Target target) {
  if (!options.variants.empty() || !options.datatypes.empty() || !options.dims.empty())
    return bad_input("--variant, --datatype and --ndim take a part of a rule set; --kernel names the kernels");
  Registry registry(compile::backend_of(target), target);
  for (const std::string& file : options.kernels) WT_TRY(add_kernels(registry, file, Priority::kNormal).status());
  return registry.configs();
}

// Adds the kernels of the export's entries for this target that this version has under the same name.
Status add_tuned(const std::string& file, Target target, std::vector<KernelConfig>& kernels) {
  WT_TRY_ASSIGN(const std::string text, read_file(file));
  const Result<tuning::Content> content = tuning::content_from_json(text);
  if (!content.ok()) return content.status().with_context(file);
  std::set<std::string> names;
  for (const KernelConfig& config : kernels) names.insert(name_of(config));
  size_t found = 0, unknown = 0;
  for (const tuning::Entry& entry : content->entries) {
    if (entry.key.target != info_of(target).name) continue;
    const Result<KernelConfig> config = config_from_json(entry.best.config);
    if (!config.ok() || name_of(*config) != entry.best.kernel) {
      ++unknown;
      continue;
    }
    ++found;
    if (names.insert(entry.best.kernel).second) kernels.push_back(*config);
  }
  if (found == 0) return bad_input("{} has no entry for {}", file, info_of(target).name);
  if (unknown > 0) fmt::print(stderr, "wavetile: {} entries of {} name kernels of another version\n", unknown, file);
  return {};
}

Result<std::vector<KernelConfig>> kernels_of(const PackBuildOptions& options, Target target) {
  if (!options.kernels.empty()) return kernels_of_files(options, target);
  if (!options.problems.empty()) return kernels_of_problems(options, target);
  RuleQuery query;
  query.target = target;
  WT_TRY_ASSIGN(query.rule_set, parse_rule_set(options.rule_set));
  WT_TRY_ASSIGN(query.directions, parse_list<Direction>(options.variants, "--variant"));
  WT_TRY_ASSIGN(query.types, parse_list<DataType>(options.datatypes, "--datatype"));
  for (const int dims : options.dims) {
    if (dims < 1 || dims > kMaxDims) return bad_input("--ndim {} is not possible; use 1, 2 or 3", dims);
  }
  query.dims = options.dims;
  std::vector<KernelConfig> kernels = list_kernels(query).kernels;
  if (kernels.empty()) {
    return unsupported(
        "rule set {} has no kernel for {} with these options; wavetile generate --list shows what there is",
        options.rule_set, options.target);
  }
  if (!options.tuned.empty()) WT_TRY(add_tuned(options.tuned, target, kernels));
  return kernels;
}

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// CPU time of this process and of the compilers it ran, on all cores.
double cpu_seconds() {
  double seconds = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    for (const timeval& time : {usage.ru_utime, usage.ru_stime})
      seconds += static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  }
  return seconds;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::string command_of(const PackBuildOptions& options) {
  std::string command = fmt::format("wavetile pack build --target {} -o {}", options.target, options.output);
  for (const std::string& file : options.kernels) command += fmt::format(" --kernel '{}'", file);
  if (options.problems.empty() && options.kernels.empty()) command += " --rule-set " + options.rule_set;
  for (const std::string& word : options.problems) command += fmt::format(" --problems '{}'", word);
  if (!options.names.empty()) command += " --names " + options.names;
  if (!options.tuned.empty()) command += " --tuned " + options.tuned;
  if (!options.problems.empty() && options.names.empty()) command += fmt::format(" --within {}", options.within);
  if (options.most > 0) command += fmt::format(" --most {}", options.most);
  if (options.seconds > 0) command += fmt::format(" --seconds {}", options.seconds);
  for (const std::string& variant : options.variants) command += " --variant " + variant;
  for (const std::string& type : options.datatypes) command += " --datatype " + type;
  for (const int dims : options.dims) command += fmt::format(" --ndim {}", dims);
  if (options.allow_spills) command += " --allow-spills";
  if (!options.report.empty()) command += " --report " + options.report;
  return command;
}

struct BuildTimes {
  double seconds = 0;
  double cpu = 0;
};

// The figures of docs/packs.md. Modules from the cache carry the time of their own compilation.
OrderedJson report_json(const PackBuildOptions& options, const PackInfo& info, const std::vector<PackInput>& inputs,
                        const BuildTimes& times) {
  std::vector<double> seconds, bytes;
  int registers = compile::kUnknown;
  size_t spilling = 0, cached = 0;
  for (const PackInput& input : inputs) {
    seconds.push_back(input.module.resources.compile_seconds);
    bytes.push_back(static_cast<double>(input.module.image.size()));
    registers = std::max(registers, input.module.resources.registers);
    spilling += input.module.resources.spill_bytes > 0;
    cached += input.module.from_cache;
  }
  OrderedJson json = document(command_of(options));
  json["target"] = options.target;
  json["rule_set"] = info.rule_set;
  json["compiler"] = info.compiler;
  json["threads"] = hardware_threads();
  json["kernels"] = inputs.size();
  json["from_cache"] = cached;
  json["seconds"] = times.seconds;
  json["cpu_seconds"] = times.cpu;
  json["kernels_per_minute"] = 60 * static_cast<double>(inputs.size()) / times.seconds;
  json["median_compile_seconds"] = median(seconds);
  json["cpu_seconds_a_kernel"] = times.cpu / static_cast<double>(inputs.size());
  json["bytes"] = info.bytes;
  json["median_bytes_a_kernel"] = median(bytes);
  json["most_registers"] = registers;
  json["kernels_that_spill"] = spilling;
  return json;
}

// In the order of the sources, by all cores, as far as the time allows. Some are always begun.
std::vector<Result<Module>> compile_in_time(const PackBuildOptions& options, Backend backend,
                                            const std::vector<compile::Source>& sources) {
  const size_t slice = static_cast<size_t>(8 * hardware_threads());
  const double end = options.seconds > 0 ? now_seconds() + options.seconds : INFINITY;
  Progress progress(static_cast<int>(sources.size()), options.progress);
  if (!sources.empty()) progress.show(0, sources.front().name);
  std::vector<Result<Module>> modules;
  do {
    const size_t begun = modules.size();
    const auto part = std::span(sources).subspan(begun, std::min(slice, sources.size() - begun));
    const auto show = [&](size_t done, const compile::Source& source, const Result<Module>&) {
      progress.show(static_cast<int>(begun + done), source.name);
    };
    for (Result<Module>& module : compile_all(backend, part, show)) modules.push_back(std::move(module));
  } while (modules.size() < sources.size() && now_seconds() < end && !interrupted());
  return modules;
}

struct Compiled {
  std::vector<PackInput> inputs;
  size_t failed = 0;     // left out
  size_t spilling = 0;   // left out, unless that is allowed
  size_t not_begun = 0;  // for want of time
};

// What a rule set's pack must hold, it must hold whole; what tuning would try is as good with a kernel less.
Status check_complete(const PackBuildOptions& options, const Compiled& compiled, const Status& first) {
  const bool whole = options.problems.empty();
  const size_t all = compiled.inputs.size() + compiled.failed + compiled.spilling;
  if (compiled.failed > 0 && (whole || compiled.inputs.empty())) {
    return failure(first.code(), "{} of {} kernels did not compile; {} was not written", compiled.failed, all,
                   options.output);
  }
  if (compiled.spilling > 0 && (whole || compiled.inputs.empty())) {
    return failure(Code::kCompile, "{} of {} kernels spill registers; {} was not written; --allow-spills keeps them",
                   compiled.spilling, all, options.output);
  }
  return {};
}

// The modules of the kernels that compiled and do not spill; the others are named and counted.
Result<Compiled> compile_kernels(const PackBuildOptions& options, Backend backend, Target target) {
  WT_TRY_ASSIGN(const std::vector<KernelConfig> kernels, kernels_of(options, target));
  std::vector<compile::Source> sources;
  for (const KernelConfig& config : kernels) {
    WT_TRY_ASSIGN(std::string text, generate_source(config));
    sources.push_back({name_of(config), std::move(text), target});
  }
  std::vector<Result<Module>> modules = compile_in_time(options, backend, sources);
  Compiled compiled;
  compiled.not_begun = sources.size() - modules.size();
  if (compiled.not_begun > 0 && interrupted() && options.problems.empty()) {
    return failure(
        Code::kCompile,
        "interrupted after {} of {} kernels, which are in the cache; {} was not written, and the same command "
        "goes on with the others",
        modules.size(), sources.size(), options.output);
  }
  Status first;
  for (size_t i = 0; i < modules.size(); ++i) {
    if (modules[i].ok()) {
      if (modules[i]->resources.spill_bytes > 0) {
        fmt::print(stderr, "wavetile: {} spills {} bytes per thread\n", sources[i].name,
                   modules[i]->resources.spill_bytes);
        if (!options.allow_spills) {
          ++compiled.spilling;
          continue;
        }
      }
      compiled.inputs.push_back({kernels[i], std::move(*modules[i])});
      continue;
    }
    if (compiled.failed++ == 0) first = modules[i].status();
    fmt::print(stderr, "wavetile: {}\n", modules[i].status().message());
  }
  WT_TRY(check_complete(options, compiled, first));
  return compiled;
}

struct Built {
  PackInfo info;
  size_t failed = 0, spilling = 0, not_begun = 0;
};

Result<Built> build(const PackBuildOptions& options) {
  const BuildTimes start{now_seconds(), cpu_seconds()};
  if (options.output.empty()) return bad_input("pack build needs a file to write: -o FILE");
  WT_TRY_ASSIGN(const TargetName name, parse_target(options.target));
  const Backend backend = backend_for(name);
  WT_TRY(compile::available(backend, name.target));
  if (options.seconds > 0 && options.problems.empty())
    return bad_input("--seconds is for --problems; a rule set is compiled as a whole");
  if (!options.names.empty() && options.problems.empty())
    return bad_input("--names is for --problems, which the kernels are looked up for");
  WT_TRY_ASSIGN(const Compiled compiled, compile_kernels(options, backend, name.target));
  const std::vector<PackInput>& inputs = compiled.inputs;
  WT_TRY_ASSIGN(PackInfo info, compile::write_pack(options.output, backend, name.target, set_name(options), inputs));
  if (!options.report.empty()) {
    const BuildTimes times{now_seconds() - start.seconds, cpu_seconds() - start.cpu};
    WT_TRY(write_file(options.report, json_text(report_json(options, info, inputs, times)), FileKind::kDurable));
  }
  return Built{std::move(info), compiled.failed, compiled.spilling, compiled.not_begun};
}

}  // namespace

int run_pack_build(const PackBuildOptions& options) {
  const InterruptGuard guard;
  const double start = now_seconds();
  const Result<Built> built = build(options);
  if (!built.ok()) return report_failure(built.status());
  const PackInfo* info = &built->info;
  const Result<std::shared_ptr<const Pack>> pack = Pack::open(info->path, info->backend, info->target);
  if (!pack.ok()) return report_failure(pack.status());
  fmt::print("{}: {} kernels for {}, {}, {:.1f} s\n", options.output, (*pack)->entries().size(), target_text(*info),
             bytes_text(static_cast<double>(info->bytes)), now_seconds() - start);
  if (built->not_begun > 0)
    fmt::print("{} kernels were not begun in time; the same command goes on with them\n", built->not_begun);
  if (built->failed + built->spilling == 0) return kExitGood;
  std::string left_out;
  if (built->failed > 0) left_out = fmt::format("{} kernels did not compile", built->failed);
  if (built->spilling > 0) {
    left_out += fmt::format("{}{} kernels spill registers (--allow-spills keeps them)", left_out.empty() ? "" : " and ",
                            built->spilling);
  }
  return report_failure(failure(Code::kCompile, "{}; they are named above and not in {}", left_out, options.output));
}

}  // namespace wt::cli
