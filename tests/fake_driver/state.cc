// SPDX-License-Identifier: Apache-2.0
// tests/fake_driver/state.cc - recorded calls, planted faults and emulated time.
#include "tests/fake_driver/state.h"

#include <elf.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

namespace wt::fake {

std::recursive_mutex mutex;
State state;

std::vector<int>& context_stack() {
  static thread_local std::vector<int> stack;
  return stack;
}
int& current_device() {
  static thread_local int device = 0;
  return device;
}
int& capture_mode() {
  static thread_local int mode = 0;
  return mode;
}

void read_environment() {
  if (const char* architecture = std::getenv("WAVETILE_FAKE_ARCHITECTURE")) state.architecture = architecture;
  // The nth kernel that is launched faults, as fake_fault_kernel has it: "700@3".
  if (const char* kernel = std::getenv("WAVETILE_FAKE_KERNEL_FAULT")) {
    state.fault_code = std::atoi(kernel);
    if (const char* at = std::strchr(kernel, '@')) state.fault_after = std::atoi(at + 1);
  }
  const char* faults = std::getenv("WAVETILE_FAKE_FAIL");
  for (std::string rest = faults ? faults : ""; !rest.empty();) {
    const size_t comma = rest.find(',');
    const std::string item = rest.substr(0, comma);
    rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
    const size_t equals = item.find('=');
    if (equals == std::string::npos) continue;
    const size_t at = item.find('@', equals);
    const int nth = at == std::string::npos ? 0 : std::atoi(item.c_str() + at + 1);
    state.faults[item.substr(0, equals)] = {std::atoi(item.c_str() + equals + 1), nth};
  }
}

int enter(const char* call) {
  static const bool read = (read_environment(), true);
  static const char* log_path = std::getenv("WAVETILE_FAKE_LOG");
  (void)read;
  ++state.calls[call];
  state.log += call;
  state.log += '\n';
  const std::string_view name = call;
  const bool bookkeeping = name.starts_with("cuCtx") || name == "hipGetDevice" || name == "hipSetDevice";
  if (!bookkeeping) state.host_us += state.call_us;  // those cost next to nothing
  if (log_path) {
    if (FILE* file = std::fopen(log_path, "a")) {
      std::fprintf(file, "%s\n", call);
      std::fclose(file);
    }
  }
  auto it = state.faults.find(call);
  if (it == state.faults.end()) return 0;
  if (it->second.nth == 0) return it->second.code;
  if (--it->second.nth > 0) return 0;
  const int code = it->second.code;
  state.faults.erase(it);
  return code;
}

int synchronize() {
  state.host_us = std::max(state.host_us, state.device_us);
  if (state.pending_fault) state.sticky = std::exchange(state.pending_fault, 0);
  return state.sticky;
}

double jittered(double microseconds) {
  state.jitter_state = state.jitter_state * 1664525u + 1013904223u;
  const double uniform = static_cast<double>(state.jitter_state >> 8) / (1 << 24);
  return microseconds * (1 + state.jitter * (2 * uniform - 1));
}

FakeStream* stream_of(void* handle) {
  if (!handle) return &state.default_stream;
  auto* stream = static_cast<FakeStream*>(handle);
  return state.streams.count(stream) ? stream : nullptr;
}

void run_on_device(double microseconds) { state.device_us = std::max(state.device_us, state.host_us) + microseconds; }

int submit(void* handle, double microseconds) {
  FakeStream* stream = stream_of(handle);
  if (!stream) return kInvalidHandle;
  if (stream->capturing)
    stream->graph.work.push_back({microseconds});
  else
    run_on_device(microseconds);
  return kSuccess;
}

bool anything_captures() {
  return std::any_of(state.streams.begin(), state.streams.end(), [](FakeStream* s) { return s->capturing; });
}

int forbid_in_capture() {
  if (!anything_captures() || capture_mode() == kCaptureRelaxed) return kSuccess;
  for (FakeStream* stream : state.streams)
    if (stream->capturing) stream->invalidated = true;
  return kStreamCaptureUnsupported;
}

size_t live_bytes() {
  size_t sum = 0;
  for (const auto& [memory, bytes] : state.allocations) sum += bytes;
  return sum;
}

bool allocated(const void* address, size_t bytes) {
  auto* memory = static_cast<unsigned char*>(const_cast<void*>(address));
  auto it = state.allocations.upper_bound(memory);
  if (it == state.allocations.begin()) return false;
  --it;
  return memory + bytes <= it->first + it->second;
}

std::string image_of(const void* image) {
  const auto* bytes = static_cast<const char*>(image);
  if (std::memcmp(bytes, ELFMAG, SELFMAG) != 0) return bytes;
  Elf64_Ehdr header;
  std::memcpy(&header, bytes, sizeof header);
  return std::string(bytes, header.e_shoff + size_t{header.e_shnum} * header.e_shentsize);
}

}  // namespace wt::fake
