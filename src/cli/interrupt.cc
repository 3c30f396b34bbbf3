// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include "cli/exit_code.h"

namespace wt::cli {

namespace {

volatile sig_atomic_t g_interrupted = 0;
struct sigaction g_previous_int;
struct sigaction g_previous_term;

void on_signal(int) {
  if (g_interrupted) _exit(kExitInterrupted);
  g_interrupted = 1;
}

}  // namespace

InterruptGuard::InterruptGuard() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  // WHY: without SA_RESTART a read or write that the signal hits would fail half-way with EINTR.
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &g_previous_int);
  sigaction(SIGTERM, &action, &g_previous_term);
}

InterruptGuard::~InterruptGuard() {
  sigaction(SIGINT, &g_previous_int, nullptr);
  sigaction(SIGTERM, &g_previous_term, nullptr);
}

bool interrupted() { return g_interrupted != 0; }

}  // namespace wt::cli
