// SPDX-License-Identifier: Apache-2.0
#include "cli/words/completion.h"

#include <CLI/CLI.hpp>
#include <vector>

#include "base/format.h"
#include "base/version.h"
#include "config/targets.h"
#include "runtime/sim/device.h"

namespace wt::cli {
namespace {

// The options that people see, each once, as "--name".
std::vector<const CLI::Option*> options_of(const CLI::App& command) {
  std::vector<const CLI::Option*> list;
  for (const CLI::Option* option : command.get_options())
    if (!option->get_lnames().empty() && !option->get_group().empty()) list.push_back(option);
  return list;
}

std::string long_name(const CLI::Option& option) { return "--" + option.get_lnames().front(); }

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  std::vector<const CLI::App*> list;
  for (const CLI::App* command : app.get_subcommands({})) list.push_back(command);
  return list;
}

std::string words_of(const CLI::App& command) {
  std::string words;
  for (const CLI::App* inner : commands_of(command)) words += inner->get_name() + " ";
  for (const CLI::Option* option : options_of(command)) words += long_name(*option) + " ";
  if (!words.empty()) words.pop_back();
  return words;
}

bool takes_suites(const CLI::App& command) {
  for (const char* name : {"bench", "search", "tune", "explain"})
    if (command.get_name() == name) return true;
  return false;
}

constexpr const char* kSuites = "$(wavetile suites 2>/dev/null)";

// What --device takes, every simulator included.
std::string devices() {
  std::string words = "auto cpu gpu hip";
  for (const DeviceInfo& device : list_sim_devices()) words += " " + device.id;
  return words;
}

std::string target_names() {
  std::string words;
  for (const TargetInfo& target : targets()) words += fmt::format("{} ", target.name);
  words.pop_back();
  return words;
}

std::string bash(const CLI::App& app) {
  std::string cases;
  const auto add = [&](const std::string& name, const CLI::App& command) {
    cases += fmt::format("    {}) words=\"{}{}\" ;;\n", name, words_of(command),
                         takes_suites(command) ? std::string(" ") + kSuites : "");
  };
  for (const CLI::App* command : commands_of(app)) {  // what stands deeper comes first
    for (const CLI::App* inner : commands_of(*command))
      add(fmt::format("\"{} {}\"", command->get_name(), inner->get_name()), *inner);
    add(fmt::format("\"{} \"*", command->get_name()), *command);
  }
  return fmt::format(R"(# bash completion of wavetile; made by `wavetile completion bash`
_wavetile() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words="" start=""
  # bash takes sim:sm_90a for three words, and completes the last of them.
  if [ "$word" = : ]; then
    start=${{COMP_WORDS[COMP_CWORD-1]}}: word=$start before=${{COMP_WORDS[COMP_CWORD-2]}}
  elif [ "$before" = : ]; then
    start=${{COMP_WORDS[COMP_CWORD-2]}}: word=$start$word before=${{COMP_WORDS[COMP_CWORD-3]}}
  fi
  case $before in
    --device) COMPREPLY=($(compgen -W "{}" -- "$word")); COMPREPLY=("${{COMPREPLY[@]#"$start"}}"); return ;;
    --target) COMPREPLY=($(compgen -W "{}" -- "$word")); COMPREPLY=("${{COMPREPLY[@]#"$start"}}"); return ;;
    --direction) COMPREPLY=($(compgen -W "fwd bwd_data bwd_weight all" -- "$word")); return ;;
    --tuning) COMPREPLY=($(compgen -W "off cached first-use" -- "$word")); return ;;
    --json|--csv|--log|--names|--report|--page|-o) COMPREPLY=($(compgen -f -- "$word")); return ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{}" -- "$word")); return
  fi
  local second=""
  [ "$COMP_CWORD" -gt 2 ] && second=${{COMP_WORDS[2]}}
  case "${{COMP_WORDS[1]}} $second" in
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "$word") $(compgen -f -- "$word"))
}}
complete -F _wavetile wavetile
)",
                     devices(), target_names(), words_of(app), cases);
}

// As zsh reads a list of values, in which a colon begins a description.
std::string escaped_colons(const std::string& words) {
  std::string text;
  for (const char letter : words) text += letter == ':' ? std::string("\\:") : std::string(1, letter);
  return text;
}

// Without what ends a text of single quotes, or starts another part of a description.
std::string plain(std::string text) {
  for (char& letter : text)
    if (letter == '\'' || letter == '[' || letter == ']' || letter == ':' || letter == '\n') letter = ' ';
  return text;
}

// One line of _arguments: the options of a command, and what may follow them.
std::string zsh_arguments(const CLI::App& command) {
  std::string text = "_arguments";
  for (const CLI::Option* option : options_of(command)) {
    const std::string name = option->get_lnames().front();
    const std::string value = name == "device"                 ? fmt::format(":device:({})", escaped_colons(devices()))
                              : name == "target"               ? fmt::format(":target:({})", target_names())
                              : option->get_expected_min() > 0 ? ":value:_files"
                                                               : "";
    text += fmt::format(" '--{}[{}]{}'", name, plain(option->get_description()), value);
  }
  return text + (takes_suites(command) ? fmt::format(" \"*:suite:({})\"", kSuites) : " '*::file:_files'");
}

