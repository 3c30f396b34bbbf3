// SPDX-License-Identifier: Apache-2.0
// cli/main.cc - the words of the command line. Each command is an option struct and a function of its own file.
//
// CLI11 stays in this source, which is slow to compile because of it.
#include <CLI/CLI.hpp>
#include <functional>
#include <map>

#include "base/format.h"
#include "base/version.h"
#include "cli/bench_command.h"
#include "cli/cache_command.h"
#include "cli/conformance_command.h"
#include "cli/devices_command.h"
#include "cli/exit_code.h"
#include "cli/explain_command.h"
#include "cli/explain_suite.h"
#include "cli/generate_command.h"
#include "cli/pack_command.h"
#include "cli/report_command.h"
#include "cli/run_command.h"
#include "cli/search_command.h"
#include "cli/selection.h"
#include "cli/suggestion.h"
#include "cli/targets_command.h"
#include "cli/tune_command.h"
#include "cli/tuning_command.h"

namespace wt::cli {
namespace {

using Action = std::function<int()>;  // what was asked for; runs once the whole line has been understood

constexpr const char* kDeviceHelp =
    "cpu, gpu, gpu:N, sim:TARGET (such as sim:sm_90a), or auto: the first GPU, else the CPU";

constexpr const char* kWorkspaceHelp = "most bytes of scratch memory (default: no limit; 0 always works)";
constexpr const char* kTuningHelp =
    "off: the cost model; cached: what was tuned before; first-use: tune now if it was not";

const std::map<std::string, Tuning> kTunings = {
    {"off", Tuning::kOff}, {"cached", Tuning::kCached}, {"first-use", Tuning::kFirstUse}};

// Options that run and bench share.
void add_plan_options(CLI::App& command, PlanOptions& plan) {
  command.add_option("--tuning", plan.tuning, kTuningHelp)
      ->type_name("MODE")
      ->transform(CLI::CheckedTransformer(kTunings))
      ->option_text("MODE");
  command.add_option("--tuning-seconds", plan.tuning_seconds, "limit of tuning on first use, for each problem")
      ->type_name("S")
      ->check(CLI::PositiveNumber);
  command.add_option("--workspace-limit", plan.workspace_limit, kWorkspaceHelp)
      ->type_name("BYTES")
      ->check(CLI::NonNegativeNumber);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

void add_run(CLI::App& app, Action& action) {
  static RunOptions options;
  static std::vector<std::string> words;
  CLI::App* command = app.add_subcommand("run", "Compute one problem, verify the result and time it");
  command->add_option("PROBLEM", words, "the problem's text, in quotes or as separate words")->required();
  command->add_option("--device", options.device, kDeviceHelp)->type_name("ID")->capture_default_str();
  command->add_option("--kernel", options.kernel, "run this kernel (see explain) instead of the chosen one")
      ->type_name("NAME");
  add_plan_options(*command, options.plan);
  command->add_flag("--exact", options.exact, "small-integer data, compared bit for bit");
  command->add_option("--same", options.same, "execute so many times and require the same bits each time")
      ->type_name("N")
      ->check(CLI::Range(1, 100000));
  command->add_option("--seed", options.seed, "of the random data")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--repeat", options.repeat, "timed repetitions (default: as many as make the time steady)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000));
  command->add_flag("--bias-gradient", options.bias_gradient,
                    "only the bias gradient of a bwd_weight problem: the sums of dy over images and pixels");
  command->add_flag("--json", options.json, "print the result as JSON");
  command->footer(
      "Examples:\n"
      "  wavetile run 'fwd bf16 n16 c256 k256 i56x56 f3x3 p1'\n"
      "  wavetile run bwd_weight fp16 n8 c64 k128 i28x28 f3x3 s2 p1 --device cpu --exact\n"
      "  wavetile run 'fwd fp32 n1 c32 k32 i16x16x16 f3x3x3 p1 +bias+relu' --json\n"
      "  wavetile run 'transposed bf16 n8 c64 k32 i14x14 f3x3 s2 p1 o1 +bias+relu'\n"
      "  wavetile run 'bwd_weight bf16 n16 c256 k36 i56x56 f3x3 p1' --bias-gradient\n");
  command->callback([&action] {
    action = [] {
      options.problem = joined(words);
      return run_run(options);
    };
  });
}

void add_search(CLI::App& app, Action& action) {
  static SearchCommandOptions options;
  CLI::App* command = app.add_subcommand("search", "Try every kernel that accepts a problem; verify and rank them");
  command->add_option("SUITE|PROBLEM", options.what, "names or files of suites, texts of problems in quotes")
      ->required();
  command->add_option("--device", options.device, kDeviceHelp)->type_name("ID")->capture_default_str();
  command->add_option("--filter", options.filter, "only rows whose name matches this pattern (* and ?)")
      ->type_name("GLOB");
  command->add_option("--direction", options.direction, "fwd, bwd_data, bwd_weight or all")->type_name("WHICH");
  command->add_option("--kernels", options.kernels, "only kernels whose name contains this")->type_name("TEXT");
  command->add_flag("--few", options.few, "only the kernels that a choice without tuning picks from");
  command->add_option("--best", options.best, "only so many with the least predicted times; 0: all")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--top", options.top, "rows shown of each problem")->type_name("N")->capture_default_str();
  command->add_option("--json", options.json, "write every row to this file (- for standard output)")
      ->type_name("FILE");
  command->add_flag("--exact", options.exact, "small-integer data, compared bit for bit");
  command->add_option("--same", options.same, "execute so many times and require the same bits each time")
      ->type_name("N")
      ->check(CLI::Range(1, 100000));
  command->add_option("--seed", options.seed, "of the random data")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--budget", options.budget, "seconds of timing a kernel")->type_name("S")->capture_default_str();
  command->add_flag("!--no-progress", options.progress, "no progress bar");
  command->footer(
      "Examples:\n"
      "  wavetile search 'fwd bf16 n16 c256 k256 i50x50 f3x3 p1' --device gpu\n"
      "  wavetile search retinanet37 --direction fwd --json search.json\n");
  command->callback([&action] { action = [] { return run_search(options); }; });
}

void add_bench(CLI::App& app, Action& action) {
  static BenchOptions options;
  CLI::App* command = app.add_subcommand("bench", "Verify and time suites of problems, as a table");
  command->add_option("SUITE", options.what, "suites by name, suite files, or problems in quotes")->required();
  command->add_option("--device", options.device, kDeviceHelp)->type_name("ID")->capture_default_str();
  command->add_option("--filter", options.filter, "only rows whose name matches, with * ? and [...]")
      ->type_name("GLOB");
  command
      ->add_option("--direction", options.direction,
                   "fwd, bwd_data, bwd_weight or all (default: suites in all three, problems as written)")
      ->type_name("DIR")
      ->check(CLI::IsMember({"fwd", "bwd_data", "bwd_weight", "all"}));
  command
      ->add_option("--compare", options.compare, "also time cuDNN, on a GPU: its autotuned best and its first choice")
      ->type_name("cudnn")
      ->check(CLI::IsMember({"cudnn"}));
  command
      ->add_option("--target", options.target,
                   "on the CPU, also show the kernel of this GPU target and run a cropped copy in its simulator")
      ->type_name("NAME")
      ->capture_default_str();
  command->add_flag(
      "--no-target", [](int64_t) { options.target.clear(); }, "only the CPU's own result");
  command->add_option("--json", options.json, "write the results there; - for standard output, without the table")
      ->type_name("FILE");
  add_plan_options(*command, options.plan);
  command->add_flag("--exact", options.exact, "small-integer data, compared bit for bit");
  command->add_option("--seed", options.seed, "of the random data")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--repeat", options.repeat, "timed repetitions (default: as many as make the time steady)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000));
  command->add_flag("!--no-progress", options.progress, "no progress bar");
  command->footer(
      "Examples:\n"
      "  wavetile bench quick\n"
      "  wavetile bench resnet50 --filter 'l2.*' --direction all --device cpu\n"
      "  wavetile bench resnet50 depthwise --json results.json\n"
      "  wavetile bench resnet50 --device gpu --compare cudnn --json results.json\n"
      "  wavetile bench 'fwd bf16 n8 c64 k64 i56x56 f3x3 p1' --repeat 20\n");
  command->callback([&action] { action = [] { return run_bench(options); }; });
}

