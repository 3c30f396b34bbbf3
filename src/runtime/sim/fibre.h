// SPDX-License-Identifier: Apache-2.0
// runtime/sim/fibre.h - one stack of its own for each simulated thread, and the switch between them.
//
// The switch is some twenty instructions of assembly on x86-64 and aarch64 and swapcontext elsewhere (or with
// WAVETILE_SIM_UCONTEXT, to test that path). AddressSanitizer is told of every switch.
#pragma once

#include <cstddef>
#include <cstdint>

#if !defined(__x86_64__) && !defined(__aarch64__) && !defined(WAVETILE_SIM_UCONTEXT)
#define WAVETILE_SIM_UCONTEXT 1
#endif
#if defined(WAVETILE_SIM_UCONTEXT)
#include <ucontext.h>
#endif

namespace wt::sim {

struct Fibre {
#if defined(WAVETILE_SIM_UCONTEXT)
  ucontext_t context;
#else
  void* stack_pointer = nullptr;
#endif
  // For AddressSanitizer.
  void* fake_stack = nullptr;
  const void* stack_low = nullptr;
  size_t stack_bytes = 0;
};

// A fibre that starts in `entry` (which never returns) on the stack [low, low + bytes). `colour` shifts the stack's top
// so that the hot frames of many threads do not share cache sets.
void make_fibre(Fibre& fibre, char* low, size_t bytes, unsigned colour, void (*entry)());

// Saves the running fibre in `from` and resumes `to`. `last`: `from` will never run again.
void switch_fibre(Fibre& from, Fibre& to, bool last = false);

// To be called first on a new fibre; `from` learns the bounds of the stack it was switched from.
void begin_fibre(Fibre& from);

// Stacks with a guard page below each, in one mapping that grows and is reused from block to block.
class Stacks {
 public:
  Stacks() = default;
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;
  ~Stacks();

  bool reserve(int count);  // false: no memory
  char* low(int index) const { return memory_ + static_cast<size_t>(index) * kStride + kGuard; }
  bool is_guard(uintptr_t address) const;
  void forget_poison() const;  // AddressSanitizer's marks of frames that were left without returning

  static constexpr size_t kGuard = 4096;
#if defined(__SANITIZE_ADDRESS__)
  static constexpr size_t kBytes = 252 * 1024;
#else
  static constexpr size_t kBytes = 60 * 1024;
#endif
  static constexpr size_t kStride = kBytes + kGuard;

 private:
  char* memory_ = nullptr;
  int count_ = 0;
};

}  // namespace wt::sim
