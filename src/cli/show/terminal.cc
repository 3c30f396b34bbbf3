// SPDX-License-Identifier: Apache-2.0
#include "cli/show/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/environment.h"
#include "config/targets.h"

namespace wt::cli {

int output_columns() {
  if (!isatty(STDOUT_FILENO)) return 0;
  if (const char* columns = environment_or_null("COLUMNS")) {
    const int value = std::atoi(columns);
    if (value > 0) return std::max(value, 40);
  }
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return std::max<int>(size.ws_col, 40);
}

int error_columns() {
  winsize size{};
  if (!isatty(STDERR_FILENO)) return 0;
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 ? 80 : size.ws_col;
}

bool can_redraw() {
  if (!isatty(STDERR_FILENO)) return false;
  const char* no_color = environment_or_null("NO_COLOR");
  if (no_color && *no_color) return false;
  const char* term = environment_or_null("TERM");
  return term && std::string_view(term) != "dumb";
}

std::string elide(std::string_view text, int columns) {
  if (columns <= 0 || static_cast<int>(text.size()) <= columns) return std::string(text);
  if (columns <= 3) return std::string(text.substr(0, static_cast<size_t>(columns)));
  return std::string(text.substr(0, static_cast<size_t>(columns - 3))) + "...";
}

std::string elide_middle(std::string_view text, int columns) {
  if (columns <= 0 || static_cast<int>(text.size()) <= columns) return std::string(text);
  if (columns < 8) return elide(text, columns);
  const size_t tail = static_cast<size_t>(columns - 3) / 2;
  const size_t head = static_cast<size_t>(columns - 3) - tail;
  return std::string(text.substr(0, head)) + "..." + std::string(text.substr(text.size() - tail));
}

std::string without_signature(std::string_view name, int columns) {
  if (columns <= 0 || static_cast<int>(name.size()) <= columns) return std::string(name);
  // wt_<direction>_<types>_<layout>_<target>_: what all kernels of a problem share.
  for (const TargetInfo& target : targets()) {
    std::string token(target.name);
    std::erase(token, '_');
    token = "_" + token + "_";
    if (const size_t at = name.find(token); at != std::string_view::npos)
      return std::string(name.substr(at + token.size()));
  }
  return std::string(name);
}

std::string kernel_text(std::string_view name, int columns) {
  return elide_middle(without_signature(name, columns), columns);
}

std::string wrap(std::string_view text, int columns, std::string_view indent) {
  const size_t limit = columns <= 0 ? 100 : static_cast<size_t>(columns);
  std::string lines;
  std::string line(indent);
  bool empty = true;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find_first_of(" \n", at), text.size());
    const std::string_view word = text.substr(at, end - at);
    at = end + 1;
    if (word.empty()) continue;
    if (!empty && line.size() + 1 + word.size() > limit) {
      lines += line + "\n";
      line = std::string(indent);
      empty = true;
    }
    if (!empty) line += ' ';
    line += word;
    empty = false;
  }
  if (!empty) lines += line + "\n";
  return lines;
}

}  // namespace wt::cli