void add_explain(CLI::App& app, Action& action) {
  static ExplainOptions options;
  static ExplainSuiteOptions suite;
  static std::vector<std::string> words;
  CLI::App* command = app.add_subcommand("explain", "Show which kernels take a problem, which decline it, and why");
  command->add_option("PROBLEM|SUITE", words, "the problem's text, in quotes or as separate words; or suites")
      ->required();
  CLI::Option* device = command->add_option("--device", options.device, kDeviceHelp)->type_name("ID");
  command
      ->add_option("--target", suite.targets,
                   "a GPU target, such as sm_90a, which need not be here; several, or all by default, for a suite")
      ->type_name("NAME")
      ->excludes(device);
  command->add_flag("--all", options.all,
                    "list every kernel that an exhaustive search would try; a suite always has them");
  command->add_option("--filter", suite.filter, "of a suite, only rows whose name matches, with * ? and [...]")
      ->type_name("GLOB");
  command->add_option("--direction", suite.direction, "of a suite: fwd, bwd_data, bwd_weight or all")
      ->type_name("WHICH");
  command->add_flag("--json", options.json, "print it as JSON");
  command->footer(
      "Examples:\n"
      "  wavetile explain 'fwd bf16 n16 c12 k36 i100x100 f3x3 p1'\n"
      "  wavetile explain bwd_data bf16 n8 c64 k64 i56x56 f3x3 s2 p1 --target sm_90a\n"
      "  wavetile explain retinanet37 --target gfx942 --direction fwd\n");
  command->callback([&action] {
    action = [] {
      if (words.size() == 1 && is_suite(words.front())) {
        suite.what = words;
        suite.json = options.json;
        return run_explain_suite(suite);
      }
      if (suite.targets.size() > 1 || !suite.filter.empty() || !suite.direction.empty())
        return report_failure(bad_input("--filter, --direction and more than one --target are for suites"));
      options.problem = joined(words);
      if (!suite.targets.empty()) options.target = suite.targets.front();
      return run_explain(options);
    };
  });
}

