// SPDX-License-Identifier: Apache-2.0
// runtime/sim/memory.h - a simulated device's global memory: every buffer ends at a guard page and is known by address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/status.h"
#include "runtime/sim/watch.h"

namespace wt::sim {

struct Buffer {
  uintptr_t low = 0, high = 0;  // the bytes that were asked for
  char* mapping = nullptr;
  size_t mapping_bytes = 0;
  std::shared_ptr<Watch> watch;
};

class GlobalMemory {
 public:
  explicit GlobalMemory(size_t capacity) : capacity_(capacity) {}
  GlobalMemory(const GlobalMemory&) = delete;
  GlobalMemory& operator=(const GlobalMemory&) = delete;
  ~GlobalMemory();

  // New memory is filled with 0xff: NaN in every float format, so that a read of something never written shows.
  Result<void*> allocate(size_t bytes);
  Status free(void* memory);
  // [address, address + bytes) lies inside one buffer; the failure says which buffer is near.
  Status check(const void* address, size_t bytes, const char* what) const;

  // What a launch looks addresses up in; it holds still while kernels run, because free waits for no kernel but a
  // caller must not free what a kernel uses.
  std::vector<Buffer> snapshot() const;
  void forget_writers();  // in every buffer

 private:
  mutable std::mutex mutex_;
  std::map<uintptr_t, Buffer> buffers_;  // by low
  size_t capacity_ = 0;
  size_t used_ = 0;
};

// "24 bytes past the end of a 4096-byte buffer", or that none is near.
std::string describe_address(const std::vector<Buffer>& buffers, uintptr_t address);

}  // namespace wt::sim
