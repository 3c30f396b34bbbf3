// SPDX-License-Identifier: Apache-2.0
#include "cli/input/kernel_names.h"

#include <sstream>

#include "base/files.h"

namespace wt::cli {

Result<std::set<std::string>> read_kernel_names(const std::string& file) {
  WT_TRY_ASSIGN(const std::string content, read_file(file));
  std::set<std::string> names;
  std::istringstream lines(content);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    for (std::string name; words >> name;) names.insert(name);
  }
  if (names.empty()) return bad_input("{} names no kernel; give one name a line", file);
  return names;
}

}  // namespace wt::cli