void add_targets(CLI::App& app, Action& action) {
  static TargetsOptions options;
  CLI::App* command =
      app.add_subcommand("targets", "Compile kernels for GPUs that need not be here, and check their machine code");
  command->add_option("--target", options.targets, "such as gfx942 (default: every target)")->type_name("NAME");
  command->add_option("--kernels", options.kernels, "only kernels whose name contains this")->type_name("TEXT");
  command->add_option("--update", options.update, "write the table anew in this page")->type_name("FILE");
  command->add_flag("--json", options.json, "print every kernel as JSON");
  command->add_flag("!--no-progress", options.progress, "no progress bar");
  command->footer(
      "Examples:\n"
      "  wavetile targets --target gfx942 --kernels four_wave\n"
      "  wavetile targets --update docs/targets.md\n");
  command->callback([&action] { action = [] { return run_targets(options); }; });
}

void add_devices(CLI::App& app, Action& action) {
  static DevicesOptions options;
  CLI::App* command = app.add_subcommand("devices", "List devices and compilers, and how to get what is missing");
  command->add_flag("--json", options.json, "print it as JSON");
  command->callback([&action] { action = [] { return run_devices(options); }; });
}

void add_conformance(CLI::App& app, Action& action) {
  static ConformanceOptions options;
  CLI::App* command =
      app.add_subcommand("conformance", "Run every primitive on a GPU and in the simulator; compare bit for bit");
  command->add_option("--device", options.device, "gpu, gpu:N, sim:sm_80, sim:sm_90a, or auto: the first GPU, if any")
      ->type_name("ID")
      ->capture_default_str();
  command->add_option("--filter", options.filter, "only probes whose name matches, with * ? and [...]")
      ->type_name("GLOB");
  command->add_option("--json", options.json, "write the results there; - for standard output, without the table")
      ->type_name("FILE");
  command->add_flag("--list", options.list, "only list the probes");
  command->add_flag("!--no-progress", options.progress, "no progress bar");
  command->footer(
      "Without a GPU the simulator is compared with what the vendor's manuals say, computed on the host.\n"
      "Examples:\n"
      "  wavetile conformance --device gpu --json conformance.json\n"
      "  wavetile conformance --device sim:sm_90a --filter 'tma.*'\n");
  command->callback([&action] { action = [] { return run_conformance(options); }; });
}

