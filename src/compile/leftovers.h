// SPDX-License-Identifier: Apache-2.0
// compile/leftovers.h - what a process that is ended in the middle of a compilation would leave behind.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <string>

namespace wt::compile {

// From a signal's handler, when the process is about to end: ends the compilers that this process started, and removes
// its temporary folders. Takes no lock and no memory.
void clean_up_in_handler() noexcept;

// Around the start of a process and its RunningGroup: the handler waits for it. On this thread, signals that end the
// process wait until it is over.
class Starting {
 public:
  Starting();
  ~Starting();
  Starting(const Starting&) = delete;
  Starting& operator=(const Starting&) = delete;

  bool allowed() const;  // false: the handler has begun, and nothing more is to be started
  const sigset_t& mask_before() const { return before_; }  // of this thread, for the new process

 private:
  sigset_t before_;
};

// What clean_up_in_handler() looks after, for as long as these live.
class RunningGroup {  // of processes
 public:
  explicit RunningGroup(pid_t leader);
  ~RunningGroup();
  RunningGroup(const RunningGroup&) = delete;
  RunningGroup& operator=(const RunningGroup&) = delete;

 private:
  int slot_;
};

class KnownFolder {
 public:
  explicit KnownFolder(const std::string& path);
  ~KnownFolder();
  KnownFolder(const KnownFolder&) = delete;
  KnownFolder& operator=(const KnownFolder&) = delete;

 private:
  int slot_;
};

}  // namespace wt::compile
