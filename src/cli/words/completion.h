// SPDX-License-Identifier: Apache-2.0
// cli/words/completion.h - the grammar of the command line in other forms: completions for shells, and the man page.
#pragma once

#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace wt::cli {

// "--splits N", "SUITE|PROBLEM...": an option or a positional and what it takes, as the help and the man page show it.
std::string option_words(const CLI::Option& option);

// For bash, zsh or fish; empty for another name. Suites are asked of the command when they are completed.
std::string completion(const CLI::App& app, const std::string& shell);

// Section 1, in roff.
std::string man_page(const CLI::App& app);

}  // namespace wt::cli