// The options are data of src/generate; what was not given is not handed on.
void add_generate(CLI::App& app, Action& action) {
  static std::map<std::string, std::vector<std::string>> given;
  static std::vector<std::pair<std::string, const CLI::Option*>> options;
  CLI::App* command = app.add_subcommand("generate", "List kernels, or write their sources to a folder");
  for (const GenerateOption& option : generate_options()) {
    const std::string key(option.key);
    CLI::Option* added = command->add_option(std::string(option.names), given[key], std::string(option.help));
    if (option.value.empty()) {
      added->expected(0, 1)->type_name("");
    } else {
      added->expected(1, option.several ? 1 << 20 : 1)->type_name(std::string(option.value));
    }
    options.emplace_back(key, added);
  }
  command->footer(
      "Examples:\n"
      "  wavetile generate --list --target sm_90a --variant fwd --datatype bf16 --ndim 2\n"
      "  wavetile generate --target sm_90a --rule-set tiny --output kernels\n"
      "  wavetile generate --target sm_80 --pipeline basic_v1 --tile-m 64 --tile-n 64 --tile-k 32 --list\n");
  command->callback([&action] {
    action = [] {
      GenerateValues values;
      for (const auto& [key, option] : options)
        if (option->count() > 0) values[key] = given[key];
      return run_generate(values);
    };
  });
}

void add_cache(CLI::App& app, Action& action) {
  static CacheListOptions list_options;
  static CacheVerifyOptions verify_options;
  CLI::App* command = app.add_subcommand("cache", "List, verify or clear the compiled kernels on disk");
  command->require_subcommand(1);
  CLI::App* list = command->add_subcommand("list", "List the entries, newest first");
  list->add_flag("--json", list_options.json, "print them as JSON");
  list->callback([&action] { action = [] { return run_cache_list(list_options); }; });
  CLI::App* verify = command->add_subcommand("verify", "Check every entry; exit code 1 where one is damaged");
  verify->add_flag("--remove", verify_options.remove, "delete the damaged entries");
  verify->callback([&action] { action = [] { return run_cache_verify(verify_options); }; });
  CLI::App* clear = command->add_subcommand("clear", "Delete every entry");
  clear->callback([&action] { action = [] { return run_cache_clear(); }; });
}

void add_pack(CLI::App& app, Action& action) {
  static PackBuildOptions build_options;
  static PackListOptions list_options;
  static PackVerifyOptions verify_options;
  CLI::App* command = app.add_subcommand("pack", "Build, list or verify a file of compiled kernels");
  command->require_subcommand(1);
  CLI::App* build = command->add_subcommand("build", "Compile a rule set into one file; needs no GPU");
  build->add_option("--target", build_options.target, "such as sm_90a or sim:sm_90a")->type_name("NAME")->required();
  CLI::Option* rule_set =
      build->add_option("--rule-set", build_options.rule_set, "default, full, full-tests, profiler, tests or tiny")
          ->type_name("NAME")
          ->capture_default_str();
  build->add_option("--problems", build_options.problems, "instead, what tuning would try for these suites or problems")
      ->type_name("SUITE|PROBLEM...")
      ->excludes(rule_set);
  build->add_option("--within", build_options.within, "of problems: up to so many times the least predicted time")
      ->type_name("TIMES")
      ->check(CLI::Range(1.0, 1e9))
      ->capture_default_str();
  build
      ->add_option("--most", build_options.most,
                   "of problems: so many kernels, those nearest to a least predicted time")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  build->add_option("--seconds", build_options.seconds, "of problems: after that, no further kernel is begun")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber);
  build->add_option("-o,--output", build_options.output, "the pack")->type_name("FILE")->required();
  build->add_option("--variant", build_options.variants, "fwd, bwd_data, bwd_weight (default: all)")->type_name("DIR");
  build->add_option("--datatype", build_options.datatypes, "input types (default: all)")->type_name("TYPE");
  build->add_option("--ndim", build_options.dims, "spatial dimensions (default: all)")
      ->type_name("N")
      ->check(CLI::Range(1, 3));
  build->add_flag("--allow-spills", build_options.allow_spills, "keep kernels that spill registers");
  build->add_option("--report", build_options.report, "write the build's figures as JSON")->type_name("FILE");
  build->add_flag("!--no-progress", build_options.progress, "no progress bar");
  build->footer(
      "Examples:\n"
      "  wavetile pack build --target sm_90a --rule-set default -o sm_90a.wtpack\n"
      "  wavetile pack build --target sm_90a --problems resnet50 retinanet37 -o tune.wtpack\n");
  build->callback([&action] { action = [] { return run_pack_build(build_options); }; });
  CLI::App* list = command->add_subcommand("list", "List the kernels of a pack");
  list->add_option("FILE", list_options.file, "the pack")->required();
  list->add_flag("--json", list_options.json, "print them as JSON");
  list->callback([&action] { action = [] { return run_pack_list(list_options); }; });
  CLI::App* verify = command->add_subcommand("verify", "Check a pack: whole, and of this version");
  verify->add_option("FILE", verify_options.file, "the pack")->required();
  verify->add_option("--target", verify_options.target, "and made for this target")->type_name("NAME");
  verify->callback([&action] { action = [] { return run_pack_verify(verify_options); }; });
}

