// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/team.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "base/check.h"
#include "base/files.h"
#include "base/format.h"

namespace wt::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr double kSavedEvery = 3, kToldEvery = 30;  // seconds
constexpr double kGrace = 30;                       // for the cases that are under way when time is up
constexpr int kFailures = 20;                       // of one worker: what fails always need not fail all night

volatile std::sig_atomic_t interrupted = 0;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void send(int pipe, const std::string& line) {
  for (size_t at = 0; at < line.size();) {
    const ssize_t written = ::write(pipe, line.data() + at, line.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) ::_exit(0);  // nobody listens
    at += static_cast<size_t>(written);
  }
}

// Lines of a worker: "account WORDS", "told CASES SECONDS" after the accounts of those cases, "failed FILE: REASON".
[[noreturn]] void work(const Worker& worker, const TeamOptions& options, int64_t next, int pipe) {
  const double end = now() + options.seconds;
  const auto told = [&](int64_t cases, double seconds, const std::vector<std::string>& accounts) {
    std::string lines;
    for (const std::string& account : accounts) lines += "account " + account + "\n";
    send(pipe, lines + fmt::format("told {} {:.4f}\n", cases, seconds));
  };
  for (int failures = 0; failures < kFailures && now() < end;) {
    const Tally tally = fuzz(*worker.subject, worker.seed, end - now(), next, told);
    next += tally.cases;
    if (!tally.failure) continue;
    ++failures;
    const Result<fs::path> file = keep_input(options.regressions, *worker.subject, tally.failure->input);
    std::string reason = tally.failure->reason.substr(0, 1500);
    for (char& c : reason)
      if (c == '\n') c = ' ';
    send(pipe,
         fmt::format("failed {} {}: {}\n", worker.seed, file.ok() ? file->string() : file.status().message(), reason));
  }
  ::_exit(0);
}

struct Member {
  Worker worker;
  pid_t process = -1;
  int pipe = -1;
  std::string text;                   // of a line that has not ended
  std::vector<std::string> accounts;  // of cases that are not counted yet
};

// WHY the same for all: these words decide how fast and how evenly the processes get on beside each other.
void settle_in(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  ::setenv("TMPDIR", folder.c_str(), 1);
  // Each has its own cache, since users of one wait for each other's compilers.
  ::setenv("WAVETILE_CACHE_DIR", (folder / "cache").c_str(), 1);
  ::setenv("WAVETILE_THREADS", "1", 1);
}

Member start(const Worker& worker, const TeamOptions& options, size_t index, const Record& record,
             const std::vector<Member>& others) {
  int ends[2];
  WT_CHECK(::pipe(ends) == 0, "no pipe");
  std::fflush(stdout);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  WT_CHECK(child >= 0, "fork failed");
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(0);
    std::signal(SIGINT, SIG_IGN);
    std::signal(SIGTERM, SIG_DFL);
    ::close(ends[0]);
    for (const Member& other : others) ::close(other.pipe);
    settle_in(options.scratch / fmt::format("worker{}", index));
    work(worker, options, record.next(worker.subject->name(), worker.seed), ends[1]);
  }
  ::close(ends[1]);
  return {worker, child, ends[0], "", {}};
}

// What a worker said; how many cases failed.
int take_line(Member& member, const std::string& line, Record& record) {
  std::istringstream words(line);
  std::string what;
  words >> what;
  const std::string subject = member.worker.subject->name();
  if (what == "account") {
    member.accounts.push_back(line.substr(what.size() + 1));
  } else if (what == "told") {
    int64_t cases = 0;
    double seconds = 0;
    words >> cases >> seconds;
    record.add(subject, member.worker.seed, cases, seconds, member.accounts);
    member.accounts.clear();
  } else if (what == "failed") {
    record.add_failure(subject, member.worker.seed);
    fmt::print("FAILED {}, seed {}\n", subject, line.substr(what.size() + 1));
    std::fflush(stdout);
    return 1;
  }
  return 0;
}

// False where the worker has ended.
bool listen(Member& member, Record& record, int& failed) {
  char bytes[65536];
  const ssize_t size = ::read(member.pipe, bytes, sizeof bytes);
  if (size < 0 && errno == EINTR) return true;
  if (size <= 0) return false;
  member.text.append(bytes, static_cast<size_t>(size));
  size_t begin = 0;
  for (size_t end; (end = member.text.find('\n', begin)) != std::string::npos; begin = end + 1)
    failed += take_line(member, member.text.substr(begin, end - begin), record);
  member.text.erase(0, begin);
  return true;
}

