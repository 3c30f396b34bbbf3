// SPDX-License-Identifier: Apache-2.0
#include "base/json_value.h"

#include <mutex>
#include <new>

#include "base/check.h"

namespace wt {
namespace {

// What is taken is given back as a whole, once nobody has any of it: values are destroyed one within another.
struct Reserve {
  std::mutex mutex;
  size_t used = 0, parts = 0;
  alignas(std::max_align_t) std::byte bytes[256 << 10];
};

Reserve& reserve() {
  static Reserve one;
  return one;
}

}  // namespace

void* json_scratch(size_t bytes) noexcept {
  if (void* const memory = ::operator new(bytes, std::nothrow)) return memory;
  Reserve& from = reserve();
  const std::lock_guard lock(from.mutex);
  constexpr size_t kAlignment = alignof(std::max_align_t);
  const size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  WT_CHECK(rounded >= bytes && rounded <= sizeof from.bytes - from.used,
           "the host is out of memory: {} bytes to destroy JSON, of which {} are left", bytes,
           sizeof from.bytes - from.used);
  void* const memory = from.bytes + from.used;
  from.used += rounded, ++from.parts;
  return memory;
}

void json_scratch_free(void* memory) noexcept {
  Reserve& from = reserve();
  if (memory < from.bytes || memory >= from.bytes + sizeof from.bytes) return ::operator delete(memory);
  const std::lock_guard lock(from.mutex);
  if (--from.parts == 0) from.used = 0;
}

}  // namespace wt
