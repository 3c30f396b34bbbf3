// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/subprocess.h"

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "base/check.h"

namespace wt::cli::testing {

namespace {

[[noreturn]] void become(const Invocation& invocation) {
  for (const auto& [name, value] : invocation.environment) setenv(name.c_str(), value.c_str(), 1);
  std::string program = binary_path();
  std::vector<std::string> words = invocation.arguments;
  std::vector<char*> argv{program.data()};
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  _exit(127);
}

}  // namespace

std::string binary_path() { return WAVETILE_BINARY; }

Outcome run(const Invocation& invocation) {
  std::array<int, 2> out{-1, -1};
  std::array<int, 2> err{-1, -1};
  pid_t child = -1;
  if (invocation.terminal) {
    winsize size{};
    size.ws_col = static_cast<unsigned short>(invocation.columns);
    size.ws_row = 50;
    child = forkpty(&out[0], nullptr, nullptr, &size);
    WT_CHECK(child >= 0, "forkpty failed");
    if (child == 0) become(invocation);
  } else {
    WT_CHECK(pipe(out.data()) == 0 && pipe(err.data()) == 0, "pipe failed");
    child = fork();
    WT_CHECK(child >= 0, "fork failed");
    if (child == 0) {
      dup2(out[1], STDOUT_FILENO);
      dup2(err[1], STDERR_FILENO);
      for (const int end : {out[0], out[1], err[0], err[1]}) close(end);
      become(invocation);
    }
    close(out[1]);
    close(err[1]);
  }

  Outcome outcome;
  bool interrupted = invocation.interrupt_after.empty();
  std::array<pollfd, 2> ends{pollfd{out[0], POLLIN, 0}, pollfd{err[0], POLLIN, 0}};
  int open = invocation.terminal ? 1 : 2;
  while (open > 0 && poll(ends.data(), ends.size(), -1) > 0) {
    for (size_t i = 0; i < ends.size(); ++i) {
      if (ends[i].fd < 0 || ends[i].revents == 0) continue;
      std::array<char, 4096> buffer;
      const ssize_t count = read(ends[i].fd, buffer.data(), buffer.size());
      if (count <= 0) {  // a closed pseudo-terminal answers with an error instead of an end
        close(ends[i].fd);
        ends[i].fd = -1;
        --open;
        continue;
      }
      (i == 0 ? outcome.out : outcome.err).append(buffer.data(), static_cast<size_t>(count));
    }
    if (!interrupted && (outcome.out + outcome.err).find(invocation.interrupt_after) != std::string::npos) {
      kill(child, SIGINT);
      interrupted = true;
    }
  }
  int status = 0;
  WT_CHECK(waitpid(child, &status, 0) == child, "waitpid failed");
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

Outcome wavetile(std::vector<std::string> arguments) { return run({.arguments = std::move(arguments)}); }

}  // namespace wt::cli::testing
