// SPDX-License-Identifier: Apache-2.0
// tests/planted/bugs.h - the bugs of *.bugs: what to change in which device header, and what the simulator must say.
//
//   kernel NAME                      a test of this name: the first kernel of a kind that takes a problem
//     on TARGET: PROBLEM
//     by KIND [PART OF THE KERNEL'S NAME]
//   bug WHAT IT IS                   "sample bug": one of those that the quick tests run
//     in HEADER
//     - TEXT                         stands there once; \n: the end of a line
//     + TEXT                         stands there instead
//     says FAULT [at HEADER: TEXT]   the fault's name and the line that holds TEXT; several: one of them
//     says wrong result              nothing is reported, and the result is wrong
//
// A line that starts with # is a comment. WAVETILE_TEST_SHOW=1 has the tests print every report.
#pragma once

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"

namespace wt::planted {

struct Expectation {
  std::string fault, header, text;
};

struct Bug {
  std::string what, header, before, after;
  bool sample = false;
  std::vector<Expectation> says;
};

struct Kernel {
  std::string name, target, problem, kind, part;
  std::vector<Bug> bugs;
};

// "\\n" in a text is the end of a line.
inline std::string with_lines(std::string_view text) {
  std::string result(text);
  for (size_t at; (at = result.find("\\n")) != std::string::npos;) result.replace(at, 2, "\n");
  return result;
}

// What follows the word, or nothing.
inline bool took(std::string_view& line, std::string_view word) {
  if (!line.starts_with(word)) return false;
  line.remove_prefix(word.size());
  return true;
}

inline Expectation parse_expectation(std::string_view line) {
  const size_t at = std::min(line.find(" at kernels/"), line.find(" at target/")), colon = line.find(": ", at);
  if (at == std::string_view::npos || colon == std::string_view::npos) return {std::string(line), "", ""};
  return {std::string(line.substr(0, at)), std::string(line.substr(at + 4, colon - at - 4)),
          with_lines(line.substr(colon + 2))};
}

inline Result<std::vector<Kernel>> parse_bugs(const std::string& text) {
  std::vector<Kernel> kernels;
  std::istringstream lines(text);
  int number = 0;
  for (std::string whole; std::getline(lines, whole);) {
    ++number;
    std::string_view line = whole;
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.empty() || line.starts_with('#')) continue;
    Bug* bug = kernels.empty() || kernels.back().bugs.empty() ? nullptr : &kernels.back().bugs.back();
    if (took(line, "kernel ")) {
      kernels.push_back({.name = std::string(line)});
    } else if (kernels.empty()) {
      return bad_input("line {} comes before the first kernel", number);
    } else if (took(line, "on ")) {
      kernels.back().target = line.substr(0, line.find(": "));
      kernels.back().problem = line.substr(line.find(": ") + 2);
    } else if (took(line, "by ")) {
      const size_t blank = std::min(line.find(' '), line.size());
      kernels.back().kind = line.substr(0, blank);
      kernels.back().part = line.substr(std::min(blank + 1, line.size()));
    } else if (const bool sample = took(line, "sample "); took(line, "bug ")) {
      kernels.back().bugs.push_back({.what = std::string(line), .sample = sample});
    } else if (!bug) {
      return bad_input("line {} belongs to a bug, and there is none", number);
    } else if (took(line, "in ")) {
      bug->header = line;
    } else if (took(line, "- ")) {
      bug->before = with_lines(line);
    } else if (took(line, "+")) {
      bug->after = with_lines(line.substr(line.starts_with(' ')));
    } else if (took(line, "says ")) {
      bug->says.push_back(parse_expectation(line));
    } else {
      return bad_input("line {} is none of kernel, on, by, bug, in, -, + and says: {}", number, whole);
    }
  }
  return kernels;
}

}  // namespace wt::planted
