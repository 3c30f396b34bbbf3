// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include "cli/exit_code.h"
#include "compile/leftovers.h"

namespace wt::cli {

namespace {

volatile sig_atomic_t g_interrupted = 0;
struct sigaction g_previous_int;
struct sigaction g_previous_term;

void on_signal(int) {
  if (g_interrupted) {
    compile::clean_up_in_handler();
    _exit(kExitInterrupted);
  }
  g_interrupted = 1;
}

void on_last_signal(int signal) {
  compile::clean_up_in_handler();
  if (signal == SIGINT) _exit(kExitInterrupted);
  ::signal(signal, SIG_DFL);
  ::raise(signal);
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

void clean_up_on_signals() {
  struct sigaction action {};
  action.sa_handler = on_last_signal;
  action.sa_flags = SA_RESTART | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);  // nohup has a hang-up ignored
  }
}

bool interrupted() { return g_interrupted != 0; }

}  // namespace wt::cli
