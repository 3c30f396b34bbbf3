// SPDX-License-Identifier: Apache-2.0
// cli/words/measuring.cc - run, search, bench, tune, tuning and report: what computes, times and remembers.
#include <CLI/CLI.hpp>
#include <map>

#include "cli/commands/bench.h"
#include "cli/commands/report.h"
#include "cli/commands/run.h"
#include "cli/commands/search.h"
#include "cli/commands/tune.h"
#include "cli/commands/tuning.h"
#include "cli/words/checks.h"
#include "cli/words/grammar.h"
#include "kernels/shared/split.h"

namespace wt::cli {
namespace {

constexpr const char* kWorkspaceHelp = "most bytes of scratch memory (default: no limit)";
constexpr const char* kTuningHelp =
    "off: the cost model; cached: what was tuned before; first-use: tune now if it was not";

constexpr const char* kOwnHelp =
    "only the kernels of this .json file, folder, pack or exported tree's library, listed ones or not";

constexpr const char* kSplitsHelp =
    "into how many parts kernels that divide their sums do so, as far as they can (default: as predicted); occupancy: "
    "as "
    "many as fill the GPU by the compiled kernel's registers and shared memory";

void add_splits(CLI::App& command, int& splits) {
  command.add_option("--splits", splits, kSplitsHelp)
      ->type_name("N")
      ->transform(CLI::Validator(
          [](std::string& text) {
            if (text != "occupancy") return CLI::Range(1, static_cast<int>(kMaxSplits))(text);
            text = std::to_string(kSplitsByOccupancy);
            return std::string();
          },
          ""));
}

const std::map<std::string, Tuning> kTunings = {
    {"off", Tuning::kOff}, {"cached", Tuning::kCached}, {"first-use", Tuning::kFirstUse}};

// Options that run and bench share.
void add_plan_options(CLI::App& command, PlanOptions& plan) {
  const auto set_tuning = [&plan](const std::string& mode) { plan.tuning = kTunings.at(mode); };
  command.add_option_function<std::string>("--tuning", set_tuning, kTuningHelp)
      ->check(CLI::IsMember(kTunings))
      ->option_text("MODE");
  command.add_option("--tuning-seconds", plan.tuning_seconds, "limit of tuning on first use, for each problem")
      ->type_name("S")
      ->check(kPositive);
  command.add_option("--workspace-limit", plan.workspace_limit, kWorkspaceHelp)
      ->type_name("BYTES")
      ->check(kNotNegative);
  add_splits(command, plan.splits);
  command.add_flag("--strict-nonfinite", plan.strict_nonfinite, kStrictHelp);
  command.add_flag("--batch-invariant", plan.batch_invariant, kBatchHelp);
  command.add_flag("!--nondeterministic", plan.deterministic, kRepeatHelp);
}

}  // namespace

void add_register_option(CLI::App& command, std::vector<std::string>& words) {
  command
      .add_option("--register", words,
                  "kernels to choose from, too: a .json file, a folder, a pack or an exported tree's library, with "
                  "=low, =normal (the default) or =high after it")
      ->type_name("WHAT[=PRIORITY]");
}

void add_run(CLI::App& app, Action& action) {
  static RunOptions options;
  static std::vector<std::string> words;
  CLI::App* command = app.add_subcommand("run", "Compute one problem, verify the result and time it");
  command->add_option("PROBLEM", words, "the problem's text, in quotes or as separate words")->required();
  command->add_option("--device", options.device, kDeviceHelp)->type_name("ID")->capture_default_str();
  command
      ->add_option("--kernel", options.kernel,
                   "run this kernel instead of the chosen one: its name (see explain), or the JSON of a config")
      ->type_name("NAME|FILE.json");
  add_register_option(*command, options.registered);
  add_plan_options(*command, options.plan);
  command->add_flag("--exact", options.exact, "small-integer data, compared bit for bit");
  command->add_option("--same", options.same, "execute N times and require the same bits each time")
      ->type_name("N")
      ->check(CLI::Range(1, 100000));
  command->add_option("--seed", options.seed, "of the random data")
      ->type_name("N")
      ->check(kNotNegative)
      ->capture_default_str();
  command->add_option("--repeat", options.repeat, "timed repetitions (default: as many as make the time steady)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000));
  command->add_flag("--bias-gradient", options.bias_gradient,
                    "only the bias gradient of a bwd_weight problem: the sums of dy over images and pixels");
  add_json_option(*command, options.json);
  command->footer(
      "Examples:\n"
      "  wavetile run 'fwd bf16 n16 c256 k256 i56x56 f3x3 p1'\n"
      "  wavetile run bwd_weight fp16 n8 c64 k128 i28x28 f3x3 s2 p1 --device cpu --exact\n"
      "  wavetile run 'fwd fp32 n1 c32 k32 i16x16x16 f3x3x3 p1 +bias+relu' --json\n"
      "  wavetile run 'transposed bf16 n8 c64 k32 i14x14 f3x3 s2 p1 o1 +bias+relu'\n"
      "  wavetile run 'fwd bf16 n16 c64 k64 i28x28 f3x3 p1' --batch-invariant\n"
      "  wavetile run 'gemm bf16 m512 n1024 k768 b4 +add=1:0.5+gelu'\n"
      "  wavetile run 'bwd_weight bf16 n16 c256 k36 i56x56 f3x3 p1' --bias-gradient\n");
  command->callback([&action] {
    action = [] {
      options.problem = joined(words);
      return run_run(options);
    };
  });
}

// A suite file may hold C++ (selection.h).
void add_code_option(CLI::App& command, SuiteCode& code) {
  command.add_flag(
      "--allow-code", [&code](int64_t) { code = SuiteCode::kAllowed; },
      "compile and run the C++ that suite files hold (+f, +store); without it they are refused");
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
  command->add_option("--names", options.names, "only kernels whose names stand in this file, one per line")
      ->type_name("FILE");
  command->add_option("--kernel", options.own, kOwnHelp)->type_name("FILE");
  add_register_option(*command, options.registered);
  add_code_option(*command, options.code);
  command->add_flag("--few", options.few, "only the kernels that a choice without tuning picks from");
  add_splits(*command, options.splits);
  command->add_flag("--strict-nonfinite", options.strict_nonfinite, kStrictHelp);
  command->add_flag("!--nondeterministic", options.deterministic, kRepeatHelp);
  command->add_option("--best", options.best, "only the N with the least predicted times; 0: all")
      ->type_name("N")
      ->check(kNotNegative);
  command->add_option("--top", options.top, "rows shown of each problem")->type_name("N")->capture_default_str();
  add_json_option(*command, options.json);
  command->add_flag("--exact", options.exact, "small-integer data, compared bit for bit");
  command->add_flag("!--no-time", options.time, "verify, and time nothing");
  command->add_option("--same", options.same, "execute N times and require the same bits each time")
      ->type_name("N")
      ->check(CLI::Range(1, 100000));
  command->add_option("--seed", options.seed, "of the random data")
      ->type_name("N")
      ->check(kNotNegative)
      ->capture_default_str();
  command->add_option("--budget", options.budget, "seconds of timing a kernel")->type_name("S")->capture_default_str();
  command->add_flag("!--no-progress", options.progress, "no progress bar");
  command->footer(
      "Examples:\n"
      "  wavetile search 'fwd bf16 n16 c256 k256 i50x50 f3x3 p1' --device gpu\n"
      "  wavetile search retinanet37 --direction fwd --json search.json\n");
  command->callback([&action] { action = [] { return run_search(options); }; });
}

// Which rows of the suites, and in which directions.
void add_row_options(CLI::App& command, std::string& filter, std::string& direction) {
  command.add_option("--filter", filter, "only rows whose name matches, with * ? and [...]")->type_name("GLOB");
  command
      .add_option("--direction", direction,
                  "fwd, bwd_data, bwd_weight or all (default: suites in all three, problems as written)")
      ->type_name("DIR")
      ->check(CLI::IsMember({"fwd", "bwd_data", "bwd_weight", "all"}));
}

void add_bench(CLI::App& app, Action& action) {
  static BenchOptions options;
  CLI::App* command = app.add_subcommand("bench", "Verify and time suites of problems, as a table");
  command->add_option("SUITE", options.what, "suites by name, suite files, or problems in quotes");
  command->add_option("--log", options.log, "the problems of a log of executions (WAVETILE_LOG=info)")
      ->type_name("FILE");
  command->add_option("--device", options.device, kDeviceHelp)->type_name("ID")->capture_default_str();
  add_row_options(*command, options.filter, options.direction);
  add_code_option(*command, options.code);
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
  add_json_option(*command, options.json);
  add_output_option(*command, "--csv", options.csv, "the rows as CSV, to FILE or to standard output");
  command->add_flag("--quiet", options.quiet, "only the summary and what went wrong");
  command->add_flag("!--no-roof", options.roof, "do not measure how fast the device is (no share of the limit)");
  add_plan_options(*command, options.plan);
  command->add_flag("--exact", options.exact, "small-integer data, compared bit for bit");
  command->add_option("--seed", options.seed, "of the random data")
      ->type_name("N")
      ->check(kNotNegative)
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

void add_tune(CLI::App& app, Action& action) {
  static TuneCommandOptions options;
  CLI::App* command =
      app.add_subcommand("tune", "Measure the kernels of problems, verify them and remember the fastest");
  command->add_option("SUITE|PROBLEM", options.what, "suites by name, suite files, or problems in quotes")->required();
  command->add_option("--device", options.device, kDeviceHelp)->type_name("ID")->capture_default_str();
  add_row_options(*command, options.filter, options.direction);
  add_code_option(*command, options.code);
  command->add_option("--budget", options.budget, "seconds for everything (default: as long as it takes)")
      ->type_name("SECONDS")
      ->check(kPositive);
  command->add_option("--workspace-limit", options.workspace_limit, kWorkspaceHelp)
      ->type_name("BYTES")
      ->check(kNotNegative);
  command->add_flag("--strict-nonfinite", options.strict_nonfinite, kStrictHelp);
  command->add_option("--kernel", options.own, kOwnHelp)->type_name("FILE");
  add_register_option(*command, options.registered);
  command->add_flag("--few", options.few, "only the best guesses of each kind of kernel");
  command->add_flag("--exhaustive", options.exhaustive, "try also what the cost model says cannot win");
  command->add_flag("--precompiled", options.precompiled,
                    "only kernels that a pack or the cache holds: none is compiled");
  command->add_flag("--quick", options.quick, "few runs of each kernel: sooner done, with a wider spread");
  command->add_flag("--again", options.again, "measure anew what is tuned already");
  add_json_option(*command, options.json);
  command->add_option("--seed", options.seed, "of the random data")
      ->type_name("N")
      ->check(kNotNegative)
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
  add_json_option(*list, list_options.json);
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
      ->check(kNotNegative);
  prune->add_option("--gpu", prune_options.gpu, "of this GPU")->type_name("NAME");
  prune->add_flag("--all", prune_options.all, "all of them");
  prune->callback([&action] { action = [] { return run_tuning_prune(prune_options); }; });
  CLI::App* release = command->add_subcommand("release", "Let a kernel out of quarantine");
  release->add_option("KERNEL", kernel, "its name")->required();
  release->callback([&action] { action = [] { return run_tuning_release(kernel); }; });
  CLI::App* check = command->add_subcommand(
      "check", "Say which entries plans still take; kernels whose source has changed are compiled and compared, once");
  check->callback([&action] { action = [] { return run_tuning_check(); }; });
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
  command->add_option("--history", options.history, "also draw this history of benchmarks (bench/history.py)")
      ->type_name("FILE");
  command->add_option("-o,--output", options.output, "the page")->type_name("FILE")->capture_default_str();
  command->footer(
      "The page is one file that needs no network.\n"
      "Examples:\n"
      "  wavetile report results.json\n"
      "  wavetile report before.json after.json -o change.html\n");
  command->callback([&action] { action = [] { return run_report(options); }; });
}

}  // namespace wt::cli