// 0 where it ended as it should.
int bury(Member& member) {
  ::close(member.pipe);
  member.pipe = -1;
  int state = 0;
  ::waitpid(member.process, &state, 0);
  if (WIFEXITED(state) && WEXITSTATUS(state) == 0) return 0;
  fmt::print("the worker of {} with seed {} ended with {} {}\n", member.worker.subject->name(), member.worker.seed,
             WIFSIGNALED(state) ? "signal" : "code", WIFSIGNALED(state) ? WTERMSIG(state) : WEXITSTATUS(state));
  return 1;
}

}  // namespace

Result<Scratch> Scratch::make() {
  constexpr std::string_view kName = "wavetile_fuzz_team.";
  // WHY memory: a compiled kernel is written durably, and waiting for a disk is what many processes would do most.
  const fs::path memory = "/dev/shm";
  std::error_code error;
  const fs::space_info space = fs::space(memory, error);
  const bool roomy = !error && space.available > uint64_t{4} << 30 && ::access(memory.c_str(), W_OK) == 0;
  const fs::path parent = roomy ? memory : fs::temp_directory_path();
  for (const auto& item : fs::directory_iterator(parent, fs::directory_options::skip_permission_denied, error)) {
    const std::string name = item.path().filename().string();
    if (!name.starts_with(kName)) continue;
    const pid_t owner = std::atoi(name.c_str() + kName.size());
    if (owner > 0 && ::kill(owner, 0) != 0 && errno == ESRCH) fs::remove_all(item.path(), error);
  }
  const fs::path folder = parent / fmt::format("{}{}", kName, ::getpid());
  if (!fs::create_directory(folder, error)) return failure(Code::kIo, "the folder {} cannot be made", folder.string());
  fs::permissions(folder, fs::perms::owner_all, error);
  return Scratch(folder);
}

Scratch::~Scratch() {
  std::error_code error;
  if (!folder_.empty()) fs::remove_all(folder_, error);
}

Result<fs::path> keep_input(const fs::path& folder, const Subject& subject, const std::string& input) {
  uint64_t hash = 0;
  for (const char c : input) hash = mix64(hash ^ static_cast<unsigned char>(c));
  const fs::path file = folder / fmt::format("{}-{:016x}", subject.name(), hash);
  WT_TRY(write_file(file, input));
  return file;
}

int run_team(const std::vector<Worker>& workers, const TeamOptions& options, Record& record) {
  interrupted = 0;
  const auto noted = [](int) { interrupted = 1; };
  struct sigaction action {
  }, old_interrupt{}, old_end{};
  action.sa_handler = noted;
  ::sigaction(SIGINT, &action, &old_interrupt);
  ::sigaction(SIGTERM, &action, &old_end);
  std::vector<Member> team;
  for (size_t i = 0; i < workers.size(); ++i) team.push_back(start(workers[i], options, i, record, team));
  const double begun = now();
  double saved = begun, told = begun;
  int failed = 0, broken = 0;
  bool stopped = false;
  const auto save = [&] {
    saved = now();
    if (const Status status = record.save(); !status.ok()) fmt::print(stderr, "fuzz: {}\n", status.message());
  };
  while (true) {
    std::vector<pollfd> pipes;
    std::vector<Member*> there;
    for (Member& member : team) {
      if (member.pipe < 0) continue;
      pipes.push_back({member.pipe, POLLIN, 0});
      there.push_back(&member);
    }
    if (pipes.empty()) break;
    if (!stopped && (interrupted || now() > begun + options.seconds + kGrace)) {
      stopped = true;
      for (const Member* member : there) ::kill(member->process, SIGKILL);
    }
    if (::poll(pipes.data(), pipes.size(), 1000) > 0) {
      for (size_t i = 0; i < pipes.size(); ++i)
        if (pipes[i].revents && !listen(*there[i], record, failed)) broken += bury(*there[i]) && !stopped;
    }
    if (now() - saved > kSavedEvery) save();
    if (now() - told > kToldEvery) {
      told = now();
      fmt::print("{:.0f} s: {}\n", told - begun, record.summary());
      std::fflush(stdout);
    }
  }
  save();
  ::sigaction(SIGINT, &old_interrupt, nullptr);
  ::sigaction(SIGTERM, &old_end, nullptr);
  return broken > 0 ? -1 : failed;
}

}  // namespace wt::fuzz
