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
#include <cstdlib>
#include <cstring>
#include <filesystem>

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

Result<pid_t> spawn(const std::vector<std::string>& arguments, const Pipe& pipe) {
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
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  pid_t child = 0;
  const int error = posix_spawnp(&child, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return failure(Code::kCompile, "cannot start {}: {}", arguments[0], std::strerror(error));
  return child;
}

// Reads until the last writer closes; false when the deadline came first.
bool read_until_closed(int file, Clock::time_point deadline, std::string& output) {
  char buffer[65536];
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd waiting{file, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(std::min<long long>(left, 1'000'000)));
    if (ready < 0 && errno != EINTR) return true;
    if (ready <= 0) continue;
    const ssize_t count = ::read(file, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return true;
    if (output.size() < kMaxOutput) output.append(buffer, static_cast<size_t>(count));
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
  WT_TRY_ASSIGN(const pid_t child, spawn(arguments, pipe));
  ::close(pipe.write);
  pipe.write = -1;
  const auto limit = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(timeout_seconds));
  ProcessResult result;
  const bool finished = read_until_closed(pipe.read, Clock::now() + limit, result.output);
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

std::string environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value ? value : "";
}

}  // namespace wt::compile
