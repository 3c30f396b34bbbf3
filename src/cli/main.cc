// SPDX-License-Identifier: Apache-2.0
// cli/main.cc - reads the command line (words/) and runs what it asks for, or says what is wrong with it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/version.h"
#include "cli/exit_code.h"
#include "cli/input/selection.h"
#include "cli/input/suggestion.h"
#include "cli/interrupt.h"
#include "cli/show/terminal.h"
#include "cli/words/completion.h"
#include "cli/words/grammar.h"

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

// What the packages install, and what the completions ask for.
void add_other_forms(CLI::App& app, Action& action) {
  static std::string shell;
  CLI::App* completions = app.add_subcommand("completion", "Print the completions for a shell");
  completions->add_option("SHELL", shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completions->footer(
      "Examples:\n"
      "  source <(wavetile completion bash)\n"
      "  wavetile completion fish > ~/.config/fish/completions/wavetile.fish\n");
  completions->callback([&app, &action] {
    action = [&app] {
      fmt::print("{}", completion(app, shell));
      return int{kExitGood};
    };
  });
  CLI::App* man = app.add_subcommand("man", "Print the man page");
  man->footer("Examples:\n  wavetile man | man -l -\n");
  man->callback([&app, &action] {
    action = [&app] {
      fmt::print("{}", man_page(app));
      return int{kExitGood};
    };
  });
  CLI::App* suites = app.add_subcommand("suites", "List the names of the suites that are found here");
  suites->callback([&action] {
    action = [] {
      for (const std::string& name : suite_names()) fmt::print("{}\n", name);
      return int{kExitGood};
    };
  });
}

// Help is wrapped to the terminal, and to 100 columns elsewhere.
class WrappedHelp : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool) const override {
    return wrapped(option_words(*option), make_option_desc(option));
  }
  std::string make_description(const CLI::App* command) const override {
    return wrap(command->get_description(), output_columns() > 0 ? output_columns() : 100, "");
  }
  std::string make_footer(const CLI::App* command) const override {
    const std::string footer = command->get_footer();
    std::string text;
    for (size_t at = 0; at < footer.size();) {
      const size_t end = std::min(footer.find('\n', at), footer.size());
      const std::string line = footer.substr(at, end - at);
      const bool example = line.starts_with("  ");  // stays as it is, to be copied
      text += example || line.empty() ? line + "\n" : wrap(line, output_columns() > 0 ? output_columns() : 100, "");
      at = end + 1;
    }
    return text + (text.empty() ? "" : "\n");
  }
  std::string make_subcommand(const CLI::App* command) const override {
    return wrapped(command->get_name(), command->get_description());
  }

 private:
  std::string wrapped(const std::string& left, const std::string& right) const {
    const int columns = output_columns() > 0 ? output_columns() : 100, indent = 26;
    std::string lines = wrap(right, columns, std::string(static_cast<size_t>(indent), ' '));
    const std::string start = "  " + left;
    if (lines.empty()) return start + "\n";
    if (static_cast<int>(start.size()) + 1 >= indent) return start + "\n" + lines;
    return start + lines.substr(start.size());
  }
};

int run_main(int argc, char** argv) {
  CLI::App app{"Convolutions on GPUs and CPUs: kernels generated, compiled, checked, timed."};
  app.name("wavetile");
  app.set_version_flag("--version", fmt::format("wavetile {}", kVersion));
  app.set_help_flag("-h,--help", "print this help and exit");
  app.require_subcommand(1);
  app.formatter(std::make_shared<WrappedHelp>());
  app.footer(
      "Examples:\n"
      "  wavetile bench quick            a short suite of real layers, verified\n"
      "  wavetile run 'fwd bf16 n16 c256 k256 i56x56 f3x3 p1'\n"
      "  wavetile explain 'fwd bf16 n16 c12 k36 i100x100 f3x3 p1'\n"
      "  wavetile devices\n\n"
      "Exit codes: 0 good, 1 verification failed, 2 bad input, 3 unsupported, 4 device or compiler trouble, "
      "130 interrupted. WAVETILE_LOG=info logs every execution as a command that repeats it.\n");

  Action action;
  add_run(app, action);
  add_bench(app, action);
  add_search(app, action);
  add_tune(app, action);
  add_tuning(app, action);
  add_report(app, action);
  add_doctor(app, action);
  add_explain(app, action);
  add_devices(app, action);
  add_targets(app, action);
  add_conformance(app, action);
  add_selftest(app, action);
  add_generate(app, action);
  add_cache(app, action);
  add_pack(app, action);
  add_other_forms(app, action);

  if (argc == 1) {
    fmt::print(stderr, "{}", app.help());
    return kExitBadInput;
  }
  // `wavetile help bench` is `wavetile bench --help`.
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.front() == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  std::reverse(words.begin(), words.end());  // as CLI11 takes them
  try {
    app.parse(std::move(words));
  } catch (const CLI::Success& success) {
    return app.exit(success);  // prints the help or the version that was asked for
  } catch (const CLI::ParseError& error) {
    return report_failure(bad_input("{}", usage_fault(app, error)));
  }
  const int code = action();
  return interrupted() ? kExitInterrupted : code;  // whatever the work said of being stopped
}

// What only the end of the host's memory or a bug can bring here.
int guarded_main(int argc, char** argv) {
  try {
    return run_main(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("wavetile: the host is out of memory; use smaller problems, or fewer threads by WAVETILE_THREADS\n",
               stderr);
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "wavetile: %s\n", fault.what());
  }
  return kExitDevice;
}

}  // namespace
}  // namespace wt::cli

int main(int argc, char** argv) {
  // WHY: OpenMP's threads wait for each other by spinning. On a machine that does other work too, one that spins takes
  // the core from one that computes, and a convolution on the CPU takes many times as long. Read when OpenMP is loaded.
  setenv("OMP_WAIT_POLICY", "passive", 0);
  wt::cli::clean_up_on_signals();
  return wt::cli::guarded_main(argc, argv);
}