std::string zsh(const CLI::App& app) {
  std::string commands, cases;
  for (const CLI::App* command : commands_of(app)) {
    commands += fmt::format("    '{}:{}'\n", command->get_name(), plain(command->get_description()));
    if (commands_of(*command).empty()) {
      cases += fmt::format("    {}) {} ;;\n", command->get_name(), zsh_arguments(*command));
      continue;
    }
    std::string names, inside;
    for (const CLI::App* inner : commands_of(*command)) {
      names += " " + inner->get_name();
      inside += fmt::format("        {}) {} ;;\n", inner->get_name(), zsh_arguments(*inner));
    }
    cases += fmt::format(
        "    {})\n      (( CURRENT == 2 )) && {{ compadd --{}; return }}\n      shift words; (( CURRENT-- ))\n"
        "      case $words[1] in\n{}      esac ;;\n",
        command->get_name(), names, inside);
  }
  return fmt::format(R"(#compdef wavetile
# zsh completion of wavetile; made by `wavetile completion zsh`
local -a commands=(
{})
if (( CURRENT == 2 )); then
  _describe command commands
else
  shift words; (( CURRENT-- ))
  case $words[1] in
{}  esac
fi
)",
                     commands, cases);
}

std::string fish(const CLI::App& app) {
  std::string text = "# fish completion of wavetile; made by `wavetile completion fish`\n";
  const auto add = [&](const CLI::App& command, const std::string& condition) {
    const std::string inside = fmt::format("complete -c wavetile -n '{}'", condition);
    for (const CLI::App* inner : commands_of(command))
      text += fmt::format("{} -f -a {} -d '{}'\n", inside, inner->get_name(), plain(inner->get_description()));
    for (const CLI::Option* option : options_of(command)) {
      const std::string name = option->get_lnames().front();
      const std::string value = name == "device"                 ? fmt::format(" -x -a '{}'", devices())
                                : name == "target"               ? fmt::format(" -x -a '{}'", target_names())
                                : option->get_expected_min() > 0 ? " -r"
                                                                 : "";
      text += fmt::format("{} -l {} -d '{}'{}\n", inside, name, plain(option->get_description()), value);
    }
    if (takes_suites(command)) text += fmt::format("{} -a '(wavetile suites 2>/dev/null)'\n", inside);
  };
  for (const CLI::App* command : commands_of(app)) {
    text += fmt::format("complete -c wavetile -n __fish_use_subcommand -f -a {} -d '{}'\n", command->get_name(),
                        plain(command->get_description()));
    const std::string seen = fmt::format("__fish_seen_subcommand_from {}", command->get_name());
    add(*command, seen);
    for (const CLI::App* inner : commands_of(*command))
      add(*inner, fmt::format("{}; and __fish_seen_subcommand_from {}", seen, inner->get_name()));
  }
  return text;
}

// Backslashes, and letters that start a request at the begin of a line.
std::string roff(const std::string& text) {
  std::string out;
  for (const char letter : text) {
    if ((letter == '.' || letter == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
    if (letter == '\\') {
      out += "\\e";
    } else if (letter == '-') {
      out += "\\-";
    } else {
      out += letter;
    }
  }
  return out;
}

void add_command(std::string& page, const CLI::App& command, const std::string& name) {
  page += fmt::format(".SS wavetile {}\n{}.\n", roff(name), roff(command.get_description()));
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;
    const std::string words = option_words(*option), word = words.substr(0, words.find(' '));
    page += fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(word), roff(words.substr(word.size())),
                        roff(option->get_description()));
  }
  if (const std::string footer = command.get_footer(); !footer.empty())
    page += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(footer));
  for (const CLI::App* inner : commands_of(command)) add_command(page, *inner, name + " " + inner->get_name());
}

}  // namespace

std::string option_words(const CLI::Option& option) {
  const bool several = option.get_expected_max() > 1;
  if (option.get_lnames().empty()) return option.get_name(true, false) + (several ? "..." : "");
  std::string words;
  for (const std::string& letter : option.get_snames()) words += "-" + letter + ",";
  words += long_name(option);
  if (!option.get_option_text().empty()) return words + " " + option.get_option_text();
  // WHY up to the colon: CLI11's own words for what is checked stand behind it.
  const std::string type = option.get_type_name().substr(0, option.get_type_name().find(':'));
  if (!type.empty() && option.get_expected_max() > 0) words += " " + type + (several ? "..." : "");
  if (!option.get_default_str().empty()) words += " (" + option.get_default_str() + ")";
  return words;
}

std::string completion(const CLI::App& app, const std::string& shell) {
  if (shell == "bash") return bash(app);
  if (shell == "zsh") return zsh(app);
  if (shell == "fish") return fish(app);
  return "";
}

std::string man_page(const CLI::App& app) {
  std::string page = fmt::format(
      ".TH WAVETILE 1 \"\" \"wavetile {}\" \"User Commands\"\n.SH NAME\nwavetile \\- convolutions on GPUs and CPUs\n"
      ".SH SYNOPSIS\n\\fBwavetile\\fR COMMAND [OPTIONS]\n.SH DESCRIPTION\n{}\n.SH COMMANDS\n",
      kVersion, roff(app.get_description()));
  for (const CLI::App* command : commands_of(app)) add_command(page, *command, command->get_name());
  page += fmt::format(".SH NOTES\n.nf\n{}\n.fi\n", roff(app.get_footer()));
  page +=
      ".SH SEE ALSO\nThe pages of docs, installed as wavetile's documentation: command\\-line.md, problem\\-text.md, "
      "api.md.\n";
  return page;
}

}  // namespace wt::cli
