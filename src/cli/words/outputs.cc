// SPDX-License-Identifier: Apache-2.0
// cli/words/outputs.cc - options that name an output, whose file may be left out.
#include <CLI/CLI.hpp>

#include "cli/words/grammar.h"

namespace wt::cli {

void add_output_option(CLI::App& command, const std::string& name, std::string& file, const std::string& help) {
  const auto take = [&file](const std::vector<std::string>& given) {
    // CLI11 has "true" or nothing where the word after the option is another option or the end.
    const std::string word = given.empty() ? "" : given.front();
    if (word.find(' ') != std::string::npos)
      throw CLI::ValidationError("'" + word + "' is no file for the output; put the problem before the option");
    file = word.empty() || word == "true" || word == "{}" ? "-" : word;
    return true;
  };
  command.add_option(name, take, help)->expected(0, 1)->type_name("[FILE]");
}

void add_json_option(CLI::App& command, std::string& file) {
  add_output_option(command, "--json", file, "as JSON, to FILE or in place of the text to standard output");
}

}  // namespace wt::cli
