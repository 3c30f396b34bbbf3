// SPDX-License-Identifier: Apache-2.0
// cli/kernel_words.cc - explain, devices, targets, conformance, generate, cache and pack: what kernels there are and
// where they come from.
#include <CLI/CLI.hpp>
#include <map>

#include "base/format.h"
#include "cli/cache_command.h"
#include "cli/checks.h"
#include "cli/conformance_command.h"
#include "cli/devices_command.h"
#include "cli/exit_code.h"
#include "cli/explain_command.h"
#include "cli/explain_suite.h"
#include "cli/generate_command.h"
#include "cli/pack_command.h"
#include "cli/selection.h"
#include "cli/targets_command.h"
#include "cli/words.h"

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
  command->add_flag("--strict-nonfinite", options.strict_nonfinite, kStrictHelp);
  command->add_flag("!--nondeterministic", options.deterministic, kRepeatHelp);
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
        suite.strict_nonfinite = options.strict_nonfinite;
        suite.deterministic = options.deterministic;
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
  command->add_flag("--json", options.json, "print it as JSON");
  command->footer("");
  command->callback([&action] { action = [] { return run_devices(options); }; });
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
  command->footer("");  // its own and its commands' help stand alone
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
  command->footer("WAVETILE_PACK names the packs that plans use, separated by ':'.\n");
  CLI::App* build = command->add_subcommand("build", "Compile a rule set into one file; needs no GPU");
  build->add_option("--target", build_options.target, "such as sm_90a or sim:sm_90a")->type_name("NAME")->required();
  CLI::Option* rule_set =
      build->add_option("--rule-set", build_options.rule_set, "default, full, full-tests, profiler, tests or tiny")
          ->type_name("NAME")
          ->capture_default_str();
  build->add_option("--problems", build_options.problems, "instead, what tuning would try for these suites or problems")
      ->type_name("SUITE|PROBLEM...")
      ->excludes(rule_set);
  build
      ->add_option("--names", build_options.names,
                   "of problems: the kernels whose names stand in this file, one a line, and no others")
      ->type_name("FILE");
  build->add_option("--within", build_options.within, "of problems: up to so many times the least predicted time")
      ->type_name("TIMES")
      ->check(CLI::Range(1.0, 1e9))
      ->capture_default_str();
  build
      ->add_option("--most", build_options.most,
                   "of problems: so many kernels, those nearest to a least predicted time")
      ->type_name("N")
      ->check(kPositive);
  build->add_option("--seconds", build_options.seconds, "of problems: after that, no further kernel is begun")
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

}  // namespace wt::cli
