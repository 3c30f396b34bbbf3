// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/fuzzer.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "base/check.h"
#include "base/format.h"

namespace wt::fuzz {
namespace {

constexpr int kWrong = 3;        // exit code of a child that found something wrong
constexpr int64_t kBatch = 500;  // cases per child: a fork each would cost more than the cases
constexpr size_t kAccount = 201;
constexpr double kToldEvery = 2;  // seconds
constexpr double kSlow = 0.2;     // of a subject's patience: worth a line

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// 0 where the clock's process has ended.
double processor_seconds(clockid_t clock) {
  timespec time{};
  if (::clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// WHY not mix64(seed) ^ mix64(index): then seed 1 and seed 3 would share cases.
Random random_of(uint64_t seed, int64_t index) { return Random(mix64(mix64(seed) + static_cast<uint64_t>(index))); }

// Whether a child goes on: by its own processor time, since a busy machine may give it little, and by thirty times as
// much of the clock's, since a child that waits for ever uses none.
class Patience {
 public:
  Patience(pid_t child, double seconds) : child_(child), seconds_(seconds) { moved(); }
  void moved() { clock_ = now(), processor_ = processor(); }
  bool lasts() const { return processor() - processor_ < seconds_ && now() - clock_ < 30 * seconds_; }

 private:
  double processor() const {
    clockid_t clock;
    return ::clock_getcpuclockid(child_, &clock) == 0 ? processor_seconds(clock) : processor_;
  }

  pid_t child_;
  double seconds_, clock_ = 0, processor_ = 0;
};

// What a child shares with its parent.
struct Shared {
  std::atomic<int64_t> index{0};  // of the case at hand
  char reason[2048] = "";
  char accounts[kBatch][kAccount] = {};
};

class SharedMemory {
 public:
  SharedMemory() {
    void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    WT_CHECK(memory != MAP_FAILED, "mmap failed");
    shared_ = new (memory) Shared;
  }
  ~SharedMemory() { ::munmap(shared_, sizeof(Shared)); }
  Shared* operator->() const { return shared_; }

 private:
  Shared* shared_;
};

// A child, which ends with its parent, however that one ends.
pid_t fork_child() {
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  WT_CHECK(child >= 0, "fork failed");
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(0);
  }
  return child;
}

void keep_reason(Shared& shared, const std::string& reason) {
  const size_t length = std::min(reason.size(), sizeof shared.reason - 1);
  std::copy_n(reason.data(), length, shared.reason);
  shared.reason[length] = 0;
}

// Waits for the child; why it did not end well, if it did not. `alive` says whether it still gets on.
template <class Alive>
std::optional<std::string> wait_for(pid_t child, const SharedMemory& shared, const Alive& alive) {
  for (;;) {
    int state = 0;
    const pid_t ended = ::waitpid(child, &state, WNOHANG);
    WT_CHECK(ended >= 0, "waitpid failed");
    if (ended == 0) {
      if (!alive()) {
        ::kill(child, SIGKILL);
        ::waitpid(child, &state, 0);
        return "no answer";
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      continue;
    }
    if (WIFSIGNALED(state)) return "signal " + std::to_string(WTERMSIG(state));
    const int code = WEXITSTATUS(state);
    if (code == kWrong) return std::string(shared->reason);
    if (code != 0) return "exit code " + std::to_string(code) + " (a sanitizer's report, or an exception)";
    return std::nullopt;
  }
}

}  // namespace

std::optional<std::string> judge(const Subject& subject, const std::string& input) {
  const SharedMemory shared;
  const pid_t child = fork_child();
  if (child == 0) {
    const std::string reason = subject.run(input);
    keep_reason(*shared.operator->(), reason);
    ::_exit(reason.empty() ? 0 : kWrong);
  }
  const Patience patience(child, subject.patience());
  return wait_for(child, shared, [&] { return patience.lasts(); });
}

// The cases of `seed` from `first` up to `last`, in a child, until `end`.
[[noreturn]] static void run_batch(const Subject& subject, uint64_t seed, int64_t first, int64_t last, double end,
                                   Shared& shared) {
  for (int64_t i = first; i < last && (i == first || now() < end); ++i) {
    Random random = random_of(seed, i);
    const double before = processor_seconds(CLOCK_PROCESS_CPUTIME_ID);
    const std::string reason = subject.run(subject.generate(random));
    const double took = processor_seconds(CLOCK_PROCESS_CPUTIME_ID) - before;
    if (took > kSlow * subject.patience())
      fmt::print(stderr, "slow: case {} of {} with seed {} took {:.1f} s\n", i, subject.name(), seed, took);
    if (!reason.empty()) {
      keep_reason(shared, reason);
      ::_exit(kWrong);
    }
    subject.account().copy(shared.accounts[i - first], kAccount - 1);
    shared.index = i + 1;
  }
  ::_exit(0);
}

Tally fuzz(const Subject& subject, uint64_t seed, double seconds, int64_t from, const Told& told, int64_t to) {
  Tally tally;
  const double start = now();
  while (now() - start < seconds && !tally.failure && from + tally.cases < to) {
    const SharedMemory shared;
    const int64_t first = from + tally.cases, batch = std::min(kBatch, to - first);
    const double begun = now(), end = std::min(start + seconds, begun + subject.batch_seconds());
    shared->index = first;
    const pid_t child = fork_child();
    if (child == 0) run_batch(subject, seed, first, first + batch, end, *shared.operator->());
    // What is done is told while the child goes on, so that little is lost where this process is killed.
    int64_t counted = first;
    double counted_at = begun;
    const auto count = [&](int64_t next) {
      std::vector<std::string> accounts;
      for (int64_t i = counted; i < std::min(next, first + kBatch); ++i)
        if (shared->accounts[i - first][0] != 0) accounts.emplace_back(shared->accounts[i - first]);
      if (told && next > counted) told(next - counted, now() - counted_at, accounts);
      counted = next, counted_at = now();
    };
    int64_t last = -1;
    Patience patience(child, subject.patience());
    const auto alive = [&] {
      if (shared->index != last) last = shared->index, patience.moved();
      if (now() - counted_at > kToldEvery) count(last);
      return patience.lasts();
    };
    const std::optional<std::string> reason = wait_for(child, shared, alive);
    if (reason) {
      Random random = random_of(seed, shared->index);
      tally.failure = Failure{subject.generate(random), *reason};
    }
    count(shared->index + (reason ? 1 : 0));
    tally.cases = counted - from;
  }
  tally.seconds = now() - start;
  return tally;
}

Failure shrink(const Subject& subject, const Failure& failure) {
  Failure best = failure;
  const double start = now();
  const auto try_input = [&](const std::string& input) {
    if (input == best.input || now() - start > 60) return false;
    const std::optional<std::string> reason = judge(subject, input);
    if (!reason) return false;
    best = {input, *reason};
    return true;
  };
  // Ever smaller pieces are taken out, as long as it helps.
  for (size_t piece = std::max<size_t>(1, best.input.size() / 2); piece > 0; piece /= 2) {
    for (size_t at = 0; at < best.input.size();) {
      std::string smaller = best.input;
      smaller.erase(at, piece);
      if (!try_input(smaller)) at += piece;
    }
  }
  // Then plain bytes take the place of others.
  for (size_t at = 0; at < best.input.size() && best.input.size() < 2048; ++at) {
    for (const char plain : {'0', '1', 'a', ' '}) {
      std::string simpler = best.input;
      if (simpler[at] == plain) break;
      simpler[at] = plain;
      if (try_input(simpler)) break;
    }
  }
  return best;
}

std::string mutate(Random& random, std::string input) {
  const int64_t changes = random.chance(0.3) ? random.between(4, 40) : random.between(1, 4);
  for (int64_t i = 0; i < changes && !input.empty(); ++i) {
    const auto at = static_cast<size_t>(random.between(0, static_cast<int64_t>(input.size()) - 1));
    const auto length = static_cast<size_t>(random.between(1, random.chance(0.2) ? 64 : 4));
    switch (random.between(0, 6)) {
      case 0:
        input[at] = static_cast<char>(random.between(0, 255));
        break;
      case 1:
        input[at] = static_cast<char>(input[at] ^ (1 << random.between(0, 7)));
        break;
      case 2:
        input.erase(at, length);
        break;
      case 3:
        input.insert(at, input.substr(at, length));
        break;
      case 4:
        input.insert(
            at, random.pick({"0", "-1", "9223372036854775807", "1e999", "x", "\"", "{", "}", "[", "null", "\xff"}));
        break;
      case 5:
        std::swap(input[at], input[static_cast<size_t>(random.between(0, static_cast<int64_t>(input.size()) - 1))]);
        break;
      default:
        if (random.chance(0.2)) input.resize(at);
    }
  }
  return input;
}

}  // namespace wt::fuzz
