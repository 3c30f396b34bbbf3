// SPDX-License-Identifier: Apache-2.0
// tests/scarce_memory.h - a host whose memory runs out at a chosen allocation. One source of a test program includes it
// as it is, and so replaces the program's operator new; others define WT_SCARCE_ELSEWHERE before.
#pragma once

#include <atomic>
#include <cstdlib>
#include <new>

namespace wt::scarce {

inline std::atomic<long> left{-1};  // allocations until one fails; negative: none does
inline std::atomic<bool> for_good{false};

enum class From { kOnce, kThenOn };

// The nth allocation (from 1) of any thread fails while the object lives, or all from the nth on.
class Memory {
 public:
  explicit Memory(long nth, From from = From::kOnce) { for_good = from == From::kThenOn, left = nth; }
  ~Memory() { left = -1; }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  bool ran_out() const { return left <= 0; }
};

inline void* allocate(std::size_t bytes, std::size_t alignment) {
  if ((left > 0 && --left == 0) || (left == 0 && for_good)) throw std::bad_alloc();
  const std::size_t size = (bytes + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, size == 0 ? alignment : size);
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace wt::scarce

#ifndef WT_SCARCE_ELSEWHERE
void* operator new(std::size_t bytes) { return wt::scarce::allocate(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return wt::scarce::allocate(bytes, static_cast<std::size_t>(alignment));
}
// WHY replaced too: a sanitizer's own would not be of one kind with the deletions below.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return ::operator new(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
#endif
