// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/sound_thread.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "base/fork_gate.h"

namespace wt::cpu {
namespace {

// A thread that does what the forked thread hands to it, for as long as the process lives.
class Substitute {
 public:
  Substitute() {
    std::thread([this] { serve(); }).detach();
  }

  void run(const std::function<void()>& body) {
    std::unique_lock lock(mutex_);
    body_ = &body;
    changed_.notify_all();
    changed_.wait(lock, [&] { return body_ == nullptr; });
    if (std::exception_ptr thrown = std::exchange(thrown_, nullptr)) std::rethrow_exception(thrown);
  }

 private:
  void serve() {
    for (std::unique_lock lock(mutex_);;) {
      changed_.wait(lock, [&] { return body_ != nullptr; });
      lock.unlock();
      try {
        (*body_)();
      } catch (...) {
        thrown_ = std::current_exception();
      }
      lock.lock();
      body_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* body_ = nullptr;
  std::exception_ptr thrown_;
};

}  // namespace

void on_sound_thread(const std::function<void()>& body) {
  const int forks = ForkGate::forks_of_this_thread();
  if (forks == 0) return body();
  // Only one thread of a process came through its fork. It may fork again; the substitute is then gone too.
  static Substitute* substitute = nullptr;
  static int made_after = 0;
  if (made_after != forks) {
    substitute = new Substitute;
    made_after = forks;
  }
  substitute->run(body);
}

}  // namespace wt::cpu
