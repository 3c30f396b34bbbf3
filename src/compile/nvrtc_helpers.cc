// SPDX-License-Identifier: Apache-2.0
#include "compile/nvrtc_helpers.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <utility>

#include "base/environment.h"
#include "base/installed_file.h"
#include "base/log.h"
#include "base/parallel.h"
#include "base/version.h"
#include "compile/messages.h"
#include "compile/nvrtc.h"
#include "compile/process.h"

extern char** environ;

namespace wt::compile {
namespace {

constexpr const char* kProgram = "wavetile-compile";
constexpr int kHelloSeconds = 60;  // a busy machine may take a while to start a program

Message hello() { return {kProgram, std::string(kVersion)}; }

std::string helper_path() {
  const std::string asked = environment("WAVETILE_COMPILE_HELPER");
  if (asked == "none") return {};
  if (!asked.empty()) return asked;
  const std::vector<std::string> found = installed_file(kProgram);
  return found.empty() ? std::string() : found.front();
}

// This process's environment with the NVRTC that is loaded here, whose folder holds what it loads in turn.
std::vector<std::string> helper_environment(const std::string& library) {
  const std::string folder = std::filesystem::path(library).parent_path().string();
  const std::string before = environment("LD_LIBRARY_PATH");
  std::vector<std::string> variables = {"WAVETILE_NVRTC=" + library,
                                        "LD_LIBRARY_PATH=" + folder + (before.empty() ? "" : ":" + before)};
  for (char** variable = environ; *variable; ++variable) {
    const std::string_view text = *variable;
    if (!text.starts_with("WAVETILE_NVRTC=") && !text.starts_with("LD_LIBRARY_PATH=")) variables.emplace_back(text);
  }
  return variables;
}

Result<pid_t> spawn(const std::string& path, const std::string& library, int socket) {
  std::vector<std::string> variables = helper_environment(library);
  std::vector<char*> environment_pointers;
  for (std::string& variable : variables) environment_pointers.push_back(variable.data());
  environment_pointers.push_back(nullptr);
  std::string program = path;
  char* const arguments[] = {program.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // WHY: an interrupt from the terminal is the program's to answer; helpers end when their socket closes.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  pid_t child = 0;
  const int error = posix_spawn(&child, path.c_str(), &actions, &attributes, arguments, environment_pointers.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return failure(Code::kCompile, "cannot start {}: {}", path, std::strerror(error));
  return child;
}

std::string end_text(int status) {
  if (WIFSIGNALED(status)) return fmt::format("it was ended by signal {}", WTERMSIG(status));
  return fmt::format("its exit code is {}", WEXITSTATUS(status));
}

}  // namespace

class Helper {
 public:
  static Result<std::unique_ptr<Helper>> start(const std::string& path, const std::string& library) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      return failure(Code::kIo, "cannot make a socket: {}", std::strerror(errno));
    struct End {
      int socket;
      ~End() {
        if (socket >= 0) ::close(socket);
      }
    } ours{ends[0]}, theirs{ends[1]};
    std::unique_ptr<Helper> helper(new Helper(path, library, -1));
    helper->socket_ = std::exchange(ours.socket, -1);
    WT_TRY_ASSIGN(helper->child_, spawn(path, library, theirs.socket));
    ::close(std::exchange(theirs.socket, -1));
    WT_TRY(helper->expect_hello());
    return helper;
  }
  ~Helper() { end(); }

  const std::string& library() const { return library_; }

  Result<Message> ask(const Message& request) {
    if (const Status sent = send_message(socket_, request); !sent.ok()) return lost(sent);
    Result<Message> answer = receive_message(socket_);
    if (!answer.ok()) return lost(answer.status());
    return answer;
  }

  void forget() { child_ = 0; }  // it is another process's child

 private:
  Helper(std::string path, std::string library, int socket)
      : path_(std::move(path)), library_(std::move(library)), socket_(socket) {}

  Status expect_hello() {
    const auto limit = [&](int seconds) {
      const timeval time{seconds, 0};
      ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    };
    limit(kHelloSeconds);
    const Result<Message> answer = receive_message(socket_);
    limit(0);
    if (!answer.ok()) return failure(Code::kCompile, "{} does not answer: {}", path_, answer.status().message());
    if (*answer == hello()) return {};
    return failure(Code::kCompile, "{} is of another version than this library, which is {}", path_, kVersion);
  }

  Status lost(const Status& status) {
    const pid_t child = child_;
    return failure(
        Code::kCompile,
        "the helper {} (process {}) was lost while it compiled: {}; {}. WAVETILE_COMPILE_HELPER=none compiles "
        "in this process",
        path_, child, status.message(), end_text(end()));
  }

  // WHY killed: it may hang, and an idle one has nothing to lose.
  int end() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
    int status = 0;
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
      }
    }
    child_ = 0;
    return status;
  }

  std::string path_, library_;
  int socket_ = -1;
  pid_t child_ = 0;
};

