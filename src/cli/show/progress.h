// SPDX-License-Identifier: Apache-2.0
// cli/show/progress.h - a progress bar on standard error, on a terminal only.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace wt::cli {

// "[=======>          ]  7/24  12 s, about 30 s left  l2.conv2 bwd_data", fitted to `columns`.
// `frame` turns the tip of the bar, so that a long piece of work is seen to go on.
std::string progress_line(int done, int total, double elapsed_seconds, const std::string& what, int columns,
                          int frame = 0);

// Moves by itself while one piece of work lasts. Where standard error is no terminal, a line says every half minute how
// far the work is.
class Progress {
 public:
  // `wanted`: false for --no-progress.
  Progress(int total, bool wanted);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(int done, const std::string& what);
  void clear();  // before anything else is printed; the bar comes back with the next show()

 private:
  void tick();
  void draw();  // with mutex_ held

  bool wanted_, redraws_;
  std::mutex mutex_;  // of what follows
  std::condition_variable ended_;
  bool end_ = false, shown_ = false, drawn_ = false;
  int total_, done_ = 0, frame_ = 0;
  std::string what_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point said_ = start_;
  std::thread ticker_;  // last: it reads the others
};

}  // namespace wt::cli
