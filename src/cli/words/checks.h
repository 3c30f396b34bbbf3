// SPDX-License-Identifier: Apache-2.0
// cli/words/checks.h - what numbers of the command line must be, in words; only the files of this folder include this,
// with CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <string>

#include "base/format.h"

namespace wt::cli {

// WHY not CLI11's own: they speak of the largest double, and stand in every line of the help.
inline CLI::Validator at_least(bool zero) {
  return {[zero](std::string& text) -> std::string {
            char* end = nullptr;
            const double value = std::strtod(text.c_str(), &end);
            if (text.empty() || *end != '\0') return fmt::format("'{}' is no number", text);
            if (value > 0 || (zero && value == 0)) return {};
            return fmt::format("{} is too small; give {}", text, zero ? "0 or more" : "more than 0");
          },
          ""};
}
inline const CLI::Validator kNotNegative = at_least(true);
inline const CLI::Validator kPositive = at_least(false);

}  // namespace wt::cli