namespace {

std::atomic<int> started_ever{0};

// One for each further core. On a single core two threads that compile still need not wait for each other.
int most_helpers() { return std::max(1, hardware_threads() - 1); }

// All helpers of this process, and who compiles where.
class Helpers {
 public:
  // Null: compile here; `alone` says that no other thread does.
  std::unique_ptr<Helper> acquire(const std::string& library, bool& alone) {
    std::unique_lock lock(mutex_);
    forget_parents_helpers();
    ++active_;
    for (;;) {
      alone = !here_;
      if (alone) {
        here_ = true;
        return nullptr;
      }
      const std::string path = helper_path();
      if (path.empty() || path == broken_) return nullptr;
      if (std::unique_ptr<Helper> helper = take_idle(library)) return helper;
      if (count_ < most_helpers()) {
        ++count_;
        lock.unlock();
        Result<std::unique_ptr<Helper>> helper = Helper::start(path, library);
        if (helper.ok()) {
          ++started_ever;
          return std::move(*helper);
        }
        lock.lock();
        --count_;
        give_up(path, helper.status());
        continue;
      }
      room_.wait(lock);
    }
  }

  void release(std::unique_ptr<Helper> helper, bool alone, bool healthy) {
    std::vector<std::unique_ptr<Helper>> done;  // ended outside the lock
    const std::lock_guard lock(mutex_);
    if (alone) here_ = false;
    if (helper) (healthy ? idle_ : done).push_back(std::move(helper));
    if (--active_ == 0) {
      for (std::unique_ptr<Helper>& one : idle_) done.push_back(std::move(one));
      idle_.clear();
    }
    count_ -= static_cast<int>(done.size());
    room_.notify_one();
  }

 private:
  // One that has this NVRTC loaded; those with another go, since tests and users may change it.
  std::unique_ptr<Helper> take_idle(const std::string& library) {
    const size_t before = idle_.size();
    std::erase_if(idle_, [&](const auto& helper) { return helper->library() != library; });
    count_ -= static_cast<int>(before - idle_.size());
    if (idle_.empty()) return nullptr;
    std::unique_ptr<Helper> helper = std::move(idle_.back());
    idle_.pop_back();
    return helper;
  }

  void give_up(const std::string& path, const Status& status) {
    if (broken_ == path) return;
    broken_ = path;
    log::warn("kernels are compiled by threads of this process, which keep few cores busy: {}", status.message());
  }

  // After a fork the parent's helpers must not be talked to from here.
  void forget_parents_helpers() {
    if (owner_ == ::getpid()) return;
    for (const auto& helper : idle_) helper->forget();
    idle_.clear();
    owner_ = ::getpid();
    active_ = count_ = 0;
    here_ = false;
  }

  std::mutex mutex_;
  std::condition_variable room_;
  pid_t owner_ = ::getpid();
  int active_ = 0;                             // threads that compile or wait to
  int count_ = 0;                              // helpers, busy ones included
  bool here_ = false;                          // a thread compiles in this process
  std::vector<std::unique_ptr<Helper>> idle_;  // while others are busy
  std::string broken_;                         // path of a helper that did not start
};

// WHY never destroyed: threads may compile while the program's static objects go.
Helpers& helpers() {
  static Helpers& all = *new Helpers;
  return all;
}

Message request_of(const std::vector<std::string>& flags, const Source& source, const HeaderSet& headers) {
  Message message = {source.name, source.text, std::to_string(flags.size())};
  message.insert(message.end(), flags.begin(), flags.end());
  for (const Header& header : headers.headers) {
    message.push_back(header.name);
    message.push_back(header.text);
  }
  return message;
}

Result<Product> answer_to(const Message& request) {
  if (request.size() < 3) return failure(Code::kIo, "a request of {} strings", request.size());
  const size_t flag_count = static_cast<size_t>(std::atoll(request[2].c_str()));
  if (flag_count > request.size() - 3 || (request.size() - 3 - flag_count) % 2 != 0)
    return failure(Code::kIo, "a request of {} strings and {} flags", request.size(), flag_count);
  const auto flags_end = request.begin() + 3 + static_cast<std::ptrdiff_t>(flag_count);
  HeaderSet headers;
  for (auto at = flags_end; at != request.end(); at += 2) headers.headers.push_back({at[0], at[1]});
  return nvrtc_build_here({request.begin() + 3, flags_end}, {request[0], request[1], Target{}}, headers);
}

}  // namespace

CompileSlot::CompileSlot(const std::string& library) { helper_ = helpers().acquire(library, alone_); }

CompileSlot::~CompileSlot() { helpers().release(std::move(helper_), alone_, healthy_); }

Result<Product> CompileSlot::build(const std::vector<std::string>& flags, const Source& source,
                                   const HeaderSet& headers) {
  const Result<Message> answer = helper_->ask(request_of(flags, source, headers));
  healthy_ = answer.ok();
  if (!answer.ok()) return answer.status();
  if (answer->size() == 2) return failure(Code::kCompile, "{}", (*answer)[1]);
  if (answer->size() != 3) return failure(Code::kCompile, "{} answered {} strings", kProgram, answer->size());
  return Product{.image = (*answer)[1], .resources = {}, .log = (*answer)[2]};
}

int helpers_started() { return started_ever; }

Status serve_compilations(int socket) {
  WT_TRY(send_message(socket, hello()));
  for (;;) {
    const Result<Message> request = receive_message(socket);
    if (!request.ok()) return {};  // the parent has no more work, or is gone
    Result<Product> product = answer_to(*request);
    const Message answer = product.ok() ? Message{"good", std::move(product->image), std::move(product->log)}
                                        : Message{"refused", product.status().message()};
    if (!send_message(socket, answer).ok()) return {};
  }
}

}  // namespace wt::compile
