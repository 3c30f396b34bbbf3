// SPDX-License-Identifier: Apache-2.0
#include "cli/words/completion.h"

#include <CLI/CLI.hpp>
#include <vector>

#include "base/format.h"
#include "base/version.h"

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
constexpr const char* kDevices =
    "auto cpu gpu hip sim:sm_80 sim:sm_90a sim:gfx90a sim:gfx942 sim:gfx950 sim:gfx1100 sim:gfx1201";

std::string bash(const CLI::App& app) {
  std::string cases;
  for (const CLI::App* command : commands_of(app)) {
    cases += fmt::format("    {}) words=\"{}{}\" ;;\n", command->get_name(), words_of(*command),
                         takes_suites(*command) ? std::string(" ") + kSuites : "");
  }
  return fmt::format(R"(# bash completion of wavetile; made by `wavetile completion bash`
_wavetile() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words=""
  case $before in
    --device) COMPREPLY=($(compgen -W "{}" -- "$word")); return ;;
    --direction) COMPREPLY=($(compgen -W "fwd bwd_data bwd_weight all" -- "$word")); return ;;
    --tuning) COMPREPLY=($(compgen -W "off cached first-use" -- "$word")); return ;;
    --json|--csv|--log|--names|--report|--page|-o) COMPREPLY=($(compgen -f -- "$word")); return ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{}" -- "$word")); return
  fi
  case ${{COMP_WORDS[1]}} in
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "$word") $(compgen -f -- "$word"))
}}
complete -F _wavetile wavetile
)",
                     kDevices, words_of(app), cases);
}

// Without what ends a text of single quotes, or starts another part of a description.
std::string plain(std::string text) {
  for (char& letter : text)
    if (letter == '\'' || letter == '[' || letter == ']' || letter == ':' || letter == '\n') letter = ' ';
  return text;
}

std::string zsh(const CLI::App& app) {
  std::string commands, cases;
  for (const CLI::App* command : commands_of(app)) {
    commands += fmt::format("    '{}:{}'\n", command->get_name(), plain(command->get_description()));
    std::string options;
    for (const CLI::Option* option : options_of(*command))
      options += fmt::format(" '{}[{}]{}'", long_name(*option), plain(option->get_description()),
                             option->get_expected_min() > 0 ? ":value:_files" : "");
    std::string rest = " '*::file:_files'";
    if (!commands_of(*command).empty()) rest = fmt::format(" '1:command:({})'", words_of(*command)) + rest;
    if (takes_suites(*command)) rest = fmt::format(" \"*:suite:({})\"", kSuites);
    cases += fmt::format("    {}) _arguments{}{} ;;\n", command->get_name(), options, rest);
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
  for (const CLI::App* command : commands_of(app)) {
    text += fmt::format("complete -c wavetile -n __fish_use_subcommand -f -a {} -d '{}'\n", command->get_name(),
                        plain(command->get_description()));
    const std::string inside =
        fmt::format("complete -c wavetile -n '__fish_seen_subcommand_from {}'", command->get_name());
    for (const CLI::App* inner : commands_of(*command))
      text += fmt::format("{} -a {} -d '{}'\n", inside, inner->get_name(), plain(inner->get_description()));
    for (const CLI::Option* option : options_of(*command))
      text += fmt::format("{} -l {} -d '{}'{}\n", inside, option->get_lnames().front(),
                          plain(option->get_description()), option->get_expected_min() > 0 ? " -r" : "");
    if (takes_suites(*command)) text += fmt::format("{} -a '(wavetile suites 2>/dev/null)'\n", inside);
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
    const std::string word = option->get_lnames().empty() ? option->get_name() : long_name(*option);
    const std::string type =
        option->get_lnames().empty() || option->get_type_name().empty() ? "" : " " + option->get_type_name();
    page += fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(word), roff(type), roff(option->get_description()));
  }
  if (const std::string footer = command.get_footer(); !footer.empty())
    page += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(footer));
  for (const CLI::App* inner : commands_of(command)) add_command(page, *inner, name + " " + inner->get_name());
}

}  // namespace

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