void add_tune(CLI::App& app, Action& action) {
  static TuneCommandOptions options;
  CLI::App* command =
      app.add_subcommand("tune", "Measure the kernels of problems, verify them and remember the fastest");
  command->add_option("SUITE|PROBLEM", options.what, "suites by name, suite files, or problems in quotes")->required();
  command->add_option("--device", options.device, kDeviceHelp)->type_name("ID")->capture_default_str();
  command->add_option("--filter", options.filter, "only rows whose name matches, with * ? and [...]")
      ->type_name("GLOB");
  command
      ->add_option("--direction", options.direction,
                   "fwd, bwd_data, bwd_weight or all (default: suites in all three, problems as written)")
      ->type_name("DIR")
      ->check(CLI::IsMember({"fwd", "bwd_data", "bwd_weight", "all"}));
  command->add_option("--budget", options.budget, "seconds for everything (default: as long as it takes)")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber);
  command->add_option("--workspace-limit", options.workspace_limit, kWorkspaceHelp)
      ->type_name("BYTES")
      ->check(CLI::NonNegativeNumber);
  command->add_flag("--few", options.few, "only the best guesses of each kind of kernel");
  command->add_flag("--exhaustive", options.exhaustive, "try also what the cost model says cannot win");
  command->add_flag("--precompiled", options.precompiled,
                    "only kernels that a pack or the cache holds: none is compiled");
  command->add_flag("--quick", options.quick, "few runs of each kernel: sooner done, with a wider spread");
  command->add_flag("--again", options.again, "measure anew what is tuned already");
  command->add_option("--json", options.json, "write what was measured there; - for standard output")
      ->type_name("FILE");
  command->add_option("--seed", options.seed, "of the random data")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_flag("!--no-progress", options.progress, "no progress bar");
  command->footer(
      "A stopped tuning goes on where it was when the command is given again.\n"
      "Examples:\n"
      "  wavetile tune resnet50 --device gpu\n"
      "  wavetile tune retinanet37 --direction fwd --budget 600\n"
      "  wavetile tune 'fwd bf16 n16 c256 k256 i56x56 f3x3 p1' --workspace-limit 0\n");
  command->callback([&action] { action = [] { return run_tune(options); }; });
}

void add_tuning(CLI::App& app, Action& action) {
  static TuningListOptions list_options;
  static TuningExportOptions export_options;
  static TuningPruneOptions prune_options;
  static std::string import_file, merge_file, kernel;
  CLI::App* command = app.add_subcommand("tuning", "List, carry over or clean what was tuned");
  command->require_subcommand(1);
  CLI::App* list = command->add_subcommand("list", "List the entries, and the kernels in quarantine");
  list->add_flag("--json", list_options.json, "print them as JSON");
  list->callback([&action] { action = [] { return run_tuning_list(list_options); }; });
  CLI::App* exported = command->add_subcommand("export", "Write everything as JSON");
  exported->add_option("FILE", export_options.file, "where to; - for standard output")->required();
  exported->add_flag("--measurements", export_options.measurements, "also every candidate that was tried");
  exported->callback([&action] { action = [] { return run_tuning_export(export_options); }; });
  CLI::App* imported = command->add_subcommand("import", "Take over what an export holds, where it is newer");
  imported->add_option("FILE", import_file, "the export")->required();
  imported->callback([&action] { action = [] { return run_tuning_import(import_file); }; });
  CLI::App* merge = command->add_subcommand("merge", "Take over what another database holds, where it is newer");
  merge->add_option("FILE", merge_file, "the other database")->required();
  merge->callback([&action] { action = [] { return run_tuning_merge(merge_file); }; });
  CLI::App* prune = command->add_subcommand("prune", "Drop entries");
  prune->add_flag("--stale", prune_options.stale, "whose kernel has other machine code now");
  prune->add_option("--older-than", prune_options.older_days, "saved longer ago")
      ->type_name("DAYS")
      ->check(CLI::NonNegativeNumber);
  prune->add_option("--gpu", prune_options.gpu, "of this GPU")->type_name("NAME");
  prune->add_flag("--all", prune_options.all, "all of them");
  prune->callback([&action] { action = [] { return run_tuning_prune(prune_options); }; });
  CLI::App* release = command->add_subcommand("release", "Let a kernel out of quarantine");
  release->add_option("KERNEL", kernel, "its name")->required();
  release->callback([&action] { action = [] { return run_tuning_release(kernel); }; });
  CLI::App* verify = command->add_subcommand("verify", "Read the whole file and say whether it is sound");
  verify->callback([&action] { action = [] { return run_tuning_verify(); }; });
  command->footer("WAVETILE_TUNING_DB names another file than tuning.db in the data folder.\n");
}

