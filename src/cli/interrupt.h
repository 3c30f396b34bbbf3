// SPDX-License-Identifier: Apache-2.0
// cli/interrupt.h - Ctrl-C as a question that a loop asks between two pieces of work.
#pragma once

namespace wt::cli {

// While one lives, the first Ctrl-C (or a polite kill) only sets a flag; the second ends the process at once.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
};

bool interrupted();

// For the whole program: a signal that ends it takes its compilers and temporary folders with it. Ctrl-C ends it with
// kExitInterrupted, the others as they always do.
void clean_up_on_signals();

}  // namespace wt::cli
