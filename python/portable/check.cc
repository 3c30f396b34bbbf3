// SPDX-License-Identifier: Apache-2.0
// python/portable/check.cc - a program that needs everything of glibc.c; scripts/portable_wheel.py links and runs it
// before it links the package the same way. Its exit code says what is wrong.
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

const std::string constructed = "before main";  // run by the C library's start, which differs by version

[[gnu::noinline]] void fail(int depth) {
  const std::string held(40, 'x');  // destroyed on the way
  if (depth == 0) throw std::out_of_range("thrown");
  fail(depth - 1);
}

// The unwinder: _dl_find_object.
bool catches() {
  try {
    fail(3);
  } catch (const std::exception& error) {
    return error.what() == std::string("thrown");
  }
  return false;
}

// pthread_cond_clockwait: ends at its time, and before it where it is called.
bool waits() {
  using namespace std::chrono_literals;
  std::mutex mutex;
  std::condition_variable changed;
  std::unique_lock lock(mutex);
  const auto begin = std::chrono::steady_clock::now();
  if (changed.wait_until(lock, begin + 30ms, [] { return false; })) return false;
  if (std::chrono::steady_clock::now() - begin < 30ms) return false;
  bool ready = false;
  std::thread other([&] {
    const std::lock_guard hold(mutex);
    ready = true;
    changed.notify_one();
  });
  const bool woken = changed.wait_until(lock, std::chrono::steady_clock::now() + 60s, [&] { return ready; });
  lock.unlock();
  other.join();
  return woken && std::chrono::steady_clock::now() - begin < 50s;
}

// arc4random.
bool differs() {
  std::random_device device;
  std::set<unsigned> seen;
  for (int i = 0; i < 64; ++i) seen.insert(device());
  return seen.size() > 60;
}

}  // namespace

int main() {
  if (constructed != "before main") return 1;
  if (!catches()) return 2;
  if (!waits()) return 3;
  return differs() ? 0 : 4;
}
