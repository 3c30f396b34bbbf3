// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/format.h"
#include "cli/terminal.h"

namespace wt::cli {

namespace {

std::string duration(double seconds) {
  const auto whole = static_cast<long>(seconds + 0.5);
  if (whole < 100) return fmt::format("{} s", whole);
  if (whole < 6000) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  return fmt::format("{}:{:02} h", whole / 3600, whole / 60 % 60);
}

int error_columns() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

}  // namespace

std::string progress_line(int done, int total, double elapsed_seconds, const std::string& what, int columns) {
  total = std::max(total, 1);
  done = std::clamp(done, 0, total);
  const int bar = std::clamp(columns / 4, 10, 30);
  const int filled = bar * done / total;
  std::string line = "[" + std::string(static_cast<size_t>(filled), '=');
  if (filled < bar) line += ">" + std::string(static_cast<size_t>(bar - filled - 1), ' ');
  line += fmt::format("] {}/{}  {}", done, total, duration(elapsed_seconds));
  // A first row says little about the rest: the estimate waits for two rows.
  if (done >= 2 && done < total)
    line += fmt::format(", about {} left", duration(elapsed_seconds / done * (total - done)));
  if (!what.empty()) line += "  " + what;
  return elide(line, std::max(columns - 1, 20));
}

Progress::Progress(int total, bool wanted) : enabled_(wanted && can_redraw()), total_(total) {}

void Progress::show(int done, const std::string& what) {
  if (!enabled_) return;
  const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  fmt::print(stderr, "\r\033[K{}", progress_line(done, total_, elapsed, what, error_columns()));
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::clear() {
  if (!drawn_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace wt::cli
