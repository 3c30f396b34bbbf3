// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/memory.h"

#include <sys/mman.h>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

#include <algorithm>
#include <cstring>

namespace wt::sim {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kAlignment = 256;  // of a buffer's start, as device allocators give

}  // namespace

GlobalMemory::~GlobalMemory() {
  for (const auto& [low, buffer] : buffers_) munmap(buffer.mapping, buffer.mapping_bytes);
}

Result<void*> GlobalMemory::allocate(size_t bytes) {
  const size_t size = std::max<size_t>(bytes, 1);
  std::lock_guard lock(mutex_);
  if (size > capacity_ - used_) {
    return failure(Code::kDevice, "the simulated device has {} bytes of memory, {} are in use, {} were asked for",
                   capacity_, used_, size);
  }
  // The end touches the guard page as closely as the start's alignment lets it.
  const size_t body = (size + kAlignment - 1) / kAlignment * kAlignment;
  const size_t pages = (body + kPage - 1) / kPage * kPage;
  void* mapped = mmap(nullptr, pages + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED || mprotect(static_cast<char*>(mapped) + kPage, pages, PROT_READ | PROT_WRITE) != 0) {
    if (mapped != MAP_FAILED) munmap(mapped, pages + 2 * kPage);
    return failure(Code::kDevice, "no memory on this machine for a simulated buffer of {} bytes: {}", size,
                   std::strerror(errno));
  }
  char* const mapping = static_cast<char*>(mapped);
  char* const start = mapping + kPage + pages - body;
#if defined(__SANITIZE_ADDRESS__)
  // WHY: a stack of fibres may have been unmapped here before, and its shadow is still that of a stack.
  __asan_unpoison_memory_region(mapping, pages + 2 * kPage);
#endif
  std::memset(start, 0xff, body);
  const auto low = reinterpret_cast<uintptr_t>(start);
  buffers_[low] = {low, low + size, mapping, pages + 2 * kPage, std::make_shared<Watch>(size)};
  used_ += size;
  return static_cast<void*>(start);
}

Status GlobalMemory::free(void* memory) {
  if (!memory) return {};
  std::lock_guard lock(mutex_);
  const auto found = buffers_.find(reinterpret_cast<uintptr_t>(memory));
  if (found == buffers_.end())
    return bad_input("free of {}, which is not the start of a buffer of this device", memory);
  used_ -= found->second.high - found->second.low;
  munmap(found->second.mapping, found->second.mapping_bytes);
  buffers_.erase(found);
  return {};
}

Status GlobalMemory::check(const void* address, size_t bytes, const char* what) const {
  const std::vector<Buffer> buffers = snapshot();
  const auto low = reinterpret_cast<uintptr_t>(address);
  for (const Buffer& buffer : buffers) {
    if (low >= buffer.low && low <= buffer.high && bytes <= buffer.high - low) return {};
  }
  return bad_input("{}: {} bytes at {} are not inside a buffer of this device ({})", what, bytes, address,
                   describe_address(buffers, low + (bytes ? bytes - 1 : 0)));
}

std::vector<Buffer> GlobalMemory::snapshot() const {
  std::lock_guard lock(mutex_);
  std::vector<Buffer> buffers;
  buffers.reserve(buffers_.size());
  for (const auto& [low, buffer] : buffers_) buffers.push_back(buffer);
  return buffers;
}

void GlobalMemory::forget_writers() {
  std::lock_guard lock(mutex_);
  for (auto& [low, buffer] : buffers_) buffer.watch->forget();
}

std::string describe_address(const std::vector<Buffer>& buffers, uintptr_t address) {
  constexpr uintptr_t kNear = 1 << 20;
  const Buffer* nearest = nullptr;
  uintptr_t distance = kNear;
  for (const Buffer& buffer : buffers) {
    if (address >= buffer.low && address < buffer.high) {
      return fmt::format("inside a buffer of {} bytes, {} before its end", buffer.high - buffer.low,
                         buffer.high - address);
    }
    const uintptr_t away = address < buffer.low ? buffer.low - address : address - buffer.high;
    if (away < distance) {
      distance = away;
      nearest = &buffer;
    }
  }
  if (!nearest) return "no buffer is near";
  return fmt::format("{} bytes {} a buffer of {} bytes", distance,
                     address < nearest->low ? "before" : "past the end of", nearest->high - nearest->low);
}

}  // namespace wt::sim
