// SPDX-License-Identifier: Apache-2.0
#include "compile/leftovers.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <ctime>

namespace wt::compile {
namespace {

// Fixed places, because a handler can take no lock. What finds none is not looked after.
constexpr int kPlaces = 256;

struct Folder {
  std::atomic<int> state{0};  // 0 free, 1 being written, 2 known
  char path[256];
};

std::array<std::atomic<pid_t>, kPlaces> g_groups{};
std::array<Folder, kPlaces> g_folders{};

std::atomic<int> g_starting{0};
std::atomic<bool> g_ending{false};

constexpr timespec kMillisecond{0, 1'000'000};

// Without fork(), whose own handlers take locks.
void remove_folder_once(const char* path) noexcept {
  const auto child = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
  if (child == 0) {
    ::execl("/bin/rm", "rm", "-rf", "--", path, static_cast<char*>(nullptr));
    ::_exit(127);
  }
  if (child > 0) ::waitpid(child, nullptr, 0);
}

// Again while it is there: another thread, or a compiler that the signal has not ended yet, may have written into it.
void remove_folder(const char* path) noexcept {
  for (int i = 0; i < 100 && ::access(path, F_OK) == 0; ++i) {
    remove_folder_once(path);
    if (::access(path, F_OK) == 0) ::nanosleep(&kMillisecond, nullptr);
  }
}

}  // namespace

void clean_up_in_handler() noexcept {
  g_ending = true;
  for (int i = 0; i < 2000 && g_starting.load() > 0; ++i) ::nanosleep(&kMillisecond, nullptr);
  for (const std::atomic<pid_t>& group : g_groups)
    if (const pid_t leader = group.load(); leader > 0) ::kill(-leader, SIGKILL);
  for (const Folder& folder : g_folders)
    if (folder.state.load() == 2) remove_folder(folder.path);
}

Starting::Starting() {
  sigset_t ending;
  sigemptyset(&ending);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&ending, signal);
  ::pthread_sigmask(SIG_BLOCK, &ending, &before_);
  ++g_starting;
}

Starting::~Starting() {
  --g_starting;
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool Starting::allowed() const { return !g_ending.load(); }

RunningGroup::RunningGroup(pid_t leader) : slot_(-1) {
  for (int i = 0; i < kPlaces && slot_ < 0; ++i) {
    pid_t none = 0;
    if (g_groups[static_cast<size_t>(i)].compare_exchange_strong(none, leader)) slot_ = i;
  }
}

RunningGroup::~RunningGroup() {
  if (slot_ >= 0) g_groups[static_cast<size_t>(slot_)] = 0;
}

KnownFolder::KnownFolder(const std::string& path) : slot_(-1) {
  if (path.size() >= sizeof g_folders[0].path) return;
  for (int i = 0; i < kPlaces && slot_ < 0; ++i) {
    Folder& folder = g_folders[static_cast<size_t>(i)];
    int free = 0;
    if (!folder.state.compare_exchange_strong(free, 1)) continue;
    std::memcpy(folder.path, path.c_str(), path.size() + 1);
    folder.state = 2;
    slot_ = i;
  }
}

KnownFolder::~KnownFolder() {
  if (slot_ >= 0) g_folders[static_cast<size_t>(slot_)].state = 0;
}

}  // namespace wt::compile
