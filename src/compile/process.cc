// SPDX-License-Identifier: Apache-2.0
#include "compile/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <new>
#include <optional>

#include "base/environment.h"
#include "compile/leftovers.h"

extern char** environ;

namespace wt::compile {
namespace {

constexpr size_t kMaxOutput = 4 << 20;  // a runaway template error must not fill the memory

using Clock = std::chrono::steady_clock;

struct Pipe {
  int read = -1, write = -1;
  ~Pipe() {
    if (read >= 0) ::close(read);
    if (write >= 0) ::close(write);
  }
};

Result<pid_t> spawn(const std::vector<std::string>& arguments, const Pipe& pipe, const sigset_t& mask) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe.write, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipe.write, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // WHY: a compiler driver starts the real compiler, assembler and linker; its own group lets a time limit end them
  // all.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setsigmask(&attributes, &mask);
  pid_t child = 0;
  const int error = posix_spawnp(&child, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return failure(Code::kCompile, "cannot start {}: {}", arguments[0], std::strerror(error));
  return child;
}

// Its status stays to be waited for.
bool has_ended(pid_t child) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child;
}

// Reads what `child` writes until the last writer closes, or it has ended and nothing is left; false when the deadline
// came first. WHY not until the end of the file alone: a process that another thread forked in between has the writing
// end open too, and may be waiting for us.
bool read_output(int file, pid_t child, Clock::time_point deadline, std::string& output) {
  constexpr long long kLookMs = 50;
  char buffer[65536];
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    const bool ended = has_ended(child);
    pollfd waiting{file, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, ended ? 0 : static_cast<int>(std::min<long long>(left, kLookMs)));
    if (ready < 0 && errno != EINTR) return true;
    if (ready == 0 && ended) return true;
    if (ready <= 0) continue;
    const ssize_t count = ::read(file, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return true;
    if (output.size() >= kMaxOutput) continue;
    try {
      output.append(buffer, static_cast<size_t>(count));
    } catch (const std::bad_alloc&) {
      // The child must be waited for, whatever becomes of its words.
    }
  }
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool is_executable(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

Result<ProcessResult> run_process(const std::vector<std::string>& arguments, double timeout_seconds) {
  Pipe pipe;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failure(Code::kIo, "cannot make a pipe: {}", std::strerror(errno));
  pipe.read = ends[0];
  pipe.write = ends[1];
  std::optional<Starting> starting(std::in_place);
  if (!starting->allowed()) return failure(Code::kCompile, "{} was not started: this process is ending", arguments[0]);
  WT_TRY_ASSIGN(const pid_t child, spawn(arguments, pipe, starting->mask_before()));
  const RunningGroup group(child);
  starting.reset();
  ::close(pipe.write);
  pipe.write = -1;
  const auto limit = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(timeout_seconds));
  ProcessResult result;
  const bool finished = read_output(pipe.read, child, Clock::now() + limit, result.output);
  if (!finished) ::kill(-child, SIGKILL);
  result.exit_code = wait_for(child);
  if (!finished) {
    return failure(Code::kCompile,
                   "{} ran longer than {} s and was stopped; WAVETILE_COMPILE_TIMEOUT sets the limit in seconds",
                   arguments[0], timeout_seconds);
  }
  return result;
}

std::string find_program(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (name.empty()) continue;
    if (name.find('/') != std::string::npos) {
      if (is_executable(name)) return name;
      continue;
    }
    const std::string path = environment("PATH");
    for (size_t begin = 0; begin <= path.size();) {
      size_t end = path.find(':', begin);
      if (end == std::string::npos) end = path.size();
      if (end > begin) {
        const std::filesystem::path candidate = std::filesystem::path(path.substr(begin, end - begin)) / name;
        if (is_executable(candidate)) return candidate.string();
      }
      begin = end + 1;
    }
  }
  return {};
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    if (end > begin) words.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

}  // namespace wt::compile