void add_report(CLI::App& app, Action& action) {
  static ReportOptions options;
  CLI::App* command = app.add_subcommand("report", "Show the results of a benchmark, or of two, as a web page");
  command->add_option("FILE", options.files, "JSON of bench or bench/compare.py; two to compare, the older first")
      ->required()
      ->expected(1, 2);
  command->add_option("-o,--output", options.output, "the page")->type_name("FILE")->capture_default_str();
  command->footer(
      "The page is one file that needs no network.\n"
      "Examples:\n"
      "  wavetile report results.json\n"
      "  wavetile report before.json after.json -o change.html\n");
  command->callback([&action] { action = [] { return run_report(options); }; });
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

// The command that the line got to, through commands of commands.
const CLI::App& innermost(const CLI::App& app) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return *command;
}

std::string full_name(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent ? full_name(*parent) + " " + command.get_name() : "wavetile";
}

// One line on what was wrong with the command line, with the word that was probably meant.
std::string usage_fault(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = innermost(app);
  std::string fault;
  if (!command.get_subcommands({}).empty()) {  // a command is missing or mistyped
    const std::vector<std::string> left = app.remaining(true);
    const std::string word = left.empty() ? "" : left.front();
    if (word.empty()) {
      fault = "a command is missing";
    } else if (word.starts_with("-")) {
      fault = fmt::format("unknown option '{}'{}", word, did_you_mean(word, option_names(command)));
    } else {
      fault = fmt::format("unknown command '{}'{}", word, did_you_mean(word, command_names(command)));
    }
  } else if (dynamic_cast<const CLI::ExtrasError*>(&error)) {
    const std::vector<std::string> left = app.remaining(true);
    const std::string word = left.empty() ? "" : left.front().substr(0, left.front().find('='));
    fault = word.starts_with("-")
                ? fmt::format("unknown option '{}'{}", word, did_you_mean(word, option_names(command)))
                : fmt::format("unexpected word '{}'", word);
  } else {
    fault = error.what();
  }
  return fmt::format("{} (see {} --help)", fault, full_name(command));
}

int run_main(int argc, char** argv) {
  CLI::App app{"Convolutions on GPUs and CPUs: the kernel a problem needs, generated, compiled, checked and timed."};
  app.name("wavetile");
  app.set_version_flag("--version", fmt::format("wavetile {}", kVersion));
  app.set_help_flag("-h,--help", "print this help and exit");
  app.require_subcommand(1);
  app.get_formatter()->column_width(28);
  app.footer(
      "Examples:\n"
      "  wavetile bench quick                      a short suite of real layers, every result verified\n"
      "  wavetile run 'fwd bf16 n16 c256 k256 i56x56 f3x3 p1'\n"
      "  wavetile explain 'fwd bf16 n16 c12 k36 i100x100 f3x3 p1'\n"
      "  wavetile devices\n\n"
      "Exit codes: 0 good, 1 verification failed, 2 bad input, 3 unsupported, 4 device or compiler trouble,\n"
      "130 interrupted. WAVETILE_LOG=info logs every execution as a command that repeats it.\n");

  Action action;
  add_run(app, action);
  add_bench(app, action);
  add_search(app, action);
  add_tune(app, action);
  add_tuning(app, action);
  add_report(app, action);
  add_explain(app, action);
  add_devices(app, action);
  add_targets(app, action);
  add_conformance(app, action);
  add_generate(app, action);
  add_cache(app, action);
  add_pack(app, action);

  if (argc == 1) {
    fmt::print(stderr, "{}", app.help());
    return kExitBadInput;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);  // prints the help or the version that was asked for
  } catch (const CLI::ParseError& error) {
    return report_failure(bad_input("{}", usage_fault(app, error)));
  }
  return action();
}

}  // namespace
}  // namespace wt::cli

int main(int argc, char** argv) { return wt::cli::run_main(argc, argv); }
