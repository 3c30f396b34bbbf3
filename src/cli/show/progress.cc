// SPDX-License-Identifier: Apache-2.0
#include "cli/show/progress.h"

#include <algorithm>
#include <cstdio>

#include "base/format.h"
#include "base/printable.h"
#include "cli/show/terminal.h"

namespace wt::cli {

namespace {

std::string duration(double seconds) {
  const auto whole = static_cast<long>(seconds + 0.5);
  if (whole < 100) return fmt::format("{} s", whole);
  if (whole < 6000) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  return fmt::format("{}:{:02} h", whole / 3600, whole / 60 % 60);
}

}  // namespace

std::string progress_line(int done, int total, double elapsed_seconds, const std::string& what, int columns,
                          int frame) {
  total = std::max(total, 1);
  done = std::clamp(done, 0, total);
  const int bar = std::clamp(columns / 4, 10, 30);
  const int filled = bar * done / total;
  std::string line = "[" + std::string(static_cast<size_t>(filled), '=');
  if (filled < bar)
    line += std::string(1, ">-\\|/-\\|"[frame % 8]) + std::string(static_cast<size_t>(bar - filled - 1), ' ');
  line += fmt::format("] {}/{}  {}", done, total, duration(elapsed_seconds));
  // A first row says little about the rest: the estimate waits for two rows.
  if (done >= 2 && done < total)
    line += fmt::format(", about {} left", duration(elapsed_seconds / done * (total - done)));
  if (!what.empty()) line += "  " + printable(what);
  return elide(line, std::max(columns - 1, 20));
}

Progress::Progress(int total, bool wanted) : wanted_(wanted), redraws_(can_redraw()), total_(total) {
  if (wanted_) ticker_ = std::thread([this] { tick(); });
}

Progress::~Progress() {
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  ended_.notify_all();
  if (ticker_.joinable()) ticker_.join();
  clear();
}

void Progress::tick() {
  constexpr std::chrono::milliseconds kFrame(250);
  constexpr std::chrono::seconds kLine(30);
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, kFrame, [this] { return end_; })) {
    ++frame_;
    if (!shown_) continue;
    if (redraws_) {
      draw();
    } else if (std::chrono::steady_clock::now() - said_ >= kLine) {
      said_ = std::chrono::steady_clock::now();
      const double elapsed = std::chrono::duration<double>(said_ - start_).count();
      std::string left;
      if (done_ > 0) left = fmt::format(", about {} left", duration(elapsed / done_ * (total_ - done_)));
      fmt::print(stderr, "wavetile: {} of {} done in {}{}\n", done_, total_, duration(elapsed), left);
    }
  }
}

void Progress::draw() {
  const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  fmt::print(stderr, "\r\033[K{}",
             progress_line(done_, total_, elapsed, what_, error_columns() > 0 ? error_columns() : 80, frame_));
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::show(int done, const std::string& what) {
  if (!wanted_) return;
  const std::lock_guard lock(mutex_);
  done_ = done;
  what_ = what;
  shown_ = true;
  if (redraws_) draw();
}

void Progress::clear() {
  const std::lock_guard lock(mutex_);
  shown_ = false;
  if (!drawn_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace wt::cli
