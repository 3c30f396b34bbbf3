// SPDX-License-Identifier: Apache-2.0
// base/fork_gate.h - lets a program fork while other threads are in the library.
//
// A child has only the thread that called fork(): a lock that another thread held is held for ever in it. So whoever
// makes plans (and takes locks, here or in a library below) does it inside the gate, and fork() waits until nobody is
// inside. Long waits in which no lock is held, as for a compiler, are spent away from the gate.
#pragma once

namespace wt {

class ForkGate {
 public:
  // In scope: a fork() of another thread waits. May be nested.
  class Inside {
   public:
    Inside();
    ~Inside();
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
  };

  // In scope: this thread does not hold up a fork(), whether it was inside or not. It must hold no lock.
  class Away {
   public:
    Away();
    ~Away();
    Away(const Away&) = delete;
    Away& operator=(const Away&) = delete;

   private:
    int depth_;
  };

  // How many forks this thread came through: 0 for the first thread of a program and for every thread made since a
  // fork.
  static int forks_of_this_thread();

  // `repair` is called in every child, on its only thread, before fork() returns: it puts aside what threads that are
  // no longer there had in hand.
  static void in_child(void (*repair)());
};

}  // namespace wt
