// SPDX-License-Identifier: Apache-2.0
#include "compile/flights.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "base/fork_gate.h"
#include "base/parallel.h"
#include "compile/toolchain.h"

namespace wt::compile {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kFirstKeyByte = int64_t{1} << 40;  // above slots and kUsageByte

struct Flight {
  bool landed = false;
  Result<Module> result = Status();
};

struct Shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, std::shared_ptr<Flight>> flights;
  int seated = 0;
  std::set<int> lock_files;
};

// A child has none of the threads whose flights and seats are here, and must not keep the locks of its parent: it gets
// a new one, whatever state the other is in. So these waits need not hold up a fork.
Shared*& shared_pointer() {
  static Shared* pointer = new Shared;
  return pointer;
}

void forget_the_parents() {
  for (const int file : shared_pointer()->lock_files) ::close(file);
  static Shared* old = nullptr;
  old = shared_pointer();  // still known, so that a leak checker can tell
  (void)old;
  shared_pointer() = new Shared;
}

Shared& shared() {
  static const bool registered = (ForkGate::in_child(forget_the_parents), true);
  (void)registered;
  return *shared_pointer();
}

int open_lock_file(const std::filesystem::path& path) {
  if (path.empty()) return -1;
  // WHY under the mutex: a child that is forked in between would keep a lock that nobody can end.
  const std::lock_guard lock(shared().mutex);
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  try {
    if (file >= 0) shared().lock_files.insert(file);
  } catch (...) {
    ::close(file);
    throw;
  }
  return file;
}

bool set_lock(int file, int64_t byte, short type) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = byte;
  range.l_len = 1;
  // WHY F_OFD: the older locks belong to the process, and threads would not exclude each other.
  return ::fcntl(file, F_OFD_SETLK, &range) == 0;
}

int64_t byte_of(const std::string& key) {
  const uint64_t number = std::strtoull(key.substr(0, 15).c_str(), nullptr, 16);
  return kFirstKeyByte + static_cast<int64_t>(number);
}

}  // namespace

std::filesystem::path lock_file(const std::filesystem::path& root) {
  return root.empty() ? std::filesystem::path() : root / "lock";
}

ByteLock::ByteLock(const std::filesystem::path& file, int64_t first, int64_t count, double seconds)
    : file_(open_lock_file(file)) {
  if (file_ < 0) return;
  const auto limit = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  const Clock::time_point deadline = Clock::now() + limit;
  const ForkGate::Away away;
  for (auto pause = std::chrono::milliseconds(1);; pause = std::min(2 * pause, std::chrono::milliseconds(50))) {
    for (int64_t byte = first; byte < first + count; ++byte) {
      if (set_lock(file_, byte, F_WRLCK)) {
        byte_ = byte;
        return;
      }
      if (errno != EAGAIN && errno != EACCES) return;  // a file system without locks
    }
    if (Clock::now() >= deadline) return;
    std::this_thread::sleep_for(pause);
  }
}

ByteLock::~ByteLock() {
  if (file_ < 0) return;
  // WHY not by closing alone: a child that was forked meanwhile has the file open too.
  if (byte_ >= 0) set_lock(file_, byte_, F_UNLCK);
  const std::lock_guard lock(shared().mutex);
  if (shared().lock_files.erase(file_) > 0) ::close(file_);
}

Result<Module> one_flight(const std::string& key, const std::function<Result<Module>()>& compile) {
  std::shared_ptr<Flight> flight;
  {
    const ForkGate::Away away;
    std::unique_lock lock(shared().mutex);
    std::shared_ptr<Flight>& known = shared().flights[key];
    if (known) {
      flight = known;
      shared().changed.wait(lock, [&] { return flight->landed; });
      return flight->result;
    }
    flight = known = std::make_shared<Flight>();
  }
  // Also where memory runs out: those who wait must not wait for ever.
  struct Landing {
    const std::string& key;
    Flight& flight;
    Result<Module> result = failure(Code::kCompile, "the compilation in another thread ended with an exception");
    ~Landing() {
      const std::lock_guard lock(shared().mutex);
      flight.result = std::move(result);
      flight.landed = true;
      shared().flights.erase(key);
      shared().changed.notify_all();
    }
  } landing{key, *flight};
  Result<Module> result = compile();
  landing.result = result;
  return result;
}

Turn::Turn(const std::filesystem::path& root, const std::string& key)
    : lock_(lock_file(root), byte_of(key), 1, compile_timeout_seconds()) {}

Slot::Seat::Seat() {
  const ForkGate::Away away;
  std::unique_lock lock(shared().mutex);
  shared().changed.wait(lock, [] { return shared().seated < hardware_threads(); });
  ++shared().seated;
}

Slot::Seat::~Seat() {
  const std::lock_guard lock(shared().mutex);
  --shared().seated;
  shared().changed.notify_all();
}

Slot::Slot(const std::filesystem::path& root)
    : lock_(lock_file(root), 0, hardware_threads(), compile_timeout_seconds()) {}

Slot::~Slot() = default;

}  // namespace wt::compile
