// SPDX-License-Identifier: Apache-2.0
#include "base/fork_gate.h"

#include <pthread.h>

#include <condition_variable>
#include <mutex>
#include <new>
#include <vector>

namespace wt {
namespace {

struct State {
  std::mutex mutex;
  std::condition_variable changed;
  int inside = 0;  // threads
  int forking = 0;
  std::vector<void (*)()> repairs;
};

thread_local int depth = 0;  // of Inside on this thread
thread_local int forks = 0;

State& state();

void before_fork() {
  State& s = state();
  std::unique_lock lock(s.mutex);
  ++s.forking;
  // A thread that forks from inside holds its own locks, and has them in the child too.
  s.changed.wait(lock, [&] { return s.inside == (depth > 0 ? 1 : 0); });
  lock.release();  // held across the fork
}

void after_fork_in_parent() {
  State& s = state();
  --s.forking;
  s.mutex.unlock();
  s.changed.notify_all();
}

void after_fork_in_child() {
  State& s = state();
  ++forks;
  s.forking = 0;
  s.mutex.unlock();
  // WHY: it may count waiters that are not here any more.
  new (&s.changed) std::condition_variable;
  for (void (*repair)() : s.repairs) repair();
}

State& state() {
  static State& only = *[] {
    ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    return new State;
  }();
  return only;
}

// WHY when the program starts: a child must know of its fork though nothing was planned before it.
[[maybe_unused]] const State& registered = state();

void enter() {
  State& s = state();
  std::unique_lock lock(s.mutex);
  s.changed.wait(lock, [&] { return s.forking == 0; });
  ++s.inside;
}

void leave() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  --s.inside;
  s.changed.notify_all();
}

}  // namespace

ForkGate::Inside::Inside() {
  if (depth == 0) enter();
  ++depth;
}

ForkGate::Inside::~Inside() {
  --depth;
  if (depth == 0) leave();
}

ForkGate::Away::Away() : depth_(depth) {
  if (depth_ > 0) leave();
  depth = 0;
}

ForkGate::Away::~Away() {
  if (depth_ > 0) enter();
  depth = depth_;
}

int ForkGate::forks_of_this_thread() { return forks; }

void ForkGate::in_child(void (*repair)()) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.repairs.push_back(repair);
}

}  // namespace wt
