// SPDX-License-Identifier: Apache-2.0
#include "cli/pack_command.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files.h"
#include "base/parallel.h"
#include "cli/exit_code.h"
#include "cli/kernel_names.h"
#include "cli/numbers.h"
#include "cli/progress.h"
#include "cli/selection.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/trial_json.h"
#include "compile/module_file.h"
#include "compile/pack.h"
#include "config/enum_names.h"
#include "config/fields.h"
#include "config/rules.h"
#include "config/targets.h"
#include "dispatch/candidates.h"
#include "dispatch/tuning/contenders.h"
#include "generate/source.h"

namespace wt::cli {
namespace {

using compile::Backend;
using compile::Module;
using compile::Pack;
using compile::PackEntry;
using compile::PackInfo;
using compile::PackInput;

constexpr const char* kOfProblems = "problems";  // in place of a rule set's name

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

Backend backend_for(const TargetName& name) {
  return name.simulated ? Backend::kHost : compile::backend_of(name.target);
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
  WT_TRY_ASSIGN(const std::vector<Row> rows, select_rows(options.problems, "", ""));
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

Result<std::vector<KernelConfig>> kernels_of(const PackBuildOptions& options, Target target) {
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
  return kernels;
}

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Of this process and of the compilers it ran, on all cores.
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
  if (options.problems.empty()) command += " --rule-set " + options.rule_set;
  for (const std::string& word : options.problems) command += fmt::format(" --problems '{}'", word);
  if (!options.names.empty()) command += " --names " + options.names;
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
nlohmann::ordered_json report_json(const PackBuildOptions& options, const PackInfo& info,
                                   const std::vector<PackInput>& inputs, const BuildTimes& times) {
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
  nlohmann::ordered_json json = document(command_of(options));
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
  const size_t slice = options.seconds > 0 ? static_cast<size_t>(8 * hardware_threads()) : sources.size();
  const double end = now_seconds() + options.seconds;
  Progress progress(static_cast<int>(sources.size()), options.progress);
  std::vector<Result<Module>> modules;
  do {
    const size_t begun = modules.size();
    const auto part = std::span(sources).subspan(begun, std::min(slice, sources.size() - begun));
    const auto show = [&](size_t done, const compile::Source& source, const Result<Module>&) {
      progress.show(static_cast<int>(begun + done), source.name);
    };
    for (Result<Module>& module : compile_all(backend, part, show)) modules.push_back(std::move(module));
  } while (modules.size() < sources.size() && now_seconds() < end);
  return modules;
}

struct Compiled {
  std::vector<PackInput> inputs;
  size_t failed = 0;     // left out
  size_t not_begun = 0;  // for want of time
};

// The modules of every kernel, or a failure that counts what did not compile or spills.
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
  size_t spilling = 0;
  Status first;
  for (size_t i = 0; i < modules.size(); ++i) {
    if (modules[i].ok()) {
      if (modules[i]->resources.spill_bytes > 0) {
        ++spilling;
        fmt::print(stderr, "wavetile: {} spills {} bytes a thread\n", sources[i].name,
                   modules[i]->resources.spill_bytes);
      }
      compiled.inputs.push_back({kernels[i], std::move(*modules[i])});
      continue;
    }
    if (compiled.failed++ == 0) first = modules[i].status();
    fmt::print(stderr, "wavetile: {}\n", modules[i].status().message());
  }
  if (compiled.failed > 0 && (options.problems.empty() || compiled.inputs.empty())) {
    return failure(first.code(), "{} of {} kernels did not compile; {} was not written", compiled.failed,
                   modules.size(), options.output);
  }
  if (spilling > 0 && !options.allow_spills) {
    return failure(Code::kCompile, "{} of {} kernels spill registers; {} was not written; --allow-spills keeps them",
                   spilling, modules.size(), options.output);
  }
  return compiled;
}

struct Built {
  PackInfo info;
  size_t failed = 0, not_begun = 0;
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
  WT_TRY_ASSIGN(PackInfo info, compile::write_pack(options.output, backend, name.target,
                                                   options.problems.empty() ? options.rule_set : kOfProblems, inputs));
  if (!options.report.empty()) {
    const BuildTimes times{now_seconds() - start.seconds, cpu_seconds() - start.cpu};
    WT_TRY(write_file(options.report, json_text(report_json(options, info, inputs, times))));
  }
  return Built{std::move(info), compiled.failed, compiled.not_begun};
}

std::string target_text(const PackInfo& info) {
  return to_text(TargetName{info.target, info.backend == Backend::kHost});
}

void print_table(const Pack& pack) {
  const PackInfo& info = pack.info();
  const Table table({{"kernel", 64, false, true}, {"size", 9, true}, {"registers", 9, true}, {"spills", 6, true}},
                    output_columns());
  fmt::print("{}", table.header());
  for (const PackEntry& entry : pack.entries()) {
    const auto number = [](int value) { return value == compile::kUnknown ? "-" : fmt::format("{}", value); };
    fmt::print("{}", table.row({entry.name, bytes_text(static_cast<double>(entry.bytes)),
                                number(entry.resources.registers), number(entry.resources.spill_bytes)}));
  }
  fmt::print("{} kernels for {}, rule set {}, {}; wavetile {}, {}\n", pack.entries().size(), target_text(info),
             info.rule_set, bytes_text(static_cast<double>(info.bytes)), info.library_version, info.compiler);
}

void print_json(const Pack& pack) {
  const PackInfo& info = pack.info();
  nlohmann::ordered_json json = document("wavetile pack list");
  json["file"] = info.path.string();
  json["bytes"] = info.bytes;
  json["library_version"] = info.library_version;
  json["headers"] = info.headers_hash;
  json["target"] = target_text(info);
  json["rule_set"] = info.rule_set;
  json["compiler"] = info.compiler;
  nlohmann::ordered_json kernels = nlohmann::ordered_json::array();
  for (const PackEntry& entry : pack.entries()) {
    kernels.push_back({{"name", entry.name},
                       {"bytes", entry.bytes},
                       {"sha256", entry.checksum},
                       {"resources", nlohmann::ordered_json::parse(compile::resources_json(entry.resources))}});
  }
  json["kernels"] = std::move(kernels);
  fmt::print("{}", json_text(json));
}

}  // namespace

int run_pack_build(const PackBuildOptions& options) {
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
  if (built->failed == 0) return kExitGood;
  return report_failure(
      failure(Code::kCompile, "{} kernels did not compile and are not in {}", built->failed, options.output));
}

int run_pack_list(const PackListOptions& options) {
  const Result<std::shared_ptr<const Pack>> pack = Pack::read(options.file);
  if (!pack.ok()) return report_failure(pack.status());
  if (options.json) {
    print_json(**pack);
  } else {
    print_table(**pack);
  }
  return kExitGood;
}

int run_pack_verify(const PackVerifyOptions& options) {
  const Result<std::shared_ptr<const Pack>> pack = Pack::read(options.file);
  if (!pack.ok()) return report_failure(pack.status());
  if (const Status status = (*pack)->check_version(); !status.ok()) return report_failure(status);
  if (!options.target.empty()) {
    const Result<TargetName> name = parse_target(options.target);
    if (!name.ok()) return report_failure(name.status());
    const Status status = (*pack)->check_target(backend_for(*name), name->target);
    if (!status.ok()) return report_failure(status);
  }
  const auto faults = (*pack)->verify();
  for (const auto& [name, fault] : faults) fmt::print("damaged: {}: {}\n", name, fault);
  fmt::print("{} kernels for {}, {} damaged\n", (*pack)->entries().size(), target_text((*pack)->info()), faults.size());
  return faults.empty() ? kExitGood : kExitVerificationFailed;
}

}  // namespace wt::cli
