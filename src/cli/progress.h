// SPDX-License-Identifier: Apache-2.0
// cli/progress.h - a progress bar on standard error, on a terminal only.
#pragma once

#include <chrono>
#include <string>

namespace wt::cli {

// "[=======>          ]  7/24  12 s, about 30 s left  l2.conv2 bwd_data", fitted to `columns`.
std::string progress_line(int done, int total, double elapsed_seconds, const std::string& what, int columns);

class Progress {
 public:
  // `wanted`: false for --no-progress; the bar also stays away where standard error is no terminal.
  Progress(int total, bool wanted);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(int done, const std::string& what);
  void clear();  // before anything else is printed

 private:
  bool enabled_;
  bool drawn_ = false;
  int total_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace wt::cli
