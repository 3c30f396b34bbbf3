// SPDX-License-Identifier: Apache-2.0
// cli/main.cc - reads the command line (words.h) and runs what it asks for, or says what is wrong with it.
#include <CLI/CLI.hpp>

#include "base/format.h"
#include "base/version.h"
#include "cli/exit_code.h"
#include "cli/suggestion.h"
#include "cli/words.h"

namespace wt::cli {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

namespace {

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
