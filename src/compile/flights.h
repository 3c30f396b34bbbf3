// SPDX-License-Identifier: Apache-2.0
// compile/flights.h - one compilation of a kernel at a time, whoever asks for it, and no more compilers than cores.
//
//   compile() --> one_flight(key): the first thread goes on, others wait for what it brings
//             --> Turn: the first process goes on, others wait and find the module in the cache
//             --> Slot: at most hardware_threads() compilers, in this process and in all that share the cache
//
// Processes agree by locks on the bytes of one file in the cache, which end with the process. No wait is longer than
// the time limit of a compilation: past it, work is done twice rather than not at all.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "base/status.h"
#include "compile/compiler.h"

namespace wt::compile {

// A lock on one byte of a file that other processes lock too, until the end of the scope.
class ByteLock {
 public:
  // Takes the first of `count` bytes from `first` that is free, and waits for one up to `seconds`. Where there is no
  // such file or time runs out, nothing is held.
  ByteLock(const std::filesystem::path& file, int64_t first, int64_t count, double seconds);
  ~ByteLock();
  ByteLock(const ByteLock&) = delete;
  ByteLock& operator=(const ByteLock&) = delete;

  bool held() const { return byte_ >= 0; }

 private:
  int file_ = -1;
  int64_t byte_ = -1;
};

// Runs `compile` unless another thread is doing so for the same key; then its result is this one's too.
Result<Module> one_flight(const std::string& key, const std::function<Result<Module>()>& compile);

// This process' turn to compile `key` among those that use the cache at `root` (empty: no cache, no others).
class Turn {
 public:
  Turn(const std::filesystem::path& root, const std::string& key);

 private:
  ByteLock lock_;
};

// One of the machine's cores, for a compiler.
class Slot {
 public:
  explicit Slot(const std::filesystem::path& root);
  ~Slot();
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

 private:
  struct Seat {  // among the threads of this process
    Seat();
    ~Seat();
  } seat_;
  ByteLock lock_;
};

// For the sum of the cache's entries (cache.cc).
std::filesystem::path lock_file(const std::filesystem::path& root);
inline constexpr int64_t kUsageByte = int64_t{1} << 30;

}  // namespace wt::compile
