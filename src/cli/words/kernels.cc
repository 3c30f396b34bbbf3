// SPDX-License-Identifier: Apache-2.0
// cli/words/kernels.cc - explain, devices, targets, conformance, generate, cache and pack: what kernels there are and
// where they come from.
#include <CLI/CLI.hpp>
#include <map>

#include "base/format.h"
#include "cli/commands/cache.h"
#include "cli/commands/conformance.h"
#include "cli/commands/devices.h"
#include "cli/commands/explain.h"
#include "cli/commands/explain_suite.h"
#include "cli/commands/generate.h"
#include "cli/commands/pack.h"
#include "cli/commands/selftest.h"
#include "cli/commands/targets.h"
#include "cli/exit_code.h"
#include "cli/input/selection.h"
#include "cli/words/checks.h"
#include "cli/words/grammar.h"

namespace wt::cli {

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
  command->add_option("--gpu", options.gpu, "a GPU of docs/rates.md, such as 'H100 PCIe', which need not be here")
      ->type_name("NAME")
      ->excludes(device)
      ->excludes("--target");
  command->add_flag("--strict-nonfinite", options.strict_nonfinite, kStrictHelp);
  command->add_flag("--batch-invariant", options.batch_invariant, kBatchHelp);
  command->add_flag("!--nondeterministic", options.deterministic, kRepeatHelp);
  command
      ->add_option("--kernel", options.kernel,
                   "only whether this kernel can run the problem, and why not: its name, or the JSON of a config")
      ->type_name("NAME|FILE.json");
  add_register_option(*command, options.registered);
  command->add_flag("--all", options.all,
                    "list every kernel that an exhaustive search would try; a suite always has them");
  command->add_option("--filter", suite.filter, "of a suite, only rows whose name matches, with * ? and [...]")
      ->type_name("GLOB");
  command->add_option("--direction", suite.direction, "of a suite: fwd, bwd_data, bwd_weight or all")
      ->type_name("WHICH");
  add_json_option(*command, options.json);
  command->footer(
      "Examples:\n"
      "  wavetile explain 'fwd bf16 n16 c12 k36 i100x100 f3x3 p1'\n"
      "  wavetile explain bwd_data bf16 n8 c64 k64 i56x56 f3x3 s2 p1 --target sm_90a\n"
      "  wavetile explain fwd bf16 n8 c64 k64 i56x56 f3x3 p1 --gpu L40S\n"
      "  wavetile explain retinanet37 --target gfx942 --direction fwd\n");
  command->callback([&action] {
    action = [] {
      if (words.size() == 1 && is_suite(words.front())) {
        if (!options.kernel.empty() || !options.registered.empty())
          return report_failure(bad_input("--kernel and --register are for a problem, not for a suite"));
        if (!options.gpu.empty()) return report_failure(bad_input("--gpu is for a problem; a suite takes --target"));
        suite.what = words;
        suite.json = options.json;
        suite.strict_nonfinite = options.strict_nonfinite;
        suite.deterministic = options.deterministic;
        suite.batch_invariant = options.batch_invariant;
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

void add_devices(CLI::App& app, Action& action) {
  static DevicesOptions options;
  CLI::App* command = app.add_subcommand("devices", "List devices and compilers, and how to get what is missing");
  add_json_option(*command, options.json);
  command->footer("");
  command->callback([&action] { action = [] { return run_devices(options); }; });
}

void add_targets(CLI::App& app, Action& action) {
  static TargetsOptions options;
  CLI::App* command =
      app.add_subcommand("targets",
                         "Compile kernels for GPUs that need not be here, and check their machine code: instructions, "
                         "spills, and that no two names are one kernel");
  command->add_option("--target", options.targets, "such as gfx942 (default: every target)")->type_name("NAME");
  command->add_option("--kernels", options.kernels, "only kernels whose name contains this")->type_name("TEXT");
  command->add_option("--rule-set", options.rule_set, "all kernels of this rule set, instead of the first of each sort")
      ->type_name("NAME");
  command->add_flag("--loops", options.loops, "print what limits each AMD kernel's hot loop, in cycles");
  command->add_option("--update", options.update, "write the table anew in this page")->type_name("FILE");
  add_json_option(*command, options.json);
  command->add_flag("!--no-progress", options.progress, "no progress bar");
  command->footer(
      "Examples:\n"
      "  wavetile targets --target gfx942 --kernels four_wave\n"
      "  wavetile targets --target gfx942 --rule-set tests\n"
      "  wavetile targets --target gfx950 --rule-set profiler --kernels fwd_e4m3 --loops\n"
      "  wavetile targets --update docs/targets.md\n");
  command->callback([&action] { action = [] { return run_targets(options); }; });
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
  add_json_option(*command, options.json);
  command->add_flag("--list", options.list, "only list the probes");
  command->add_flag("!--no-progress", options.progress, "no progress bar");
  command->footer(
      "Without a GPU the simulator is compared with what the vendor's manuals say, computed on the host.\n"
      "Examples:\n"
      "  wavetile conformance --device gpu --json conformance.json\n"
      "  wavetile conformance --device sim:sm_90a --filter 'tma.*'\n");
  command->callback([&action] { action = [] { return run_conformance(options); }; });
}

void add_selftest(CLI::App& app, Action& action) {
  static SelftestOptions options;
  CLI::App* command =
      app.add_subcommand("selftest", "Find out whether this GPU, its driver and its compiler can be trusted");
  command->add_option("--device", options.device, "gpu, gpu:N (NVIDIA), hip, hip:N (AMD), or a simulator")
      ->type_name("ID")
      ->capture_default_str();
  command->add_option("-o,--output", options.output, "the result, as a file that can be sent")
      ->type_name("FILE")
      ->capture_default_str();
  command->add_option("--minutes", options.minutes, "for the kernels; the rest takes a minute")
      ->type_name("N")
      ->check(kPositive)
      ->capture_default_str();
  command->add_option("--kernels", options.kernels, "only so many kernels of the sample (default: all)")
      ->type_name("N")
      ->check(CLI::Range(1, 100000));
  command->add_flag("!--no-progress", options.progress, "no progress bar");
  command->footer(
      "Runs primitives, misuse that must fault, a sample of every kind and form of kernel, non-finite values, "
      "streams, graphs and memory limits. Ends with 0 where all is right.\n"
      "Example:\n"
      "  wavetile selftest --device gpu\n");
  command->callback([&action] { action = [] { return run_selftest(options); }; });
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
  for (const UnusedOption& option : unused_generate_options()) {
    const auto refuse = [&option](const std::string&) {
      throw CLI::ValidationError(std::string(option.names), std::string(option.why));
    };
    command->add_option_function<std::string>(std::string(option.names), refuse, std::string(option.why))
        ->expected(0, 1)
        ->type_name("")
        ->group("understood, not used");
  }
  command->footer(
      "Examples:\n"
      "  wavetile generate --list --target sm_90a --variant fwd --datatype bf16 --ndim 2\n"
      "  wavetile generate --target sm_90a --rule-set tiny --output kernels\n"
      "  wavetile generate --target sim:sm_80 --pipeline compv3 --run 'fwd bf16 n1 c16 k32 i9x9 f3x3 p1'\n"
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
  command->footer("");  // its own and its commands' help stand alone
  CLI::App* list = command->add_subcommand("list", "List the entries, newest first");
  add_json_option(*list, list_options.json);
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
  command->footer(
      "WAVETILE_PACK names the packs that plans use, separated by ':'; an installed one is used below them.\n");
  CLI::App* build = command->add_subcommand("build", "Compile a rule set into one file; needs no GPU");
  build->add_option("--target", build_options.target, "such as sm_90a or sim:sm_90a")->type_name("NAME")->required();
  CLI::Option* rule_set =
      build->add_option("--rule-set", build_options.rule_set, "default, full, full-tests, profiler, tests or tiny")
          ->type_name("NAME")
          ->capture_default_str();
  CLI::Option* tuned =
      build
          ->add_option("--tuned", build_options.tuned, "beside the rule set, the kernels of a 'wavetile tuning export'")
          ->type_name("FILE");
  build->add_option("--problems", build_options.problems, "instead, what tuning would try for these suites or problems")
      ->type_name("SUITE|PROBLEM...")
      ->excludes(rule_set)
      ->excludes(tuned);
  build
      ->add_option("--names", build_options.names,
                   "with --problems: the kernels whose names stand in this file, one per line, and no others")
      ->type_name("FILE");
  build
      ->add_option("--kernel", build_options.kernels,
                   "instead, the kernels of this .json file or folder, listed ones or not")
      ->type_name("FILE")
      ->excludes(rule_set)
      ->excludes(tuned)
      ->excludes("--problems");
  build->add_flag(
      "--allow-code", [](int64_t) { build_options.code = SuiteCode::kAllowed; },
      "compile the C++ that suite files of --problems hold (+f, +store); without it they are refused");
  build
      ->add_option("--within", build_options.within,
                   "with --problems: kernels within this factor of the least predicted time")
      ->type_name("TIMES")
      ->check(CLI::Range(1.0, 1e9))
      ->capture_default_str();
  build
      ->add_option("--most", build_options.most,
                   "with --problems: at most N kernels, those nearest to a least predicted time")
      ->type_name("N")
      ->check(kPositive);
  build->add_option("--seconds", build_options.seconds, "with --problems: after that, no further kernel is begun")
      ->type_name("SECONDS")
      ->check(kPositive);
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
      "  wavetile pack build --target sm_90a --problems resnet50 -o tune.wtpack\n");
  build->callback([&action] { action = [] { return run_pack_build(build_options); }; });
  CLI::App* list = command->add_subcommand("list", "List the kernels of a pack");
  list->add_option("FILE", list_options.file, "the pack")->required();
  add_json_option(*list, list_options.json);
  list->callback([&action] { action = [] { return run_pack_list(list_options); }; });
  CLI::App* verify = command->add_subcommand("verify", "Check a pack: whole, and of this version");
  verify->add_option("FILE", verify_options.file, "the pack")->required();
  verify->add_option("--target", verify_options.target, "and made for this target")->type_name("NAME");
  verify->callback([&action] { action = [] { return run_pack_verify(verify_options); }; });
}

}  // namespace wt::cli
